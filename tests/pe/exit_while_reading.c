/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: exit with a status and shmem_global_exit end the job at once,
 * and files are written, though a thread waits for standard input.
 * PEs: 2 3
 * Status: 3
 * Timeout: 10
 * Expect: ^said$ */
#include "../t.h"

#include <pthread.h>
#include <shmem.h>

static void *read_on(void *unused)
{
    getchar();
    return unused;
}

int main(void)
{
    int provided, ends[2];
    pthread_t reader;
    FILE *other;

    /* No process ever writes. */
    if (pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0)
        return 1;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    other = fdopen(dup(STDOUT_FILENO), "w");
    if (!other || pthread_create(&reader, NULL, read_on, NULL))
        return 1;
    while (ftrylockfile(stdin) == 0)
        funlockfile(stdin);
    if (shmem_my_pe() == 0) {
        fputs("said\n", other);
        if (shmem_n_pes() == 2)
            return 3;
        shmem_global_exit(3);
    }
    shmem_barrier_all();
    return 1;
}
