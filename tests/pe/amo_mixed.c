/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: on one word of 4 and one of 8 bytes the owner, the PEs of its
 * node and those of other nodes add, count, compare and swap and change bits
 * at the same time, and no update is lost.
 * PEs: 2 4
 * Ppn: 2/1 4/2:SHMEM_OFI_AMO=nic 4/2:SHMEM_OFI_AMO=message */
#include "budget.h"
#include "off_node.h"

#define PHASE_S 0.25            /* long enough for all to be at it at once */

/* The top bits of a word belong to a PE each, the others are a number. */
static struct {
    uint32_t below, narrow, above;
    uint64_t wide;
} static_words, *heap_words;
static uint64_t added_narrow, added_wide;   /* by all, at PE 0 */
static uint32_t brought[16];
static int me, n_pes;

/* 7 in the number, and a PE's bit set, seen and cleared again.  The PE's own
 * atomics on a word come one after the other where they fetch. */
#define STEP(NAME, T, d, pe)                                                \
    do {                                                                    \
        T bit = (T)1 << (sizeof(T) * 8 - 1 - (unsigned)me % 8), old, seen;  \
                                                                            \
        shmem_##NAME##_atomic_add(d, 3, pe);                                \
        old = shmem_##NAME##_atomic_fetch_or(d, bit, pe);                   \
        T_EQ(old & bit, 0);                                                 \
        shmem_##NAME##_atomic_inc(d, pe);                                   \
        old = shmem_##NAME##_atomic_fetch_inc(d, pe);                       \
        T_EQ(old & bit, bit);                                               \
        while ((seen = shmem_##NAME##_atomic_compare_swap(                  \
                    d, old, old + 1, pe)) != old)                           \
            old = seen;                                                     \
        old = shmem_##NAME##_atomic_fetch_xor(d, bit, pe);                  \
        T_EQ(old & bit, bit);                                               \
        shmem_##NAME##_atomic_or(d, bit, pe);                               \
        shmem_quiet();                                                      \
        old = shmem_##NAME##_atomic_fetch_and(d, (T)~bit, pe);              \
        T_EQ(old & bit, bit);                                               \
        shmem_##NAME##_atomic_fetch_add_nbi(&old, d, 1, pe);                \
        shmem_quiet();                                                      \
        T_EQ(old & bit, 0);                                                 \
    } while (0)

static void narrow_steps(uint32_t *narrow, int home)
{
    uint64_t steps = 0;

    for (double end = now() + PHASE_S; now() < end; steps++)
        STEP(uint32, uint32_t, narrow, home);
    shmem_uint64_atomic_add(&added_narrow, 7 * steps, 0);
    T_LT(0, steps);
}

/* Signals are atomics on such words too. */
static void wide_steps(uint64_t *wide, int home)
{
    uint64_t steps = 0;

    for (double end = now() + PHASE_S; now() < end; steps++) {
        STEP(uint64, uint64_t, wide, home);
        shmem_signal_add(wide, 2, home);
        shmem_putmem_signal(&brought[me], &static_words.below, 4, wide, 1,
                            SHMEM_SIGNAL_ADD, home);
    }
    shmem_uint64_atomic_add(&added_wide, 10 * steps, 0);
    T_LT(0, steps);
}

static void all_at(uint32_t *narrow, uint64_t *wide, int home)
{
    *narrow = 0;
    *wide = 0;
    added_narrow = added_wide = 0;
    shmem_barrier_all();
    narrow_steps(narrow, home);
    shmem_barrier_all();
    wide_steps(wide, home);
    shmem_barrier_all();
    if (me == home) {
        T_EQ(*narrow, (uint32_t)shmem_uint64_g(&added_narrow, 0));
        T_EQ(*wide, shmem_uint64_g(&added_wide, 0));
    }
    T_EQ(shmem_uint32_atomic_fetch(narrow, home),
         (uint32_t)shmem_uint64_g(&added_narrow, 0));
    shmem_barrier_all();
}

T(no_update_is_lost_on_the_heap)
{
    all_at(&heap_words->narrow, &heap_words->wide, 0);
}

T(no_update_is_lost_in_static_data)
{
    all_at(&static_words.narrow, &static_words.wide, n_pes - 1);
    T_EQ(static_words.below, 0);
    T_EQ(static_words.above, 0);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    heap_words = shmem_calloc(1, sizeof *heap_words);
    T_RUN(no_update_is_lost_on_the_heap);
    T_RUN(no_update_is_lost_in_static_data);
    shmem_finalize();
    return T_DONE();
}
