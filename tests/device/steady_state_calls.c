/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets and atomics on device memory, first some to warm up; what the
 * driver was called for between BEGIN and END in its log,
 * steady_state_calls.sh reads. */
#include "../memory.h"


enum { LEN = 100000 };

static char *dest, *source, *host;
static uint64_t *word;

static void operate(void)
{
    static const size_t lens[] = { 1, 8, 64, 4096, LEN };
    uint64_t here = 5;

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        shmem_putmem(dest, source, lens[i], next);
        shmem_putmem(dest, host, lens[i], next);
        shmem_getmem(source, dest, lens[i], next);
        shmem_getmem(host, dest, lens[i], next);
        shmem_putmem_nbi(host, source, lens[i], next);
    }
    shmem_double_iput((double *)(void *)dest, (double *)(void *)source, 2, 3,
                      50, next);
    shmem_double_iget((double *)(void *)host, (double *)(void *)dest, 1, 2,
                      50, next);
    shmem_putmem(dest, &here, sizeof here, next);
    shmem_uint64_p(word + 1, 9, next);
    shmem_quiet();
    T_EQ(shmem_uint64_g(word + 1, next), 9);
    shmem_uint64_atomic_inc(word, next);
    shmem_uint64_atomic_fetch_add(word, 2, next);
    shmem_uint64_atomic_compare_swap(word, 1, 2, next);
    shmem_uint32_atomic_swap((uint32_t *)(void *)(word + 2), 1, next);
    shmem_uint64_atomic_set(word + 3, 1, next);
    shmem_putmem_signal(dest, source, LEN, word + 4, 1, SHMEM_SIGNAL_ADD,
                        next);
    shmem_uint64_wait_until(word + 4, SHMEM_CMP_GE, 1);
    shmem_barrier_all();
    T_EQ(shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, word + 5, word + 4, 1), 0);
    shmem_barrier_all();
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    dest = mem_alloc(DEVICE, LEN);
    source = mem_alloc(DEVICE, LEN);
    host = mem_alloc(HOST, LEN);
    word = mem_alloc(DEVICE, 64);
    mem_fill(word, 0, 64);
    shmem_barrier_all();
    operate();
    mem_log("BEGIN");
    for (int i = 0; i < 3; i++)
        operate();
    mem_log("END");
    shmem_barrier_all();
    mem_free(DEVICE, word);
    mem_free(HOST, host);
    mem_free(DEVICE, source);
    mem_free(DEVICE, dest);
    return memory_end();
}
