/* SPDX-License-Identifier: BSD-3-Clause */

/* nvshmem_coll.h - collectives of kernels by NVSHMEM's names.  A part of
 * nvshmem_device.h. */

#define SHMEMI_NV_COLL(X, NAME, T, S)                                       \
    SHMEMI_DEV int X##NAME##S(nvshmem_team_t team, T *dest,                 \
                              const T *source, size_t nelems)               \
    {                                                                       \
        return shmemx_dev_##NAME##S(SHMEMX_NVSHMEM_DEV, team, dest, source, \
                                    nelems);                                \
    }
#define SHMEMI_NV_BROADCAST(X, NAME, T, S)                                  \
    SHMEMI_DEV int X##NAME##S(nvshmem_team_t team, T *dest,                 \
                              const T *source, size_t nelems, int root)     \
    {                                                                       \
        return shmemx_dev_##NAME##S(SHMEMX_NVSHMEM_DEV, team, dest, source, \
                                    nelems, root);                          \
    }
#define SHMEMI_NV_COLL3(NAME, T)                                            \
    SHMEMI_NV_COLL(nvshmem_, NAME, T, )                                     \
    SHMEMI_NV_COLL(nvshmemx_, NAME, T, _warp)                               \
    SHMEMI_NV_COLL(nvshmemx_, NAME, T, _block)
#define SHMEMI_NV_MOVES(PRE, POST, T)                                       \
    SHMEMI_NV_BROADCAST(nvshmem_, PRE##broadcast##POST, T, )                \
    SHMEMI_NV_BROADCAST(nvshmemx_, PRE##broadcast##POST, T, _warp)          \
    SHMEMI_NV_BROADCAST(nvshmemx_, PRE##broadcast##POST, T, _block)         \
    SHMEMI_NV_COLL3(PRE##fcollect##POST, T)                                 \
    SHMEMI_NV_COLL3(PRE##alltoall##POST, T)
#define SHMEMI_NV_TYPED(NAME, T) SHMEMI_NV_MOVES(NAME##_, , T)
#define SHMEMI_NV_REDUCE(NAME, T, OP)                                       \
    SHMEMI_NV_COLL3(NAME##_##OP##_reduce, T)                                \
    SHMEMI_NV_COLL3(NAME##_##OP##_reducescatter, T)
#define SHMEMI_NV_REDUCES(NAME, T)                                          \
    SHMEMI_NV_REDUCE(NAME, T, sum)                                          \
    SHMEMI_NV_REDUCE(NAME, T, prod)                                         \
    SHMEMI_NV_REDUCE(NAME, T, min)                                          \
    SHMEMI_NV_REDUCE(NAME, T, max)
#define SHMEMI_NV_BITS(NAME, T)                                             \
    SHMEMI_NV_REDUCE(NAME, T, and)                                          \
    SHMEMI_NV_REDUCE(NAME, T, or)                                           \
    SHMEMI_NV_REDUCE(NAME, T, xor)
SHMEMI_NV_MOVES(, mem, void)
SHMEMI_DEV_RMA_TYPES(SHMEMI_NV_TYPED)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_NV_TYPED)
SHMEMI_DEV_REDUCE_TYPES(SHMEMI_NV_REDUCES)
SHMEMI_DEV_SHORT_FLOATS(SHMEMI_NV_REDUCES)
SHMEMI_DEV_REDUCE_BIT_TYPES(SHMEMI_NV_BITS)
#undef SHMEMI_NV_BITS
#undef SHMEMI_NV_REDUCES
#undef SHMEMI_NV_REDUCE
#undef SHMEMI_NV_TYPED
#undef SHMEMI_NV_MOVES
#undef SHMEMI_NV_COLL3
#undef SHMEMI_NV_BROADCAST
#undef SHMEMI_NV_COLL
