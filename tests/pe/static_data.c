/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: static data of the program is symmetric, with the values and
 * the addresses that it had before shmem_init; constants are not.
 * PEs: 1 2 4
 * Ppn: 4/2 */
#include "../t.h"

#include <shmem.h>
#include <sys/wait.h>

enum { LARGE = 64 << 20, N = 1000 };

static long in_data = 17, in_bss;
static long around[3] = { 1, 2, 3 };
static char aligned[64] __attribute__((aligned(4096))) = "at a page";
static char large[LARGE];
static const long constant = 99;
static _Thread_local long of_thread = 5;
int global_array[N] = { 1, 2, 3 };
double global_bss[N];
static uint64_t signal_word;

static int answer(int x)
{
    return x + 42;
}

/* The loader fills these in, some of them in pages it protects later. */
static int (*function)(int) = answer;
static long *to_data = &in_data, *to_bss = &in_bss;
static int *past_the_middle = &global_array[N / 2];
static const char *text = "a word";
static const char *const words[] = { "zero", "one", "two" };
static struct node {
    struct node *next;
    int value;
} third = { NULL, 3 }, second = { &third, 2 }, first = { &second, 1 };

static int me, n_pes, next, before;

static long *counter_of_function(void)
{
    static long counter = 1000;

    return &counter;
}

static long shmem_kib(void)
{
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "RssShmem:", 9))
            kib = strtol(line + 9, NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

static void expect_pointers(void)
{
    int sum = 0;

    T_EQ(function(1), 43);
    T_TRUE(to_data == &in_data && to_bss == &in_bss);
    T_TRUE(past_the_middle == global_array + N / 2);
    T_STR(text, "a word");
    T_STR(words[2], "two");
    for (struct node *n = &first; n; n = n->next)
        sum += n->value;
    T_EQ(sum, 6);
}

T(values_survive_init)
{
    T_EQ(in_data, 18);          /* changed before init */
    T_EQ(in_bss, 7);
    T_EQ(around[0] + around[1] + around[2], 6);
    T_STR(aligned, "at a page");
    T_EQ(constant, 99);
    T_EQ(global_array[2] + global_array[3] + global_array[N - 1], 3);
    T_EQ(global_bss[N - 1], 0);
    T_EQ(large[0], 'a');
    T_EQ(large[LARGE - 1], 'z');
    T_EQ(large[LARGE / 2], 0);
    T_EQ(*counter_of_function(), 1000);
    T_EQ(of_thread, 6);
    expect_pointers();
    fflush(stdout);             /* stdout itself may be a copy in .bss */
}

T(a_large_bss_takes_no_memory_unused)
{
    T_LE(0, shmem_kib());
    T_LT(shmem_kib(), 32 << 10);
}

T(what_is_symmetric)
{
    long automatic = 0;

    for (int pe = 0; pe < n_pes; pe++) {
        T_TRUE(shmem_addr_accessible(&in_data, pe));
        T_TRUE(shmem_addr_accessible(&in_bss, pe));
        T_TRUE(shmem_addr_accessible(counter_of_function(), pe));
        T_TRUE(shmem_addr_accessible(aligned, pe));
        T_TRUE(shmem_addr_accessible(large, pe));
        T_TRUE(shmem_addr_accessible(&large[LARGE - 1], pe));
        T_TRUE(shmem_addr_accessible(&global_array[N - 1], pe));
        T_TRUE(shmem_addr_accessible(&global_bss[N - 1], pe));
        T_TRUE(!shmem_addr_accessible(&constant, pe));
        T_TRUE(!shmem_addr_accessible("literal", pe));
        T_TRUE(!shmem_addr_accessible(words, pe));
        T_TRUE(!shmem_addr_accessible(&automatic, pe));
        T_TRUE(!shmem_addr_accessible(&of_thread, pe));
        T_TRUE(!shmem_addr_accessible((const void *)(uintptr_t)answer, pe));
    }
}

/* Every kind of place, written by the PE before and read from the next. */
T(puts_and_gets)
{
    int many[N];
    char page[64];

    shmem_barrier_all();
    shmem_long_p(&in_data, 100 + me, next);
    shmem_long_p(&around[1], 200 + me, next);
    shmem_long_put(counter_of_function(), &(long){ 300 + me }, 1, next);
    snprintf(page, sizeof page, "from PE %d", me);
    shmem_putmem(aligned, page, sizeof page, next);
    for (int i = 0; i < N; i++)
        many[i] = me * N + i;
    shmem_int_put_nbi(global_array, many, N, next);
    for (int i = 0; i < N; i++)
        shmem_double_p(&global_bss[i], me + i / 1024.0, next);
    shmem_putmem(&large[LARGE - sizeof page], page, sizeof page, next);
    shmem_char_p(&large[LARGE / 2], (char)('A' + me), next);
    shmem_long_iput(&around[0], &(long){ 400 + me }, 2, 1, 1, next);
    shmem_barrier_all();
    T_EQ(in_data, 100 + before);
    T_EQ(around[0], 400 + before);
    T_EQ(around[1], 200 + before);
    T_EQ(around[2], 3);
    T_EQ(*counter_of_function(), 300 + before);
    snprintf(page, sizeof page, "from PE %d", before);
    T_STR(aligned, page);
    T_STR(&large[LARGE - sizeof page], page);
    T_EQ(large[LARGE / 2], 'A' + before);
    T_EQ(large[LARGE / 2 + 1], 0);
    for (int i = 0; i < N; i++) {
        T_EQ(global_array[i], before * N + i);
        T_EQ(global_bss[i], before + i / 1024.0);
    }

    T_EQ(shmem_long_g(&in_data, next), 100 + me);
    T_EQ(shmem_long_g(counter_of_function(), next), 300 + me);
    shmem_int_get(many, global_array, N, next);
    T_EQ(many[N - 1], me * N + N - 1);
    shmem_getmem(page, &large[LARGE - sizeof page], sizeof page, next);
    T_EQ(page[8], '0' + me);
    if (shmem_ptr(&in_data, next))
        T_EQ(*(long *)shmem_ptr(&in_data, next), 100 + me);
    expect_pointers();
}

T(atomics_waits_and_signals)
{
    long sum = 0;

    in_bss = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) {
        sum += pe + 1;
        shmem_long_atomic_add(&in_bss, me + 1, pe);
        shmem_int_atomic_inc(&global_array[N - 1], pe);
    }
    shmem_long_wait_until(&in_bss, SHMEM_CMP_EQ, sum);
    shmem_barrier_all();
    T_EQ(shmem_long_atomic_fetch(&in_bss, next), sum);
    T_EQ(global_array[N - 1], before * N + N - 1 + n_pes);
    shmem_char_put_signal(&large[4096], "ready", 6, &signal_word, 3,
                          SHMEM_SIGNAL_SET, next);
    T_EQ(shmem_signal_wait_until(&signal_word, SHMEM_CMP_NE, 0), 3);
    T_STR(&large[4096], "ready");
}

/* A fork takes the pages away for a moment; peers must not notice. */
T(symmetric_after_a_fork)
{
    int status = -1;
    pid_t child;

    shmem_barrier_all();
    child = fork();
    if (child == 0) {
        in_data = -1;
        _exit(in_data == -1 && large[LARGE / 2] == 'A' + before ? 0 : 9);
    }
    shmem_long_p(&in_data, 500 + me, next);
    waitpid(child, &status, 0);
    shmem_barrier_all();
    T_EQ(status, 0);
    T_EQ(in_data, 500 + before);
    T_EQ(shmem_long_g(&in_data, next), 500 + me);
    shmem_barrier_all();
}

int main(void)
{
    in_data++;
    in_bss = 7;
    of_thread++;
    large[0] = 'a';
    large[LARGE - 1] = 'z';
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    before = (me + n_pes - 1) % n_pes;
    T_PE(me);
    T_RUN(values_survive_init);
    T_RUN(a_large_bss_takes_no_memory_unused);
    T_RUN(what_is_symmetric);
    T_RUN(puts_and_gets);
    T_RUN(atomics_waits_and_signals);
    T_RUN(symmetric_after_a_fork);
    shmem_finalize();
    T_EQ(in_data, 500 + before);        /* private again, but not lost */
    expect_pointers();
    return T_DONE();
}
