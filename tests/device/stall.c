/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for device memory that last; stall.sh reads what is said of them. */
#include "../memory.h"

int main(void)
{
    uint64_t *word, one = 7;
    long *lock;
    bool late;

    device_begin(SHMEM_THREAD_SINGLE);
    late = me == n_pes - 1;
    word = mem_alloc(DEVICE, 64);
    lock = mem_alloc(DEVICE, 64);
    mem_fill(word, 0, 64);
    mem_fill(lock, 0, 64);
    shmem_barrier_all();
    if (late) {
        usleep(3600000);
        for (int pe = 0; pe < n_pes; pe++)
            for (int i = 0; i < 3; i++)
                shmem_uint64_p(word + i, one, pe);
    } else if (me) {
        shmem_uint64_wait_until_all(word, 3, NULL, SHMEM_CMP_GT, 6);
    } else {
        shmem_uint64_wait_until(word, SHMEM_CMP_EQ, 7);
    }
    if (late)
        shmem_set_lock(lock);
    shmem_barrier_all();
    if (late)
        usleep(3600000);
    else
        shmem_set_lock(lock);
    shmem_clear_lock(lock);
    shmem_barrier_all();
    mem_free(DEVICE, lock);
    mem_free(DEVICE, word);
    return memory_end();
}
