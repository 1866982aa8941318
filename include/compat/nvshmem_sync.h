/* SPDX-License-Identifier: BSD-3-Clause */

/* nvshmem_sync.h - atomics, waits, order and synchronization by NVSHMEM's
 * names.  A part of nvshmem_device.h. */

/* ---- atomics ---- */

#define SHMEMI_NV_VALUE(NAME, T, OP)                                        \
    SHMEMI_DEV void nvshmem_##NAME##_atomic_##OP(T *dest, T value, int pe)  \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_##OP(SHMEMX_NVSHMEM_DEV, dest, value,    \
                                        pe);                                \
    }
#define SHMEMI_NV_FETCH(NAME, T, OP)                                        \
    SHMEMI_DEV T nvshmem_##NAME##_atomic_##OP(T *dest, T value, int pe)     \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_##OP(SHMEMX_NVSHMEM_DEV, dest,    \
                                               value, pe);                  \
    }
#define SHMEMI_NV_EXT(NAME, T)                                              \
    SHMEMI_DEV T nvshmem_##NAME##_atomic_fetch(const T *source, int pe)     \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_fetch(SHMEMX_NVSHMEM_DEV, source, \
                                                pe);                        \
    }                                                                       \
    SHMEMI_NV_VALUE(NAME, T, set)                                           \
    SHMEMI_NV_FETCH(NAME, T, swap)
#define SHMEMI_NV_STD(NAME, T)                                              \
    SHMEMI_NV_VALUE(NAME, T, add)                                           \
    SHMEMI_NV_VALUE(NAME, T, and)                                           \
    SHMEMI_NV_VALUE(NAME, T, or)                                            \
    SHMEMI_NV_VALUE(NAME, T, xor)                                           \
    SHMEMI_NV_FETCH(NAME, T, fetch_add)                                     \
    SHMEMI_NV_FETCH(NAME, T, fetch_and)                                     \
    SHMEMI_NV_FETCH(NAME, T, fetch_or)                                      \
    SHMEMI_NV_FETCH(NAME, T, fetch_xor)                                     \
    SHMEMI_DEV void nvshmem_##NAME##_atomic_inc(T *dest, int pe)            \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_inc(SHMEMX_NVSHMEM_DEV, dest, pe);       \
    }                                                                       \
    SHMEMI_DEV T nvshmem_##NAME##_atomic_fetch_inc(T *dest, int pe)         \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_fetch_inc(SHMEMX_NVSHMEM_DEV,     \
                                                    dest, pe);              \
    }                                                                       \
    SHMEMI_DEV T nvshmem_##NAME##_atomic_compare_swap(T *dest, T cond,      \
                                                      T value, int pe)      \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_compare_swap(                     \
            SHMEMX_NVSHMEM_DEV, dest, cond, value, pe);                     \
    }
SHMEMI_DEV_AMO_EXT_TYPES(SHMEMI_NV_EXT)
SHMEMI_DEV_AMO_TYPES(SHMEMI_NV_STD)
#undef SHMEMI_NV_STD
#undef SHMEMI_NV_EXT
#undef SHMEMI_NV_FETCH
#undef SHMEMI_NV_VALUE

/* ---- waits and tests ---- */

#define SHMEMI_NV_WAIT(NAME, T)                                             \
    SHMEMI_DEV void nvshmem_##NAME##_wait_until(T *ivar, int cmp,           \
                                                T cmp_value)                \
    {                                                                       \
        shmemx_dev_##NAME##_wait_until(SHMEMX_NVSHMEM_DEV, ivar, cmp,       \
                                       cmp_value);                          \
    }                                                                       \
    SHMEMI_DEV int nvshmem_##NAME##_test(T *ivar, int cmp, T cmp_value)     \
    {                                                                       \
        return shmemx_dev_##NAME##_test(SHMEMX_NVSHMEM_DEV, ivar, cmp,      \
                                        cmp_value);                         \
    }
#define SHMEMI_NV_SET(NAME, T, R, VERB, SUFFIX, CMP)                        \
    SHMEMI_DEV R nvshmem_##NAME##_##VERB##_all##SUFFIX(                     \
        T *ivars, size_t nelems, const int *status, int cmp, CMP cmp_value) \
    {                                                                       \
        SHMEMI_NV_RETURN_##VERB shmemx_dev_##NAME##_##VERB##_all##SUFFIX(   \
            SHMEMX_NVSHMEM_DEV, ivars, nelems, status, cmp, cmp_value);     \
    }                                                                       \
    SHMEMI_DEV size_t nvshmem_##NAME##_##VERB##_any##SUFFIX(                \
        T *ivars, size_t nelems, const int *status, int cmp, CMP cmp_value) \
    {                                                                       \
        return shmemx_dev_##NAME##_##VERB##_any##SUFFIX(                    \
            SHMEMX_NVSHMEM_DEV, ivars, nelems, status, cmp, cmp_value);     \
    }                                                                       \
    SHMEMI_DEV size_t nvshmem_##NAME##_##VERB##_some##SUFFIX(               \
        T *ivars, size_t nelems, size_t *indices, const int *status,        \
        int cmp, CMP cmp_value)                                             \
    {                                                                       \
        return shmemx_dev_##NAME##_##VERB##_some##SUFFIX(                   \
            SHMEMX_NVSHMEM_DEV, ivars, nelems, indices, status, cmp,        \
            cmp_value);                                                     \
    }
#define SHMEMI_NV_RETURN_wait_until
#define SHMEMI_NV_RETURN_test return
#define SHMEMI_NV_SETS(NAME, T)                                             \
    SHMEMI_NV_WAIT(NAME, T)                                                 \
    SHMEMI_NV_SET(NAME, T, void, wait_until, , T)                           \
    SHMEMI_NV_SET(NAME, T, void, wait_until, _vector, T *)                  \
    SHMEMI_NV_SET(NAME, T, int, test, , T)                                  \
    SHMEMI_NV_SET(NAME, T, int, test, _vector, T *)
SHMEMI_DEV_AMO_TYPES(SHMEMI_NV_SETS)
SHMEMI_NV_WAIT(short, short)
SHMEMI_NV_WAIT(ushort, unsigned short)
#undef SHMEMI_NV_SETS
#undef SHMEMI_NV_RETURN_test
#undef SHMEMI_NV_RETURN_wait_until
#undef SHMEMI_NV_SET
#undef SHMEMI_NV_WAIT

/* ---- order, completion, synchronization ---- */

SHMEMI_NV void nvshmem_fence(void)
{
    SHMEMI_NV_EITHER(shmemx_dev_fence(SHMEMX_NVSHMEM_DEV), shmem_fence());
}

SHMEMI_NV void nvshmem_quiet(void)
{
    SHMEMI_NV_EITHER(shmemx_dev_quiet(SHMEMX_NVSHMEM_DEV), shmem_quiet());
}

SHMEMI_NV void nvshmem_barrier_all(void)
{
    SHMEMI_NV_EITHER(shmemx_dev_barrier_all(SHMEMX_NVSHMEM_DEV),
                     shmem_barrier_all());
}

SHMEMI_NV void nvshmem_sync_all(void)
{
    SHMEMI_NV_EITHER(shmemx_dev_sync_all(SHMEMX_NVSHMEM_DEV),
                     shmem_sync_all());
}

/* A barrier is a quiet and a sync. */
SHMEMI_NV int nvshmem_barrier(nvshmem_team_t team)
{
#ifdef SHMEMI_NV_DEVICE
    return shmemx_dev_barrier(SHMEMX_NVSHMEM_DEV, team);
#else
    shmem_quiet();
    return shmem_team_sync(team);
#endif
}

SHMEMI_NV int nvshmem_team_sync(nvshmem_team_t team)
{
    return SHMEMI_NV_EITHER(shmemx_dev_team_sync(SHMEMX_NVSHMEM_DEV, team),
                            shmem_team_sync(team));
}

SHMEMI_NV int nvshmem_sync(nvshmem_team_t team)
{
    return nvshmem_team_sync(team);
}

#define SHMEMI_NV_SYNC(S)                                                   \
    SHMEMI_DEV void nvshmemx_barrier_all##S(void)                           \
    {                                                                       \
        shmemx_dev_barrier_all##S(SHMEMX_NVSHMEM_DEV);                      \
    }                                                                       \
    SHMEMI_DEV void nvshmemx_sync_all##S(void)                              \
    {                                                                       \
        shmemx_dev_sync_all##S(SHMEMX_NVSHMEM_DEV);                         \
    }                                                                       \
    SHMEMI_DEV int nvshmemx_barrier##S(nvshmem_team_t team)                 \
    {                                                                       \
        return shmemx_dev_barrier##S(SHMEMX_NVSHMEM_DEV, team);             \
    }                                                                       \
    SHMEMI_DEV int nvshmemx_team_sync##S(nvshmem_team_t team)               \
    {                                                                       \
        return shmemx_dev_team_sync##S(SHMEMX_NVSHMEM_DEV, team);           \
    }                                                                       \
    SHMEMI_DEV int nvshmemx_sync##S(nvshmem_team_t team)                    \
    {                                                                       \
        return shmemx_dev_team_sync##S(SHMEMX_NVSHMEM_DEV, team);           \
    }
SHMEMI_NV_SYNC(_warp)
SHMEMI_NV_SYNC(_block)
#undef SHMEMI_NV_SYNC
