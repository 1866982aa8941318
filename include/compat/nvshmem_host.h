/* SPDX-License-Identifier: BSD-3-Clause */
/* nvshmem_host.h - NVSHMEM's names of what the host calls, for porting: set-up,
 * memory, teams, and operations on streams.  The rest that host and kernels
 * both call is in nvshmem_device.h.  A stream is a cudaStream_t, or one of
 * shmemx_st.h.  A compiler at run time has none of this. */
#ifndef COMPAT_NVSHMEM_HOST_H
#define COMPAT_NVSHMEM_HOST_H

#include "nvshmem_device.h"

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include "../shmemx_st.h"

/* ---- set-up ---- */

#define NVSHMEM_THREAD_SINGLE SHMEM_THREAD_SINGLE
#define NVSHMEM_THREAD_FUNNELED SHMEM_THREAD_FUNNELED
#define NVSHMEM_THREAD_SERIALIZED SHMEM_THREAD_SERIALIZED
#define NVSHMEM_THREAD_MULTIPLE SHMEM_THREAD_MULTIPLE
#define NVSHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN

/* 0, or what shmem_init_thread returns. */
static inline int nvshmem_init_thread(int requested, int *provided)
{
    int granted = 0;
    int rc = shmem_init_thread(requested | SHMEM_DEVICE_HOST_INIT |
                                   SHMEM_DEVICE_KERNEL_INIT, &granted);

    if (provided)
        *provided = granted & SHMEMX_THREAD_MASK;
    return rc;
}

static inline void nvshmem_init(void)
{
    nvshmem_init_thread(SHMEM_THREAD_SERIALIZED, 0);
}

static inline void nvshmem_query_thread(int *provided)
{
    shmem_query_thread(provided);
    *provided &= SHMEMX_THREAD_MASK;
}

static inline void nvshmem_finalize(void)
{
    shmem_finalize();
}

static inline void nvshmem_global_exit(int status)
{
    shmem_global_exit(status);
}

static inline void nvshmem_info_get_version(int *major, int *minor)
{
    shmem_info_get_version(major, minor);
}

static inline void nvshmem_info_get_name(char *name)
{
    shmem_info_get_name(name);
}

/* A module that the program has loaded, a CUmodule or hipModule_t.  0 or a
 * negative errno. */
static inline int nvshmemx_cumodule_init(void *module)
{
    return shmemx_module_init(module);
}

static inline int nvshmemx_cumodule_finalize(void *module)
{
    return shmemx_module_finalize(module);
}

/* ---- symmetric memory: of the device ---- */

static inline void *nvshmem_malloc(size_t size)
{
    return shmemg_malloc(size);
}

static inline void *nvshmem_calloc(size_t count, size_t size)
{
    return shmemg_calloc(count, size);
}

static inline void *nvshmem_align(size_t alignment, size_t size)
{
    return shmemg_align(alignment, size);
}

static inline void nvshmem_free(void *ptr)
{
    shmemg_free(ptr);
}

/* ---- teams ---- */

typedef shmem_team_config_t nvshmem_team_config_t;

static inline int nvshmem_team_split_strided(
    nvshmem_team_t parent, int start, int stride, int size,
    const nvshmem_team_config_t *config, long mask, nvshmem_team_t *team)
{
    return shmem_team_split_strided(parent, start, stride, size, config, mask,
                                    team);
}

static inline int nvshmem_team_split_2d(
    nvshmem_team_t parent, int xrange, const nvshmem_team_config_t *xconfig,
    long xmask, nvshmem_team_t *xteam, const nvshmem_team_config_t *yconfig,
    long ymask, nvshmem_team_t *yteam)
{
    return shmem_team_split_2d(parent, xrange, xconfig, xmask, xteam, yconfig,
                               ymask, yteam);
}

static inline void nvshmem_team_destroy(nvshmem_team_t team)
{
    shmem_team_destroy(team);
}

/* ---- on streams: 0 or a negative errno where NVSHMEM returns a value ---- */

#define SHMEMI_NV_MOVE(CALL)                                                \
    static inline void nvshmemx_##CALL##_on_stream(                         \
        void *dest, const void *source, size_t bytes, int pe,               \
        shmemx_stream_t stream)                                             \
    {                                                                       \
        shmemx_##CALL##_on_stream(dest, source, bytes, pe, stream);         \
    }
SHMEMI_NV_MOVE(putmem)
SHMEMI_NV_MOVE(getmem)
SHMEMI_NV_MOVE(putmem_nbi)
SHMEMI_NV_MOVE(getmem_nbi)
#undef SHMEMI_NV_MOVE

#define SHMEMI_NV_SIGNAL(T, CALL)                                           \
    static inline void nvshmemx_##CALL##_on_stream(                         \
        T *dest, const T *source, size_t n, uint64_t *sig_addr,             \
        uint64_t signal, int sig_op, int pe, shmemx_stream_t stream)        \
    {                                                                       \
        shmemx_##CALL##_on_stream(dest, source, n, sig_addr, signal,        \
                                  sig_op, pe, stream);                      \
    }
SHMEMI_NV_SIGNAL(void, putmem_signal)
SHMEMI_NV_SIGNAL(void, putmem_signal_nbi)

#define SHMEMI_NV_TYPED_CALL(NAME, T, CALL)                                 \
    static inline void nvshmemx_##NAME##_##CALL##_on_stream(                \
        T *dest, const T *source, size_t nelems, int pe,                    \
        shmemx_stream_t stream)                                             \
    {                                                                       \
        shmemx_##NAME##_##CALL##_on_stream(dest, source, nelems, pe,        \
                                           stream);                         \
    }
#define SHMEMI_NV_STRIDED(NAME, T, CALL)                                    \
    static inline void nvshmemx_##NAME##_##CALL##_on_stream(                \
        T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,             \
        size_t nelems, int pe, shmemx_stream_t stream)                      \
    {                                                                       \
        shmemx_##NAME##_##CALL##_on_stream(dest, source, dst, sst, nelems,  \
                                           pe, stream);                     \
    }
#define SHMEMI_NV_TYPED(NAME, T)                                            \
    SHMEMI_NV_TYPED_CALL(NAME, T, put)                                      \
    SHMEMI_NV_TYPED_CALL(NAME, T, get)                                      \
    SHMEMI_NV_TYPED_CALL(NAME, T, put_nbi)                                  \
    SHMEMI_NV_TYPED_CALL(NAME, T, get_nbi)                                  \
    SHMEMI_NV_STRIDED(NAME, T, iput)                                        \
    SHMEMI_NV_STRIDED(NAME, T, iget)                                        \
    SHMEMI_NV_SIGNAL(T, NAME##_put_signal)                                  \
    SHMEMI_NV_SIGNAL(T, NAME##_put_signal_nbi)                              \
    static inline void nvshmemx_##NAME##_p_on_stream(                       \
        T *dest, T value, int pe, shmemx_stream_t stream)                   \
    {                                                                       \
        shmemx_##NAME##_p_on_stream(dest, value, pe, stream);               \
    }
SHMEMI_RMA_TYPES(SHMEMI_NV_TYPED)
#undef SHMEMI_NV_TYPED
#undef SHMEMI_NV_STRIDED
#undef SHMEMI_NV_TYPED_CALL
#undef SHMEMI_NV_SIGNAL

static inline void nvshmemx_signal_op_on_stream(uint64_t *sig_addr,
                                                uint64_t signal, int sig_op,
                                                int pe, shmemx_stream_t stream)
{
    shmemx_signal_op_on_stream(sig_addr, signal, sig_op, pe, stream);
}

static inline void nvshmemx_signal_wait_until_on_stream(
    uint64_t *sig_addr, int cmp, uint64_t cmp_value, shmemx_stream_t stream)
{
    shmemx_signal_wait_until_on_stream(0, sig_addr, cmp, cmp_value, stream);
}

/* Completes what earlier kernels issued and did not complete. */
#ifdef SHMEMI_DEV_C
static inline void shmemi_nv_quiet_item(const shmemx_item_t *item, void *arg)
{
    (void)item;
    (void)arg;
    shmemx_dev_quiet(SHMEMX_NVSHMEM_DEV);
}

static inline void shmemi_nv_quiet_kernels(shmemx_stream_t stream)
{
    const shmemx_grid_t grid = { 1, 1, 1, 0, 0 };

    if (SHMEMX_NVSHMEM_DEV->magic == SHMEMI_DEV_MAGIC)
        shmemx_stream_launch(stream, &grid, shmemi_nv_quiet_item, 0);
}
#elif defined(SHMEMI_DEV_CUDA)
static __global__ void shmemi_nv_quiet_kernel(void)
{
    if (SHMEMX_NVSHMEM_DEV->magic == SHMEMI_DEV_MAGIC)
        shmemx_dev_quiet(SHMEMX_NVSHMEM_DEV);
}

static inline void shmemi_nv_quiet_kernels(shmemx_stream_t stream)
{
    shmemi_nv_quiet_kernel<<<1, 1, 0, (cudaStream_t)stream>>>();
}
#else
static inline void shmemi_nv_quiet_kernels(shmemx_stream_t stream)
{
    (void)stream;
}
#endif

static inline void nvshmemx_quiet_on_stream(shmemx_stream_t stream)
{
    shmemi_nv_quiet_kernels(stream);
    shmemx_quiet_on_stream(stream);
}

static inline void nvshmemx_barrier_all_on_stream(shmemx_stream_t stream)
{
    shmemi_nv_quiet_kernels(stream);
    shmemx_barrier_all_on_stream(stream);
}

static inline void nvshmemx_sync_all_on_stream(shmemx_stream_t stream)
{
    shmemx_sync_all_on_stream(stream);
}

static inline int nvshmemx_barrier_on_stream(nvshmem_team_t team,
                                             shmemx_stream_t stream)
{
    shmemi_nv_quiet_kernels(stream);
    return shmemx_barrier_on_stream(team, stream);
}

static inline int nvshmemx_team_sync_on_stream(nvshmem_team_t team,
                                               shmemx_stream_t stream)
{
    return shmemx_team_sync_on_stream(team, stream);
}

/* ---- kernels that wait for others ---- */

#ifdef SHMEMI_DEV_CUDA
/* All blocks are resident at once, or the launch fails. */
static inline int nvshmemx_collective_launch(const void *func, dim3 grid,
                                             dim3 block, void **args,
                                             size_t shared, cudaStream_t stream)
{
    return (int)cudaLaunchCooperativeKernel(func, grid, block, args, shared,
                                            stream);
}
#endif

#endif
#endif
