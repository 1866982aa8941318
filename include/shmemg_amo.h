/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemg_amo.h - atomics that kernels make, of the draft for GPUs.  A part of
 * shmemg_dev.h, after shmemg_state.h. */

/* Also of float and double, which the draft does not name. */
#define SHMEMI_G_AMO_EXT(CTX, NAME, T)                                      \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_set(                        \
        SHMEMI_G_ARG_##CTX T *dest, T value, int pe)                        \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_set(                                     \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_set"), dest, value, pe);      \
    }                                                                       \
    SHMEMI_DEV T shmemg_##CTX##NAME##_atomic_fetch(                         \
        SHMEMI_G_ARG_##CTX const T *source, int pe)                         \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_fetch(                            \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_fetch"), source, pe);         \
    }                                                                       \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_fetch_nbi(                  \
        SHMEMI_G_ARG_##CTX T *fetch, const T *source, int pe)               \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_fetch_nbi(                               \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_fetch_nbi"), fetch, source,   \
            pe);                                                            \
    }
/* NAME_atomic_OP, which returns the old value. */
#define SHMEMI_G_AMO_FETCH(CTX, NAME, T, OP)                                \
    SHMEMI_DEV T shmemg_##CTX##NAME##_atomic_##OP(                          \
        SHMEMI_G_ARG_##CTX T *dest, T value, int pe)                        \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_##OP(                             \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_" #OP), dest, value, pe);     \
    }                                                                       \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_##OP##_nbi(                 \
        SHMEMI_G_ARG_##CTX T *fetch, T *dest, T value, int pe)              \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_##OP##_nbi(                              \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_" #OP "_nbi"), fetch, dest,   \
            value, pe);                                                     \
    }
#define SHMEMI_G_BOTH(NAME, T)                                              \
    SHMEMI_G_AMO_EXT(, NAME, T)                                             \
    SHMEMI_G_AMO_EXT(ctx_, NAME, T)                                         \
    SHMEMI_G_AMO_FETCH(, NAME, T, swap)                                     \
    SHMEMI_G_AMO_FETCH(ctx_, NAME, T, swap)
SHMEMI_DEV_AMO_EXT_TYPES(SHMEMI_G_BOTH)
#undef SHMEMI_G_BOTH
#undef SHMEMI_G_AMO_EXT

#define SHMEMI_G_AMO_OP(CTX, NAME, T, OP)                                   \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_##OP(                       \
        SHMEMI_G_ARG_##CTX T *dest, T value, int pe)                        \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_##OP(                                    \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_" #OP), dest, value, pe);     \
    }                                                                       \
    SHMEMI_G_AMO_FETCH(CTX, NAME, T, fetch_##OP)
#define SHMEMI_G_AMO(CTX, NAME, T)                                          \
    SHMEMI_G_AMO_OP(CTX, NAME, T, add)                                      \
    SHMEMI_G_AMO_OP(CTX, NAME, T, and)                                      \
    SHMEMI_G_AMO_OP(CTX, NAME, T, or)                                       \
    SHMEMI_G_AMO_OP(CTX, NAME, T, xor)                                      \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_inc(                        \
        SHMEMI_G_ARG_##CTX T *dest, int pe)                                 \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_inc(                                     \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_inc"), dest, pe);             \
    }                                                                       \
    SHMEMI_DEV T shmemg_##CTX##NAME##_atomic_fetch_inc(                     \
        SHMEMI_G_ARG_##CTX T *dest, int pe)                                 \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_fetch_inc(                        \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_fetch_inc"), dest, pe);       \
    }                                                                       \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_fetch_inc_nbi(              \
        SHMEMI_G_ARG_##CTX T *fetch, T *dest, int pe)                       \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_fetch_inc_nbi(                           \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_fetch_inc_nbi"), fetch, dest, \
            pe);                                                            \
    }                                                                       \
    SHMEMI_DEV T shmemg_##CTX##NAME##_atomic_compare_swap(                  \
        SHMEMI_G_ARG_##CTX T *dest, T cond, T value, int pe)                \
    {                                                                       \
        return shmemx_dev_##NAME##_atomic_compare_swap(                     \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_compare_swap"), dest, cond,   \
            value, pe);                                                     \
    }                                                                       \
    SHMEMI_DEV void shmemg_##CTX##NAME##_atomic_compare_swap_nbi(           \
        SHMEMI_G_ARG_##CTX T *fetch, T *dest, T cond, T value, int pe)      \
    {                                                                       \
        shmemx_dev_##NAME##_atomic_compare_swap_nbi(                        \
            SHMEMI_G_DEV_##CTX(#NAME "_atomic_compare_swap_nbi"), fetch,    \
            dest, cond, value, pe);                                         \
    }
#define SHMEMI_G_BOTH(NAME, T)                                              \
    SHMEMI_G_AMO(, NAME, T) SHMEMI_G_AMO(ctx_, NAME, T)
SHMEMI_DEV_AMO_TYPES(SHMEMI_G_BOTH)
#undef SHMEMI_G_BOTH
#undef SHMEMI_G_AMO
#undef SHMEMI_G_AMO_OP
#undef SHMEMI_G_AMO_FETCH
