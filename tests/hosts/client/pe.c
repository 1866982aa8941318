/* SPDX-License-Identifier: BSD-3-Clause */
/* pe.c - a PE that does what its last argument says, after it has reached all
 * others by memory, in the heap and by name. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long sum, inbox = -1;

static int reach(int me, int n)
{
    long *heap = shmem_malloc(sizeof(*heap));
    long want = (long)n * (n + 1) / 2;
    int ok;

    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(&sum, me + 1, pe);
    shmem_long_p(heap, me, (me + 1) % n);
    shmem_long_p(&inbox, me, (me + 1) % n);
    shmem_barrier_all();
    ok = sum == want && *heap == (me + n - 1) % n && inbox == *heap &&
         shmem_long_g(heap, (me + 1) % n) == me;
    shmem_barrier_all();
    sum = 0;
    shmem_free(heap);
    return ok;
}

int main(int argc, char **argv)
{
    const char *word = argv[argc - 1];
    int me, n, status = 0;
    char host[256];

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    gethostname(host, sizeof(host));
    if (!reach(me, n)) {
        printf("PE %d of %d (%s) has wrong data\n", me, n, host);
        status = 9;
    } else if (!strcmp(word, "sum")) {
        printf("%d of %d on %s\n", me, n, host);
    } else if (!strcmp(word, "word")) {
        printf("%s\n", getenv("V") ? getenv("V") : "V is not set");
    } else if (!strcmp(word, "status")) {
        status = me == n - 1 ? 7 : 0;
    } else if (!strcmp(word, "misuse") && me == n - 1) {
        shmem_long_p(&inbox, 1, 1000);
    } else if (!strcmp(word, "global") && me == n - 1) {
        shmem_global_exit(5);
    } else if (!strcmp(word, "killed") && me == n - 1) {
        raise(SIGKILL);
    }
    if (!strcmp(word, "global") || !strcmp(word, "killed") ||
        !strcmp(word, "misuse"))
        shmem_long_wait_until(&sum, SHMEM_CMP_EQ, 77);  /* never */
    shmem_finalize();
    return status;
}
