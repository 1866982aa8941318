/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: copies move exactly the bytes they are given, at every size
 * and alignment, and an aligned word at once. */
#include "unit.h"

#include "base/copy.h"

#include <sched.h>
#include <sys/wait.h>

enum { MOST = 2100, EDGE = 32, ROOM = MOST + 3 * EDGE };

static unsigned char from[ROOM], to[ROOM], want[ROOM];

static void randomise(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)T_RAND();
}

/* The whole room is compared, so that a byte too many shows. */
static void try_copy(size_t n, size_t to_at, size_t from_at)
{
    static int reports;

    memcpy(want + to_at, from + from_at, n);
    copy_bytes(to + to_at, from + from_at, n);
    if (memcmp(to, want, ROOM) && reports++ < 3) {
        fprintf(stderr, "%zu bytes from +%zu to +%zu:\n", n, from_at, to_at);
        T_MEM(to, want, ROOM);
    }
    memset(to + to_at, 0xa5, n);
    memset(want + to_at, 0xa5, n);
}

T(every_size_and_alignment_moves_its_bytes_alone)
{
    static const size_t at[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 31 };
    enum { N = sizeof at / sizeof *at };

    randomise(from, ROOM);
    memset(to, 0xa5, ROOM);
    memset(want, 0xa5, ROOM);
    for (size_t n = 0; n <= MOST; n++)
        for (int d = 0; d < N; d++)
            for (int s = 0; s < N; s++)
                if (n <= 70 || d == s || (d + s + n) % 7 == 0)
                    try_copy(n, EDGE + at[d], EDGE + at[s]);
}

T(large_sizes_arrive_whole)
{
    size_t most = (size_t)9 << 20, n;
    unsigned char *a = malloc(most + 2 * EDGE), *b = malloc(most + 2 * EDGE);

    if (!a || !b) {
        T_TRUE(a && b);
        return;
    }
    randomise(a, 4096);         /* the rest: no period of a power of two */
    for (size_t i = 4096; i < most + 2 * EDGE; i++)
        a[i] = (unsigned char)(a[i - 4093] + 1);
    for (n = 4095; n < most; n = n * 2 + 1) {
        memset(b, 0x5a, most + 2 * EDGE);
        copy_bytes(b + 5, a + 9, n);
        T_EQ(memcmp(b + 5, a + 9, n), 0);
        T_EQ(b[4], 0x5a);
        T_EQ(b[5 + n], 0x5a);
    }
    T_LT((size_t)4 << 20, n / 2);
    free(a);
    free(b);
}

/* ---- words: another process never sees a half ---- */

enum { SAMPLES = 1000000, ROUND = 1000 };
struct shared {
    _Alignas(64) unsigned char word[64];
    _Alignas(64) atomic_bool done;
    atomic_int samples;
};

static uint64_t sample(const unsigned char *word, size_t size)
{
    switch (size) {
    case 2: return __atomic_load_n((uint16_t *)(void *)word, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((uint32_t *)(void *)word, __ATOMIC_RELAXED);
    default: return __atomic_load_n((uint64_t *)(void *)word, __ATOMIC_RELAXED);
    }
}

/* The exit status of the process that watches. */
static int watch(struct shared *s, size_t size)
{
    uint64_t ones = UINT64_MAX >> (64 - 8 * size), v;
    int mixed = 0;

    while (!atomic_load(&s->done)) {
        v = sample(s->word, size);
        mixed |= v != 0 && v != ones;
        atomic_fetch_add(&s->samples, 1);
    }
    return mixed;
}

static void toggle(size_t size)
{
    static unsigned char value[2][16];
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t reader;
    clock_t end;

    if (!T_NE(s, MAP_FAILED))
        return;
    memset(value[1], 0xff, sizeof value[1]);
    reader = fork();
    if (reader == 0) {
        alarm(10);
        _exit(watch(s, size));
    }
    while (atomic_load(&s->samples) == 0)
        sched_yield();
    /* The source need not be aligned. */
    end = clock() + CLOCKS_PER_SEC / 5;     /* of this process's own time */
    while (atomic_load(&s->samples) < SAMPLES && clock() < end)
        for (int i = 0; i < ROUND; i++)
            copy_bytes(s->word, value[i & 1] + 1, size);
    atomic_store(&s->done, true);
    T_EQ(waitpid(reader, &status, 0), reader);
    T_EQ(status, 0);
    munmap(s, sizeof *s);
}

T(an_aligned_word_is_stored_at_once)
{
    toggle(2);
    toggle(4);
    toggle(8);
}

int main(void)
{
    T_RUN(every_size_and_alignment_moves_its_bytes_alone);
    T_RUN(large_sizes_arrive_whole);
    T_RUN(an_aligned_word_is_stored_at_once);
    return T_DONE();
}
