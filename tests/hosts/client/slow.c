/* SPDX-License-Identifier: BSD-3-Clause */
/* slow BYTES - PE 0 moves that to PE 1 and back in each form that there is,
 * while PE 1 waits in a barrier; each byte is compared.  A fence and an atomic
 * behind one that does not block wait as long. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t arrived, word;

static size_t wrong(const unsigned char *p, size_t n, int key)
{
    size_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += p[i] != (unsigned char)(i * 7 + (i >> 10) + (size_t)key);
    return bad;
}

static void fill(unsigned char *p, size_t n, int key)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 7 + (i >> 10) + (size_t)key);
}

static void move(int form, unsigned char *a, unsigned char *b, size_t n)
{
    fill(b, n, form);
    switch (form) {
    case 0:
        shmem_putmem(a, b, n, 1);
        break;
    case 1:
        shmem_putmem_nbi(a, b, n, 1);
        shmem_quiet();
        break;
    case 2:
        shmem_putmem_signal(a, b, n, &arrived, 1, SHMEM_SIGNAL_SET, 1);
        break;
    case 3:
        shmem_uint64_p(&word, 1, 1);
        shmem_putmem_nbi(a, b, n, 1);
        shmem_fence();
        break;
    case 4:
        shmem_putmem_nbi(a, b, n, 1);
        shmem_uint64_atomic_fetch_inc(&word, 1);
        break;
    default:
        shmem_putmem(a, b, n, 1);
        memset(b, 0, n);
        shmem_getmem(b, a, n, 1);
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000, bad = 0;
    unsigned char *a, *b;
    int me;

    shmem_init();
    me = shmem_my_pe();
    a = shmem_malloc(n);
    b = shmem_malloc(n);
    for (int form = 0; form < 6; form++) {
        shmem_barrier_all();
        if (me == 0)
            move(form, a, b, n);
        shmem_barrier_all();
        if (me == 1)
            bad = wrong(a, n, form);
        else if (form == 5)
            bad = wrong(b, n, form);
        if (bad)
            printf("form %d: %zu bytes are wrong\n", form, bad);
    }
    shmem_finalize();
    return bad != 0;
}
