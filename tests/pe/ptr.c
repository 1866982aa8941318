/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_ptr gives the place where loads and stores reach a
 * PE's copy of an object, for heap and static data up to the last byte, and
 * NULL for all that is not symmetric; the queries agree with it.
 * PEs: 1 2 4 */
#include "../t.h"

#include <shmem.h>

#include <sys/mman.h>

enum { WORDS = 3000 };

static uint64_t bss_words[WORDS];
static uint64_t data_words[WORDS] = { 5 };
static char first_of_its_kind = 'x';
static const uint64_t constant = 1;
uint64_t common_word;
static uint64_t *heap_words, *source;
static int me, n_pes;

static uint64_t value(int pe, int by, size_t i)
{
    return (uint64_t)pe << 40 | (uint64_t)by << 20 | i;
}

/* Every PE writes its share of every PE's words by stores, and then reads the
 * others' shares by loads. */
static void share(uint64_t *words, size_t n)
{
    uint64_t *there;

    shmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) {
        there = shmem_ptr(words, pe);
        if (!T_TRUE(there))
            return;
        if (pe == me)
            T_TRUE(there == words);
        for (size_t i = (size_t)me; i < n; i += (size_t)n_pes)
            there[i] = value(pe, me, i);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < n; i++)
        T_EQ(words[i], value(me, (int)(i % (size_t)n_pes), i));
    for (int pe = 0; pe < n_pes; pe++) {
        there = shmem_ptr(words, pe);
        for (size_t i = 0; i < n; i += 7) {
            T_EQ(there[i], value(pe, (int)(i % (size_t)n_pes), i));
            T_EQ(shmem_uint64_g(&words[i], pe), there[i]);
        }
    }
    shmem_barrier_all();
}

T(loads_and_stores_reach_the_other_copy)
{
    share(heap_words, WORDS);
    share(bss_words, WORDS);
    share(data_words, WORDS);
    share(&common_word, 1);
}

/* What a put brings is seen through the pointer, and what is stored through
 * it by get and by the owner's wait. */
T(pointers_and_operations_meet_in_one_place)
{
    int next = (me + 1) % n_pes;
    uint64_t *there = shmem_ptr(&heap_words[7], next);

    heap_words[7] = 0;
    shmem_barrier_all();
    shmem_uint64_p(&heap_words[7], 100 + (uint64_t)me, next);
    shmem_quiet();
    T_EQ(*there, 100 + (uint64_t)me);
    shmem_uint64_atomic_add(&heap_words[7], 1, next);
    T_EQ(__atomic_fetch_add(there, 1, __ATOMIC_ACQ_REL), 101 + (uint64_t)me);
    T_EQ(shmem_uint64_g(&heap_words[7], next), 102 + (uint64_t)me);
    __atomic_store_n(there, 7, __ATOMIC_RELEASE);
    shmem_uint64_wait_until(&heap_words[7], SHMEM_CMP_EQ, 7);
    shmem_barrier_all();
}

T(a_pointer_into_an_object_keeps_its_distance)
{
    char *begin, *heap = (char *)heap_words, *data = (char *)bss_words;

    for (int pe = 0; pe < n_pes; pe++) {
        begin = shmem_ptr(heap, pe);
        T_TRUE(shmem_ptr(heap + 1, pe) == begin + 1);
        T_TRUE(shmem_ptr(heap + WORDS * 8 - 1, pe) == begin + WORDS * 8 - 1);
        begin = shmem_ptr(data, pe);
        T_TRUE(shmem_ptr(data + 12345, pe) == begin + 12345);
        T_TRUE(shmem_ptr(&first_of_its_kind, pe));
        T_TRUE(shmem_team_ptr(SHMEM_TEAM_WORLD, heap, pe) ==
               shmem_ptr(heap, pe));
    }
    T_TRUE(shmem_team_ptr(SHMEM_TEAM_INVALID, heap, 0) == NULL);
}

/* ---- What is no symmetric address, or no PE ---- */

static void no_place(const void *p)
{
    for (int pe = 0; pe < n_pes; pe++) {
        T_TRUE(shmem_ptr(p, pe) == NULL);
        T_EQ(shmem_addr_accessible(p, pe), 0);
    }
}

T(other_memory_has_no_place)
{
    void *elsewhere = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int local = 0, *block = malloc(sizeof *block);

    no_place(&local);
    no_place(block);
    no_place(elsewhere);
    no_place(NULL);
    no_place((void *)8);
    no_place((void *)UINTPTR_MAX);
    no_place((void *)(uintptr_t)no_place);
    no_place(&constant);
    no_place(stderr);           /* of a shared object */
    free(block);
    munmap(elsewhere, 4096);
}

T(no_other_number_is_a_pe)
{
    static const int bad[] = { -1, INT_MIN, INT_MAX };

    for (int i = 0; i < 4; i++) {
        int pe = i < 3 ? bad[i] : n_pes;

        T_EQ(shmem_pe_accessible(pe), 0);
        T_EQ(shmem_addr_accessible(heap_words, pe), 0);
        T_TRUE(shmem_ptr(heap_words, pe) == NULL);
        T_TRUE(shmem_team_ptr(SHMEM_TEAM_WORLD, heap_words, pe) == NULL);
    }
}

T(the_queries_agree)
{
    for (int pe = 0; pe < n_pes; pe++) {
        T_EQ(shmem_pe_accessible(pe), 1);
        T_EQ(shmem_addr_accessible(heap_words, pe), 1);
        T_EQ(shmem_addr_accessible((char *)heap_words + 13, pe), 1);
        T_EQ(shmem_addr_accessible(bss_words, pe), 1);
        T_EQ(shmem_addr_accessible(&data_words[WORDS - 1], pe), 1);
        T_EQ(shmem_addr_accessible(&common_word, pe), 1);
    }
}

/* The pointer is for loads and stores; it is no symmetric address itself,
 * but may well be the local side of an operation. */
T(a_peers_copy_is_good_as_a_source)
{
    int next = (me + 1) % n_pes, after = (me + 2) % n_pes;
    uint64_t *there = shmem_ptr(source, next);

    if (next != me) {
        T_TRUE(shmem_ptr(there, me) == NULL);
        T_EQ(shmem_addr_accessible(there, me), 0);
    }
    for (int i = 0; i < 100; i++)
        source[i] = value(me, 0, (size_t)i);
    shmem_barrier_all();
    /* From the next PE's copy to the one after it. */
    shmem_put64(&heap_words[100], there, 100, after);
    shmem_barrier_all();
    for (int i = 0; i < 100; i++)
        T_EQ(heap_words[100 + i],
             value((me + n_pes - 1) % n_pes, 0, (size_t)i));
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    heap_words = shmem_malloc(WORDS * sizeof *heap_words);
    source = shmem_malloc(100 * sizeof *source);
    T_EQ(data_words[0], 5);
    T_EQ(first_of_its_kind, 'x');
    T_RUN(loads_and_stores_reach_the_other_copy);
    T_RUN(pointers_and_operations_meet_in_one_place);
    T_RUN(a_pointer_into_an_object_keeps_its_distance);
    T_RUN(other_memory_has_no_place);
    T_RUN(no_other_number_is_a_pe);
    T_RUN(the_queries_agree);
    T_RUN(a_peers_copy_is_good_as_a_source);
    shmem_free(source);
    shmem_free(heap_words);
    shmem_finalize();
    return T_DONE();
}
