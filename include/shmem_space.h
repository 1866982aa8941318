/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_space.h - symmetric memory in spaces: host memory and device memory.
 *
 * The names of three drafts: the implicit spaces of a GPU-aware OpenSHMEM, the
 * committee's spaces that the environment or the program creates, and (in
 * shmemg.h) the auxiliary specification for GPUs.  shmem_space(7) lists the
 * names of each. */
#ifndef SHMEM_SPACE_H
#define SHMEM_SPACE_H

#include "shmem.h"

/* A space; a NULL handle is no space. */
struct shmem_space_s { int opaque; };
typedef struct shmem_space_s *shmem_space_t;
#define SHMEM_SPACE_INVALID ((shmem_space_t)0)

enum shmemi_space { SHMEMI_SPACE_DEFAULT, SHMEMI_SPACE_CPU, SHMEMI_SPACE_GPU };
/* The space in which shmem_malloc allocates; the host heap; the device heap.
 * INVALID if this job has no such space. */
#define SHMEM_SPACE_DEFAULT (shmemx_space_predefined(SHMEMI_SPACE_DEFAULT))
#define SHMEM_SPACE_CPU     (shmemx_space_predefined(SHMEMI_SPACE_CPU))
#define SHMEM_SPACE_GPU     (shmemx_space_predefined(SHMEMI_SPACE_GPU))
#define SHMEM_SPACE_DEVICE  SHMEM_SPACE_GPU

/* All PEs, or the PEs that reach the space. */
#define SHMEM_TEAM_CPU (shmemx_space_team(SHMEM_SPACE_CPU))
#define SHMEM_TEAM_GPU (shmemx_space_team(SHMEM_SPACE_GPU))

/* ---- Spaces that the program creates ---- */

typedef enum {
    SHMEM_DEVICE_CPU = 0,
    SHMEM_DEVICE_GPU = 1
} shmem_device_type_t;

/* Capabilities of a space's memory. */
typedef uint64_t shmem_space_cap_t;
#define SHMEM_SPACE_CAP_RMA           ((shmem_space_cap_t)0x01)
#define SHMEM_SPACE_CAP_COLLECTIVES   ((shmem_space_cap_t)0x02)
#define SHMEM_SPACE_CAP_ATOMICS       ((shmem_space_cap_t)0x04)
/* The processor may load and store it. */
#define SHMEM_SPACE_CAP_DIRECT_ACCESS ((shmem_space_cap_t)0x08)
#define SHMEM_SPACE_CAP_WORLD_ACCESS  ((shmem_space_cap_t)0x10)
/* Addresses are the same on all PEs. */
#define SHMEM_SPACE_CAP_IDENT_ADDR    ((shmem_space_cap_t)0x20)

/* flags: shmem_malloc allocates in this space from now on. */
#define SHMEM_SPACE_FLAG_DEFAULT 1L
/* Hints, at most one: the kind of memory of AMD's GPUs; shmem_space(7) explains
 * the kinds. */
#define SHMEMX_SPACE_GRAIN_COARSE   2L
#define SHMEMX_SPACE_GRAIN_FINE     4L
#define SHMEMX_SPACE_GRAIN_UNCACHED 8L

typedef struct {
    shmem_device_type_t device_type;
    size_t size;                /* bytes on each PE */
    long flags;
} shmem_space_config_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmem_space_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmem_space_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}

/* The argument lists with which the drafts make the same call. */
extern "C++" {
static inline void shmem_space_free(void *ptr) { shmem_free(ptr); }
static inline void *shmem_space_alloc(shmem_space_t space, size_t size)
{
    return shmem_space_malloc(space, size);
}
static inline void *shmem_space_alloc(shmem_space_t space, size_t count,
                                      size_t size)
{
    return shmem_space_calloc(space, count, size);
}
static inline int shmem_query_device_awareness(void)
{
    return shmem_query_device_awareness((int *)0);
}
}
#else
#define SHMEMI_THIRD(a, b, c, name, ...) name
#define SHMEMI_SPACE_FREE(p) shmem_free(p)
#define SHMEMI_SPACE_FREE_IN(s, p) (shmem_space_free)(s, p)
#define shmem_space_free(...)                                               \
    SHMEMI_THIRD(__VA_ARGS__, 0, SHMEMI_SPACE_FREE_IN, SHMEMI_SPACE_FREE,   \
                 0)(__VA_ARGS__)
#define shmem_space_alloc(...)                                              \
    SHMEMI_THIRD(__VA_ARGS__, shmem_space_calloc, shmem_space_malloc,       \
                 0)(__VA_ARGS__)
/* The last of NULL and the argument, if there is one. */
#define SHMEMI_OR_NULL(...) (int *[]){ (int *)0, __VA_ARGS__ }
#define shmem_query_device_awareness(...)                                   \
    (shmem_query_device_awareness)((SHMEMI_OR_NULL(__VA_ARGS__))[           \
        sizeof(SHMEMI_OR_NULL(__VA_ARGS__)) / sizeof(int *) - 1])
#endif

#endif
