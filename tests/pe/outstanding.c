/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a million puts (or as many as 10 s are enough for), 100000 puts of
 * the other PE, 100000 gets and 100000 fetching atomics may be under way at once;
 * all are done after quiet, and nothing but them.
 * PEs: 2
 * Ppn: 2/1 2/1:SHMEM_OFI_AMO=message */
#include "budget.h"
#include "off_node.h"

enum { PUTS = 1000000, GETS = 100000, BACK = 100000, ADDS = 100000 };

static uint64_t *words, *local, total;
static int me, other;
#define PUTS_S 10
static int puts_made = PUTS;    /* by PE 0, which sends it to the other */

static uint64_t value(int pe, uint64_t i)
{
    return i * 0x9e3779b97f4a7c15 + (uint64_t)pe;
}

static void report(const char *what, int n, double begin)
{
    printf("%d %s of PE %d: %.2f us each\n", n, what, me,
           (now() - begin) / n * 1e6);
}

static void put_all(void)
{
    double begin = now();

    for (int i = 0; i < puts_made; i++)
        local[i] = value(me, (uint64_t)i);
    for (int i = 0; i < puts_made; i++) {
        shmem_uint64_put_nbi(&words[i], &local[i], 1, other);
        if (i % 1024 == 1023 && now() - begin > PUTS_S)
            puts_made = i + 1;
    }
    shmem_int_p(&puts_made, puts_made, other);
    shmem_quiet();
    report("puts", puts_made, begin);
    T_EQ(shmem_uint64_g(&words[puts_made - 1], other),
         value(me, (uint64_t)puts_made - 1));
}

T(a_million_puts)
{
    shmem_barrier_all();
    if (me == 0)
        put_all();
    shmem_barrier_all();
    for (int i = 0; i < PUTS; i++)
        T_EQ(words[i], me && i < puts_made ? value(0, (uint64_t)i) : 0);
    T_EQ(words[PUTS], 0);
}

T(puts_of_the_other_pe)
{
    double begin = now();

    shmem_barrier_all();        /* the words have been compared */
    if (me == 1) {
        for (int i = 0; i < BACK; i++)
            local[i] = value(me, (uint64_t)i);
        for (int i = 0; i < BACK; i++)
            shmem_uint64_put_nbi(&words[i], &local[i], 1, other);
        shmem_quiet();
        report("puts", BACK, begin);
    }
    shmem_barrier_all();
    for (int i = 0; me == 0 && i <= BACK; i++)
        T_EQ(words[i], i < BACK ? value(1, (uint64_t)i) : 0);
    if (me == 0)
        memset(words, 0, BACK * sizeof *words);
    shmem_barrier_all();
}

T(many_gets)
{
    double begin = now();

    if (me == 0) {
        memset(local, 0, PUTS * sizeof *local);
        for (int i = 0; i < GETS; i++)
            shmem_uint64_get_nbi(&local[i], &words[GETS - 1 - i], 1, other);
        shmem_quiet();
        report("gets", GETS, begin);
        for (int i = 0, from = GETS - 1; i < GETS; i++, from--)
            T_EQ(local[i], from < puts_made ? value(0, (uint64_t)from) : 0);
        T_EQ(local[GETS], 0);
    }
    shmem_barrier_all();
}

/* Each old value of the counter is fetched by one of them: it is seen once. */
T(many_fetching_adds)
{
    uint8_t *seen = calloc(2 * ADDS, 1);
    double begin = now();

    for (int i = 0; i < ADDS; i++)
        shmem_uint64_atomic_fetch_add_nbi(&local[i], &total, 1, 0);
    shmem_quiet();
    report("fetching adds", ADDS, begin);
    for (int i = 0; i < ADDS && T_LT(local[i], 2 * ADDS); i++)
        T_EQ(seen[local[i]]++, 0);
    shmem_barrier_all();
    T_EQ(total, me ? 0 : 2 * ADDS);
    free(seen);
    shmem_barrier_all();        /* the next one adds to it */
}

/* Nothing is moved, not even an address looked at. */
T(nothing_is_no_operation)
{
    for (int pe = 0; pe < 2; pe++) {
        shmem_putmem(words, local, 0, pe);
        shmem_putmem_nbi(NULL, NULL, 0, pe);
        shmem_getmem(local, words, 0, pe);
        shmem_uint64_get_nbi(NULL, NULL, 0, pe);
        shmem_uint64_iput(words, local, 2, 1, 0, pe);
        shmem_uint64_iget(local, words, 1, 2, 0, pe);
        shmem_uint64_ibput(words, local, 2, 1, 3, 0, pe);
        shmem_putmem_signal(NULL, NULL, 0, &total, 0, SHMEM_SIGNAL_ADD, pe);
    }
    shmem_quiet();
    shmem_barrier_all();
    T_EQ(total, me ? 0 : 2 * ADDS);
    T_EQ(words[0], me ? value(0, 0) : 0);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    other = 1 - me;
    T_PE(me);
    if (getenv("SHMEM_OFI_AMO"))        /* they are put as without it */
        puts_made = GETS;
    words = shmem_calloc(PUTS + 1, sizeof *words);
    local = calloc(PUTS, sizeof *local);
    T_TRUE(words && local);
    T_RUN(a_million_puts);
    T_RUN(puts_of_the_other_pe);
    T_RUN(many_gets);
    T_RUN(many_fetching_adds);
    T_RUN(nothing_is_no_operation);
    free(local);
    shmem_finalize();
    return T_DONE();
}
