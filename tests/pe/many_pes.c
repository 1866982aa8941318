/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: far more PEs than cores still exchange everything: rings,
 * all-to-all puts, gets and sums, barriers between, and waits in a chain
 * through all PEs.
 * PEs: 16 */
#include "budget.h"

enum { ROUNDS = 1000, BARRIERS = 2000, WORDS = 256 };
#define STEPS_S 0.5

static uint64_t from_each[64][2];
static uint64_t token, total, arrived;
static uint64_t *blocks, *source;
static int me, n_pes, next, last;

static uint64_t value(int from, int to, uint64_t round)
{
    return (uint64_t)from << 48 | (uint64_t)to << 32 | round;
}

/* Each puts to the next, round after round; even and odd rounds have words of
 * their own, so that one barrier a round is enough. */
T(a_ring_of_puts_arrives_each_round)
{
    for (uint64_t r = 1; r <= ROUNDS && in_time(r, STEPS_S); r++) {
        from_each[last][(r + 1) % 2] = 0;
        shmem_uint64_p(&from_each[me][r % 2], value(me, next, r), next);
        shmem_barrier_all();
        T_EQ(from_each[last][r % 2], value(last, me, r));
    }
}

/* A token through all PEs: only one of them can go on at a time. */
T(a_token_visits_everybody)
{
    uint64_t rounds = 0;

    token = 0;
    shmem_barrier_all();
    for (uint64_t r = 1; r <= ROUNDS && in_time(r, STEPS_S); r++) {
        if (me)
            shmem_uint64_wait_until(&token, SHMEM_CMP_EQ, r);
        shmem_uint64_p(&token, r, next);
        if (me == 0)
            shmem_uint64_wait_until(&token, SHMEM_CMP_EQ, r);
        rounds = r;
    }
    shmem_barrier_all();
    T_EQ(token, rounds);
}

T(all_to_all_puts_leave_every_block_in_its_place)
{
    for (uint64_t r = 1; r <= ROUNDS / 4 && in_time(r, STEPS_S); r++) {
        for (int k = 0; k < n_pes; k++) {
            int pe = (me + k) % n_pes;
            uint64_t *s = source + pe * WORDS;

            for (uint64_t i = 0; i < WORDS; i++)
                s[i] = value(me, pe, r * 1000 + i);
            if (k % 2)
                shmem_put64(blocks + me * WORDS, s, WORDS, pe);
            else
                shmem_putmem_nbi(blocks + me * WORDS, s, WORDS * 8, pe);
        }
        shmem_barrier_all();
        for (int pe = 0; pe < n_pes; pe++)
            for (uint64_t i = 0; i < WORDS; i++)
                T_EQ(blocks[(uint64_t)pe * WORDS + i],
                     value(pe, me, r * 1000 + i));
        shmem_barrier_all();
    }
}

/* After the last test's barrier: each block of each PE, fetched. */
T(all_to_all_gets_find_them)
{
    static uint64_t got[WORDS];

    for (int pe = 0; pe < n_pes; pe++)
        for (int from = 0; from < n_pes; from++) {
            shmem_getmem(got, blocks + from * WORDS, sizeof got, pe);
            for (uint64_t i = 0; i < WORDS; i++)
                T_EQ(got[i] >> 32, value(from, pe, 0) >> 32);
        }
    shmem_barrier_all();
}

T(no_pe_leaves_a_barrier_before_all_have_come)
{
    shmem_barrier_all();
    for (uint64_t r = 1; r <= BARRIERS && in_time(r, STEPS_S); r++) {
        shmem_uint64_atomic_inc(&arrived, (int)(r % (uint64_t)n_pes));
        if (r % 2)
            shmem_barrier_all();
        else
            shmem_sync_all();
        T_LE((uint64_t)n_pes * (r / (uint64_t)n_pes),
             shmem_uint64_atomic_fetch(&arrived, 0));
        T_EQ(shmem_uint64_atomic_fetch(&arrived, (int)(r % (uint64_t)n_pes)) %
             (uint64_t)n_pes, 0);
        shmem_sync_all();
    }
}

T(sums_at_everybody_are_exact)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int pe = 0; pe < n_pes; pe++)
            shmem_uint64_atomic_add(&total, (uint64_t)me + 1, pe);
    shmem_barrier_all();
    T_EQ(total, (uint64_t)(ROUNDS * n_pes * (n_pes + 1) / 2));
}

/* Each waits for all the others' flags, which come in any order. */
T(everybody_waits_for_everybody)
{
    uint64_t *flags = shmem_calloc((size_t)n_pes, 8);
    size_t indices[64], found;
    int status[64] = { 0 }, n = 0;

    for (int k = 1; k <= n_pes; k++)
        shmem_uint64_p(&flags[me], (uint64_t)me + 1, (me + k) % n_pes);
    while (n < n_pes) {
        found = shmem_uint64_wait_until_some(flags, (size_t)n_pes, indices,
                                             status, SHMEM_CMP_NE, 0);
        for (size_t i = 0; i < found; i++) {
            T_EQ(flags[indices[i]], indices[i] + 1);
            T_EQ(status[indices[i]]++, 0);
        }
        n += (int)found;
    }
    T_EQ(n, n_pes);
    shmem_free(flags);
}

int main(void)
{
    size_t size;

    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    T_PE(me);
    size = (size_t)n_pes * WORDS * 8;
    blocks = shmem_malloc(size);
    source = shmem_malloc(size);
    T_RUN(a_ring_of_puts_arrives_each_round);
    T_RUN(a_token_visits_everybody);
    T_RUN(all_to_all_puts_leave_every_block_in_its_place);
    T_RUN(all_to_all_gets_find_them);
    T_RUN(no_pe_leaves_a_barrier_before_all_have_come);
    T_RUN(sums_at_everybody_are_exact);
    T_RUN(everybody_waits_for_everybody);
    shmem_finalize();
    return T_DONE();
}
