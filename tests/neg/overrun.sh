#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: under SHMEM_CHECK, bytes that a PE stores or puts before or past
# a block of the heap end the job with the block, at a free, a barrier or the
# end; without it blocks lie beside each other as ever.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(int argc, char **argv)
{
    const char *word = argv[1];
    char *a, *b, *c, zeros[32] = { 0 };
    int me;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    a = shmem_malloc(100);
    b = shmem_align(4096, 5000);
    c = shmem_calloc(7, 3);
    if (!strcmp(word, "good")) {
        memset(a, 0, 100);
        memset(b, 0, 5000);
        memset(c, 0, 21);
        shmem_barrier_all();
        for (int i = 1; i < 300; i++) {
            char *p = shmem_malloc((size_t)i * 37), *q;

            memset(p, 0, (size_t)i * 37);
            q = shmem_realloc(i % 2 ? p : c, (size_t)i * 50);
            if (i % 2 == 0)
                c = q;
            else
                p = q;
            memset(q, 0, (size_t)i * 50);
            if (i % 3)
                shmem_free(p);
            shmem_barrier_all();
        }
    }
    /* More than half of the heap: there is no room for a second one. */
    CASE(shrinks) {
        size_t full = 40 << 20;
        char *big = shmem_malloc(full);

        for (size_t size = full; size > full / 2; size -= 1000003) {
            char *now = shmem_realloc(big, size);

            if (now != big)
                printf("%p of %zu bytes is at %p\n", big, size, now);
            memset(now, 0, size);
            shmem_barrier_all();
        }
        big = shmem_realloc(big, 1000);
        c = shmem_malloc(full);         /* what it has given back */
        if (!c)
            printf("nothing was given back\n");
        memset(c, 0, full);
        shmem_barrier_all();
        big[1000] = 0;
    }
    CASE(store) memset(a + 96, 0, me ? 12 : 4);
    CASE(one) a[100] = 0;
    CASE(put) shmem_putmem(a + 100, zeros, me ? 0 : 32, 1);
    /* Zones copied over zones: of another block, and of another PE. */
    CASE(copied) {
        char *d = shmem_malloc(64), *e = shmem_malloc(64);

        shmem_putmem(e, d, 72, me);
    }
    CASE(own) shmem_putmem(a, a, 108, 1 - me);
    CASE(under) b[-3] = 0;
    CASE(free) {
        b[5000] = 0;
        shmem_free(b);
    }
    CASE(moves) {
        c[21] = 0;
        c = shmem_realloc(c, 4000);
    }
    CASE(ends) {
        shmem_barrier_all();
        c[21] = 0;
        shmem_finalize();
        return 0;
    }
    CASE(near) printf("%d\n", (int)(c - a));
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C

# overrun WORD CALL SIZE BYTES WHERE: one PE or more say so.
overrun()
{
    SHMEM_CHECK=1 try 2 ./bad "$1"
    [ "$status" -ne 0 ] || fail "$1: goes on"
    grep -qE "$2: the block of $3 bytes at 0x[0-9a-f]+ was overrun by $4 bytes? $5, by a store of this PE or a put of a peer .*\\[S-E-OVERRUN\\]|$2: the block of $3 bytes at 0x[0-9a-f]+ was overrun by $4 bytes? $5, by a store of this PE or a put of a peer \\[S-E-OVERRUN\\]" "$err" ||
        fail "$1: $(cat "$err")"
}

overrun store shmem_barrier_all 100 8 'past its end'
overrun one shmem_barrier_all 100 1 'past its end'
overrun put shmem_barrier_all 100 32 'past its end'
overrun copied shmem_barrier_all 64 8 'past its end'
overrun own shmem_barrier_all 100 8 'past its end'
overrun under shmem_barrier_all 5000 3 'before its start'
overrun free shmem_free 5000 1 'past its end'
overrun moves shmem_realloc 21 1 'past its end'
SHMEM_SYMMETRIC_SIZE=64m
export SHMEM_SYMMETRIC_SIZE
overrun shrinks shmem_barrier_all 1000 1 'past its end'
unset SHMEM_SYMMETRIC_SIZE
overrun ends shmem_finalize 21 1 'past its end'
SHMEM_CHECK=1 try 2 ./bad good
ended 0 good
for word in one put under ends; do
    try 2 ./bad $word
    ended 0 "$word without SHMEM_CHECK"
done
finish overruns
