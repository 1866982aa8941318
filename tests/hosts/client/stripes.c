/* SPDX-License-Identifier: BSD-3-Clause */
/* stripes BYTES COUNT HOW - PE 0 puts that to PE 1 so often, which looks at
 * each byte.  HOW: "put"; "slow": with a pause after each; "kill": PE 1 is
 * killed meanwhile; "forever": until the job is ended. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t wrong(const unsigned char *p, size_t n, int key)
{
    size_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += p[i] != (unsigned char)(i + (i >> 8) + (size_t)key);
    return bad;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1 << 20, bad;
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    const char *how = argc > 3 ? argv[3] : "put";
    unsigned char *to, *from = malloc(n);
    double begin;
    int me;

    shmem_init();
    me = shmem_my_pe();
    to = shmem_calloc(n, 1);
    for (size_t i = 0; i < n; i++)
        from[i] = (unsigned char)(i + (i >> 8) + 3);
    /* The first large one makes the connections. */
    for (int i = 0; me == 0 && n >= 32768 && i < 3; i++) {
        shmem_putmem(to, from, n, 1);
        usleep(100000);
    }
    shmem_barrier_all();
    if (me == 0)
        puts("go");
    fflush(stdout);
    begin = seconds();
    for (long i = 0; me == 0 && (i < count || !strcmp(how, "forever")); i++) {
        shmem_putmem_nbi(to, from, n, 1);
        if (i % 4 == 3)
            shmem_quiet();
        if (!strcmp(how, "slow"))
            usleep(100000);
    }
    if (me == 1 && !strcmp(how, "kill")) {
        usleep(100000);
        raise(SIGKILL);
    }
    shmem_quiet();
    if (me == 0)
        printf("%zu bytes, %.1f MB/s\n", n, (double)n * (double)count / 1e6 /
                                            (seconds() - begin));
    shmem_barrier_all();
    bad = me == 1 ? wrong(to, n, 3) : 0;
    if (bad)
        printf("%zu bytes are wrong\n", bad);
    shmem_finalize();
    return bad != 0;
}
