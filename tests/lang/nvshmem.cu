/* SPDX-License-Identifier: BSD-3-Clause */
// Kernels of NVIDIA's GPUs with NVSHMEM's names, and a collective of each type
// with our own names and without types; compiled by nvshmem.sh, which looks for
// the kernels.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef OWN_STATE
#include <shmemx_dev.h>
static __constant__ shmemx_dev_t own_state;
#define SHMEMX_NVSHMEM_DEV (&own_state)
#endif
#include <nvshmem.h>
#include <nvshmemx.h>

// The ring of the first chapter of any guide.
extern "C" __global__ void ring_shift(int *destination)
{
    int mype = nvshmem_my_pe();
    int npes = nvshmem_n_pes();
    int peer = (mype + 1) % npes;

    nvshmem_int_p(destination, mype, peer);
}

extern "C" __global__ void pass_on(float *dest, const float *source, size_t n,
                                   uint64_t *flag)
{
    int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();

    nvshmemx_float_put_nbi_block(dest, source, n, peer);
    if (threadIdx.x == 0) {
        nvshmem_quiet();
        nvshmemx_signal_op(flag, 1, NVSHMEM_SIGNAL_ADD, peer);
        nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, 1);
        nvshmem_float_atomic_swap(dest, 1.0f, peer);
        nvshmem_int_atomic_fetch_add((int *)flag + 2, 1, peer);
        nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_NE, 0);
    }
    nvshmemx_putmem_signal_block(dest, source, n, flag, 1, NVSHMEM_SIGNAL_SET,
                                 peer);
    nvshmemx_put64_warp(dest, source, n / 8, peer);
    nvshmemx_barrier_all_block();
}

extern "C" __global__ void reduce_all(double *d, __half *h, __nv_bfloat16 *b,
                                      size_t n)
{
    nvshmemx_double_sum_reduce_block(NVSHMEM_TEAM_WORLD, d, d, n);
    nvshmemx_half_max_reduce_warp(NVSHMEM_TEAM_WORLD, h, h, n);
    nvshmem_bfloat16_sum_reducescatter(NVSHMEM_TEAM_WORLD, b, b, n);
    nvshmemx_double_broadcast_block(NVSHMEM_TEAM_WORLD, d, d, n, 0);
    nvshmemx_fcollectmem_block(NVSHMEM_TEAM_WORLD, d, d + n, n);
    nvshmem_half_p(h, nvshmem_half_g(h + 1, 0), 0);
}

extern "C" __global__ void without_types(SHMEMX_DEV_ARG(dev), long *l,
                                         float *f, __half *h, size_t n)
{
    shmemx_dev_put_block(&dev, l, l, n, 0);
    shmemx_dev_p(&dev, f, 1.0f, 0);
    shmemx_dev_atomic_add(&dev, l, 1L, 0);
    shmemx_dev_wait_until(&dev, l, SHMEM_CMP_GE, 1L);
    shmemx_dev_sum_reduce_block(&dev, SHMEM_DEVICE_TEAM_WORLD, f, f, n);
    shmemx_dev_prod_reduce(&dev, SHMEM_DEVICE_TEAM_WORLD, h, h, n);
    shmemx_dev_xor_reduce_warp(&dev, SHMEM_DEVICE_TEAM_WORLD, l, l, n);
    shmemx_dev_alltoall_block(&dev, SHMEM_DEVICE_TEAM_WORLD, l, l, n);
}

int main()
{
    cudaStream_t stream = 0;
    uint64_t *sig;
    int *d, npes;

    nvshmem_init();
    npes = nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD);
    d = static_cast<int *>(nvshmem_malloc(sizeof *d));
    sig = static_cast<uint64_t *>(nvshmem_malloc(sizeof *sig));
    void *args[] = { &d };
    nvshmemx_collective_launch(reinterpret_cast<const void *>(ring_shift), 1, 1,
                               args, 0, stream);
    nvshmemx_barrier_all_on_stream(stream);
    nvshmemx_int_iput_on_stream(d, d, 1, 1, 1, nvshmem_my_pe(), stream);
    nvshmemx_int_put_signal_nbi_on_stream(d, d, 1, sig, 1, NVSHMEM_SIGNAL_SET,
                                          nvshmem_my_pe(), stream);
    nvshmemx_quiet_on_stream(stream);
    nvshmem_putmem(d, d, sizeof *d, nvshmem_my_pe() % npes);
    nvshmem_barrier_all();
    nvshmem_free(sig);
    nvshmem_free(d);
    nvshmem_finalize();
    return 0;
}
