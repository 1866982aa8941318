/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: fence and pe_quiet of kernels also order requests for a PE of this
 * node, before what the kernel stores there by itself; a warp's calls may return
 * a value in each of many launches, and a block's as often as a loop polls.
 * PEs: 2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=64M */
#include "kernel.h"

enum { LARGE = 16 << 20, ROUNDS = 10, LAUNCHES = 200 };

static shmemx_dev_t partly;     /* it maps all but the device heap */
static char *dest, *source;
static long *flag, *ack;
static bool quiets;
static long first;

static void kernel(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    for (long k = first; k < first + ROUNDS; k++) {
        memset(source, (int)k, LARGE);
        shmemx_dev_putmem_nbi(&partly, dest, source, LARGE, 1);
        if (quiets)
            shmemx_dev_pe_quiet(&partly, &next, 1);
        else
            shmemx_dev_fence(&partly);
        shmemx_dev_long_p(&partly, flag, k, 1);
        shmemx_dev_quiet(&partly);
        shmemx_dev_long_wait_until(&dev, ack, SHMEM_CMP_GE, k);
    }
}

static void try_order(long begin, bool with_quiet)
{
    int late = 0;

    first = begin;
    quiets = with_quiet;
    shmem_barrier_all();
    if (me == 0)
        kernel_run(kernel, NULL, 1, 1, 1);
    for (long k = begin; me == 1 && k < begin + ROUNDS; k++) {
        shmem_long_wait_until(flag, SHMEM_CMP_GE, k);
        late += dest[LARGE - 1] != (char)k;
        shmem_long_p(ack, k, 0);
        shmem_quiet();
    }
    T_EQ(late, 0);
    shmem_barrier_all();
}

T(fence_orders_a_request_and_a_store) { try_order(1, false); }
T(pe_quiet_completes_a_request) { try_order(1 + ROUNDS, true); }

/* 33 items: the last warp has one, which alone calls. */
static void tests_a_word(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    if (it->item == 32)
        shmemx_dev_long_test_warp(&dev, ack, SHMEM_CMP_LT, 0);
}

T(each_launch_has_its_calls)
{
    for (int i = 0; i < LAUNCHES; i++)
        kernel_run(tests_a_word, NULL, 1, 33, 1);
    T_TRUE(true);
}

/* All items see what the first one has seen. */
enum { ITEMS = 3, POLLS = 1000 };
static int polls[ITEMS];

static void polls_a_word(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    while (!shmemx_dev_long_test_block(&dev, ack, SHMEM_CMP_LT, 0))
        if (++polls[it->item] == POLLS && it->item == 0)
            *ack = -1;
}

T(a_block_polls_in_a_loop)
{
    kernel_run(polls_a_word, NULL, 1, ITEMS, 1);
    for (int i = 0; i < ITEMS; i++)
        T_EQ(polls[i], POLLS);
}

int main(void)
{
    kernel_begin();
    partly = dev;
    partly.size[SHMEMI_DEV_DEVICE] = 0;
    dest = shmem_space_calloc(SHMEM_SPACE_DEVICE, 1, LARGE);
    source = shmem_malloc(LARGE);
    flag = shmem_calloc(1, sizeof *flag);
    ack = shmem_calloc(1, sizeof *ack);
    T_TRUE(dest && source && flag && ack);
    T_RUN(fence_orders_a_request_and_a_store);
    T_RUN(pe_quiet_completes_a_request);
    T_RUN(each_launch_has_its_calls);
    T_RUN(a_block_polls_in_a_loop);
    return kernel_end();
}
