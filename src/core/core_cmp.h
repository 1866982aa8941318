/* SPDX-License-Identifier: BSD-3-Clause */
/* core_cmp.h - comparisons of the wait and test calls.
 * Values of every integer type are compared as `key`s: unsigned 64-bit
 * numbers in the same order, so that one engine serves all types. */
#ifndef CORE_CORE_CMP_H
#define CORE_CORE_CMP_H

#include "core/core.h"

/* Signed types are sign-extended and shifted by 2^63. */
#define CORE_KEY(T, v) \
    ((uint64_t)(v) ^ ((T)-1 < (T)1 ? (uint64_t)1 << 63 : 0))

/* a was read from the variable. */
static inline bool core_cmp_holds(uint64_t a, int cmp, uint64_t b)
{
    atomics_tsan_acquire();
    switch (cmp) {
    case SHMEM_CMP_EQ: return a == b;
    case SHMEM_CMP_NE: return a != b;
    case SHMEM_CMP_GT: return a > b;
    case SHMEM_CMP_GE: return a >= b;
    case SHMEM_CMP_LT: return a < b;
    default: return a <= b;
    }
}

static inline void core_need_cmp(const char *call, int cmp)
{
    if (CORE_CHECK(cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_LE))
        core_fatal(ERR_ARG, call, "comparison %d is none of SHMEM_CMP_EQ, NE, "
                   "GT, GE, LT, LE", cmp);
}

static inline void core_need_symmetric(const char *call, const char *arg,
                                       const void *p, size_t len)
{
    core_need_up(call);
    if (CORE_CHECK(heap_find(p, len) < 0))
        core_refuse(call, &core_ctx_default, arg, p, len, core_world.my_pe);
}

/* A set of variables that a call waits for or tests. */
struct core_wait_set {
    const void *ivars;
    void *here;                 /* NULL, or room to copy device-only ones */
    size_t n;
    const int *status;          /* NULL: all are in */
    int cmp;
    const void *values;         /* one, or n with each_value */
    bool each_value;
    int elem_size;              /* of ivars and values: 2, 4, 8 */
    bool is_signed;
};

/* Called before and after the evaluations of a set, which was checked. */
void core_wait_set_begin(const char *call, struct core_wait_set *s);
void core_wait_set_end(struct core_wait_set *s);
/* All hold: 1, not all: 0; an empty set counts as all. */
int core_wait_set_all(const struct core_wait_set *s);
/* The index of an element that holds, or SIZE_MAX; *empty: the set has no
 * element. */
size_t core_wait_set_any(const struct core_wait_set *s, bool *empty);
/* Stores the elements that hold to indices, and returns their number. */
size_t core_wait_set_some(const struct core_wait_set *s, size_t *indices,
                          bool *empty);
/* Waits until the variable, of size bytes, compares with the key as cmp says;
 * returns its key.  The slow half of the typed waits: the caller has found that
 * the variable does not compare yet. */
uint64_t core_wait_value(const char *call, const void *ivar, size_t size,
                         bool is_signed, int cmp, uint64_t key)
    __attribute__((noinline));
#define CORE_WAIT_KEY(call, p, T, cmp, key)                                 \
    core_wait_value(call, p, sizeof(T), (T)-1 < (T)1, cmp, key)

/* A waiter for the whole set. */
struct core_waiter core_wait_set_waiter(const char *call,
                                        const struct core_wait_set *s);

#endif
