/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a program that sets no size has room for what integer sort
 * (ISx) takes by default: one block of 2^28 keys of 4 bytes, and a few words
 * beside it.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "t.h"

#include <shmem.h>
#include <stdlib.h>

#define KEYS ((size_t)1 << 28)

/* The heap is a share of what is free where that is little. */
static bool has_memory(int n_pes)
{
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    char line[128];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib >> 20 >= 2 * (unsigned)n_pes + 2;
}

T(shmem_malloc_has_room_for_2_to_the_28_keys_by_default)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), to = (me + 1) % n;
    int *keys, last[4] = { 0, 1, 2, me };
    double *times;

    keys = shmem_malloc(KEYS * sizeof *keys);
    times = shmem_malloc(64 * sizeof *times);
    if (!T_NE(keys, NULL) || !T_NE(times, NULL))
        return;
    shmem_putmem(keys + KEYS - 4, last, sizeof last, to);
    shmem_double_p(times, me, to);
    shmem_barrier_all();
    T_EQ(keys[KEYS - 1], (me + n - 1) % n);
    T_TRUE(*times == (me + n - 1) % n);
    shmem_free(times);
    shmem_free(keys);
}

int main(void)
{
    bool enough;

    unsetenv("SHMEM_SYMMETRIC_SIZE");
    unsetenv("SMA_SYMMETRIC_SIZE");
    shmem_init();
    T_PE(shmem_my_pe());
    enough = has_memory(shmem_n_pes());
    if (enough)
        T_RUN(shmem_malloc_has_room_for_2_to_the_28_keys_by_default);
    shmem_finalize();
    return enough ? T_DONE() : 77;
}
