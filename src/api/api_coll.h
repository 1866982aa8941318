/* SPDX-License-Identifier: BSD-3-Clause */
/* api_coll.h - what the collective calls over teams and over active sets
 * share: the checks of their arguments. */
#ifndef API_API_COLL_H
#define API_API_COLL_H

#include "api/api.h"
#include "coll/coll.h"
#include "core/core_rma.h"

/* The machine form of an element type. */
#define API_TYPE(T)                                                         \
    _Generic((T){ 0 },                                                      \
        char: CHAR_MIN < 0 ? COLL_I8 : COLL_U8,                             \
        signed char: COLL_I8, unsigned char: COLL_U8,                       \
        short: COLL_I16, unsigned short: COLL_U16,                          \
        int: COLL_I32, unsigned: COLL_U32,                                  \
        long: COLL_I64, unsigned long: COLL_U64,                            \
        long long: COLL_I64, unsigned long long: COLL_U64,                  \
        float: COLL_FLOAT, double: COLL_DOUBLE,                             \
        long double: COLL_LONGDOUBLE,                                       \
        float _Complex: COLL_COMPLEXF, double _Complex: COLL_COMPLEXD)

/* The buffers of a collective, in bytes on this PE. */
struct api_buffers {
    const void *dest, *source;
    size_t dest_bytes, source_bytes;
    bool in_place;              /* dest may be source */
};

/* Symmetric, and no overlap but the allowed one; else a fatal error. */
void api_buffers_check(const char *call, const struct api_buffers *b);
/* The team, or a fatal error; or_null returns NULL for SHMEM_TEAM_INVALID. */
struct core_team *api_team(const char *call, shmem_team_t team);
struct core_team *api_team_or_null(const char *call, shmem_team_t team);

/* The calls themselves: nelems elements of size bytes. */
struct api_block {
    void *dest;
    const void *source;
    size_t nelems, size;
};
void api_broadcast(const char *call, struct core_team *t,
                   const struct api_block *b, int root, bool root_too);
void api_collect(const char *call, struct core_team *t,
                 const struct api_block *b);
void api_fcollect(const char *call, struct core_team *t,
                  const struct api_block *b);
void api_alltoall(const char *call, struct core_team *t,
                  const struct api_block *b);
void api_alltoalls(const char *call, struct core_team *t,
                   const struct api_block *b, ptrdiff_t dst, ptrdiff_t sst);
void api_reduce(const char *call, struct core_team *t,
                const struct api_block *b, coll_op *op);
void api_scan(const char *call, struct core_team *t,
              const struct api_block *b, coll_op *op, bool inclusive);

#endif
