/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated collectives over active sets.  Programs call them; set_of()
 * checks the set and finds its team, and the calls of teams (api_coll.h) do
 * the work.  pSync is checked and never written. */
#include "api/api_coll.h"
#include "core/core_device.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmem_alltoallSIZE shmem_alltoallsSIZE shmem_broadcastSIZE
 *   shmem_collectSIZE shmem_TYPENAME_prod_to_all shmem_TYPENAME_sum_to_all
 *   shmem_TYPENAME_max_to_all shmem_TYPENAME_min_to_all shmem_fcollectSIZE
 *   shmem_TYPENAME_and_to_all shmem_TYPENAME_or_to_all
 *   shmem_TYPENAME_xor_to_all */

/* Old programs may have made pSync shorter than it should be: only a program
 * that is being checked is held to all of it. */
static void check_sync_array(const char *call, const long *pSync)
{
    size_t n = core_status.checks ? SHMEM_SYNC_SIZE : 1;
    long here[SHMEM_SYNC_SIZE];

    if (!CORE_CHECK(1))
        return;
    if (heap_find(pSync, n * sizeof *pSync) < 0)
        core_refuse(call, &core_ctx_default, "pSync", pSync,
                    n * sizeof *pSync, core_world.my_pe);
    core_copy(here, pSync, n * sizeof *pSync);
    for (size_t i = 0; i < n; i++)
        if (here[i] != SHMEM_SYNC_VALUE)
            core_fatal(ERR_ARG, call, "pSync[%zu] is %ld, not "
                       "SHMEM_SYNC_VALUE", i, here[i]);
}

/* Before the set is made: the members need not make the call. */
static bool is_member(int start, int log_stride, long long last)
{
    int at = core_world.my_pe - start;

    return at >= 0 && core_world.my_pe <= last &&
           !(at & ((1 << log_stride) - 1));
}

/* The set's team, or a fatal error; the arrays are only looked at. */
static struct core_team *set_of(const char *call, int start, int log_stride,
                                int size, const long *pSync)
{
    struct core_team *t;
    long long last;

    core_need_up(call);
    if (CORE_CHECK(log_stride < 0 || log_stride > 30 || size < 1 || start < 0))
        core_fatal(ERR_ARG, call, "no active set: start %d, log2 of the stride "
                   "%d, size %d", start, log_stride, size);
    last = start + ((long long)size - 1) * (1LL << log_stride);
    if (CORE_CHECK(last >= core_world.n_pes))
        core_fatal(ERR_PE, call, "PE %lld of the active set is outside 0..%d",
                   last, core_world.n_pes - 1);
    if (CORE_CHECK(!is_member(start, log_stride, last)))
        core_fatal(ERR_TEAM, call, "this PE is not in the active set");
    check_sync_array(call, pSync);
    core_activity_enter(call, NULL);
    t = coll_active_set(start, log_stride, size);
    if (!t)
        core_fatal(ERR_TEAM, call, "no memory left for the active set: each "
                   "different one keeps some; use teams, or raise "
                   "SHMEM_SYMMETRIC_SIZE up to 1g");
    return t;
}

#define SET set_of(__func__, PE_start, logPE_stride, PE_size, pSync)
#define SET_ARGS int PE_start, int logPE_stride, int PE_size
#define BLOCK(SIZE) &(struct api_block){ dest, source, nelems, SIZE }

void pshmem_barrier(SET_ARGS, long *pSync)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *t = SET;

    API_COLL_ENTER(t, ERR_COLL, __func__, { "@pSync" },
                   { core_position(pSync) });
    core_quiet(NULL, &core_ctx_default);
    coll_sync(t);
}
API_ALIAS(shmem_barrier)

void pshmem_sync(SET_ARGS, long *pSync)
{
    CORE_TRACE_CALL(__func__);
    struct core_team *t = SET;

    API_COLL_ENTER(t, ERR_COLL, __func__, { "@pSync" },
                   { core_position(pSync) });
    coll_sync(t);
}
API_ALIAS(shmem_sync)

#define API_SET(S, BYTES)                                                   \
    void pshmem_alltoall##S(void *dest, const void *source, size_t nelems,  \
                            SET_ARGS, long *pSync)                          \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_alltoall(__func__, SET, BLOCK(BYTES));                          \
    }                                                                       \
    void pshmem_alltoalls##S(void *dest, const void *source, ptrdiff_t dst, \
                             ptrdiff_t sst, size_t nelems, SET_ARGS,        \
                             long *pSync)                                   \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_alltoalls(__func__, SET, BLOCK(BYTES), dst, sst);               \
    }                                                                       \
    void pshmem_broadcast##S(void *dest, const void *source, size_t nelems, \
                             int PE_root, SET_ARGS, long *pSync)            \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_broadcast(__func__, SET, BLOCK(BYTES), PE_root, false);         \
    }                                                                       \
    void pshmem_collect##S(void *dest, const void *source, size_t nelems,   \
                           SET_ARGS, long *pSync)                           \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_collect(__func__, SET, BLOCK(BYTES));                           \
    }                                                                       \
    void pshmem_fcollect##S(void *dest, const void *source, size_t nelems,  \
                            SET_ARGS, long *pSync)                          \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_fcollect(__func__, SET, BLOCK(BYTES));                          \
    }                                                                       \
    API_ALIAS(shmem_alltoall##S)                                            \
    API_ALIAS(shmem_alltoalls##S)                                           \
    API_ALIAS(shmem_broadcast##S)                                           \
    API_ALIAS(shmem_collect##S)                                             \
    API_ALIAS(shmem_fcollect##S)
API_SET(32, 4)
API_SET(64, 8)

static size_t need_count(const char *call, int nreduce)
{
    if (CORE_CHECK(nreduce < 0))
        core_fatal(ERR_ARG, call, "%d elements to reduce", nreduce);
    return (size_t)nreduce;
}

#define API_TO_ALL(NAME, T, FN, OP)                                         \
    void pshmem_##NAME##_##FN##_to_all(T *dest, const T *source,            \
                                       int nreduce, SET_ARGS, T *pWrk,      \
                                       long *pSync)                         \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        size_t nelems = need_count(__func__, nreduce);                      \
                                                                            \
        (void)pWrk;                                                         \
        api_reduce(__func__, SET, BLOCK(sizeof(T)),                         \
                   coll_ops[OP][API_TYPE(T)]);                              \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_##FN##_to_all)
#define API_TO_ALL_BIT(NAME, T)                                             \
    API_TO_ALL(NAME, T, and, COLL_AND)                                      \
    API_TO_ALL(NAME, T, or, COLL_OR)                                        \
    API_TO_ALL(NAME, T, xor, COLL_XOR)
#define API_TO_ALL_MINMAX(NAME, T)                                          \
    API_TO_ALL(NAME, T, max, COLL_MAX)                                      \
    API_TO_ALL(NAME, T, min, COLL_MIN)
#define API_TO_ALL_SUM(NAME, T)                                             \
    API_TO_ALL(NAME, T, sum, COLL_SUM)                                      \
    API_TO_ALL(NAME, T, prod, COLL_PROD)
SHMEMI_TO_ALL_BIT_TYPES(API_TO_ALL_BIT)
SHMEMI_TO_ALL_TYPES(API_TO_ALL_MINMAX)
SHMEMI_TO_ALL_SUM_TYPES(API_TO_ALL_SUM)
