/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts of memory that cannot be written, a few bytes and many,
 * blocking and not, with a signal and without.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>
#include <sys/mman.h>

enum { SIZE = 1 << 20 };

static unsigned char there[3 * SIZE];
static const unsigned char *from;
static uint64_t signal;
static int me, peer;

static void check(const unsigned char *at, size_t n, const char *what)
{
    size_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += at[i] != from[i];
    if (wrong)
        printf("PE %d: %s of %zu bytes: %zu are wrong\n", me, what, n, wrong);
    T_EQ(wrong, 0);
}

T(puts_of_read_only_memory)
{
    static const size_t sizes[] = { 1, 200, 5000, 16384, 16385, 100000, SIZE };
    uint64_t rounds = 0;

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];

        memset(there, 0, sizeof there);
        shmem_barrier_all();
        shmem_putmem(there, from, n, peer);
        shmem_putmem_nbi(there + SIZE, from, n, peer);
        shmem_putmem_signal(there + 2 * SIZE, from, n, &signal, ++rounds,
                            SHMEM_SIGNAL_SET, peer);
        shmem_signal_wait_until(&signal, SHMEM_CMP_GE, rounds);
        check(there + 2 * SIZE, n, "a put with a signal");
        shmem_barrier_all();
        check(there, n, "a put");
        check(there + SIZE, n, "a put without waiting");
        shmem_barrier_all();
    }
}

int main(void)
{
    unsigned char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    T_PE(me);
    for (int i = 0; i < SIZE; i++)
        p[i] = (unsigned char)(i * 7 + i / 251);
    T_EQ(mprotect(p, SIZE, PROT_READ), 0);
    from = p;
    T_RUN(puts_of_read_only_memory);
    shmem_finalize();
    return T_DONE();
}
