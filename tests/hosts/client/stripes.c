/* SPDX-License-Identifier: BSD-3-Clause */
/* stripes BYTES COUNT HOW - PE 0 puts that to PE 1 so often, which looks at
 * each byte.  HOW: "put"; "get": it gets; "slow": with a pause after each;
 * "stop": with signals, while PE 1 is stopped; "kill": PE 1 is killed meanwhile; "forever": until the job is ended. */
#include "../../await_state.h"

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

/* A put with a signal leaves its end to others, so that it returns although
 * PE 1 takes nothing. */
static void put_to_stopped(unsigned char *to, const unsigned char *from,
                           size_t n, int me)
{
    static uint64_t arrived;
    static long pid_of;

    if (me == 1)
        shmem_long_p(&pid_of, getpid(), 0);
    shmem_barrier_all();
    if (me == 1)
        raise(SIGSTOP);
    if (me == 0) {
        await_state(pid_of, 'T');
        for (int i = 0; i < 4; i++)
            shmem_putmem_signal_nbi(to, from, n, &arrived, 1,
                                    SHMEM_SIGNAL_ADD, 1);
        puts("went on");
        fflush(stdout);
        kill((pid_t)pid_of, SIGCONT);
        shmem_quiet();
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 4);
        if (wrong(to, n, 3))
            puts("the signal came before the bytes");
    }
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
        if (strcmp(how, "get"))
            shmem_putmem_nbi(to, from, n, 1);
        else
            shmem_getmem_nbi(from, to, n, 1);
        if (i % 4 == 3)
            shmem_quiet();
        if (!strcmp(how, "slow"))
            usleep(100000);
    }
    if (!strcmp(how, "stop"))
        put_to_stopped(to, from, n, me);
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
    free(from);
    shmem_finalize();
    return bad != 0;
}
