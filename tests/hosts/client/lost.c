/* SPDX-License-Identifier: BSD-3-Clause */
/* lost.c - PEs that do what the first argument says when the link between them
 * goes down, a second after PE 0 has made the file of the second argument. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long word, data[1024], mine[1024];

int main(int argc, char **argv)
{
    const char *what = argv[1];
    FILE *f;
    int me, other;

    shmem_init();
    me = shmem_my_pe();
    other = !me;
    shmem_long_put(data, mine, 1024, other);
    shmem_barrier_all();
    if (me == 0 && argc > 2 && (f = fopen(argv[2], "w")))
        fclose(f);
    if (argc > 2)
        sleep(1);
    if (!strcmp(what, "none")) {
        shmem_finalize();
        return 0;
    }
    if (!strcmp(what, "barrier") && me == 1)
        sleep(4);
    if (!strcmp(what, "wait"))
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    for (;;) {
        if (!strcmp(what, "put"))
            shmem_long_put(data, mine, 1024, other);
        if (!strcmp(what, "get"))
            shmem_long_get(mine, data, 1024, other);
        if (!strcmp(what, "barrier"))
            break;
        shmem_quiet();
    }
    shmem_barrier_all();
    printf("went on\n");
    shmem_finalize();
    return 0;
}
