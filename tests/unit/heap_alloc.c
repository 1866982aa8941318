/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the symmetric allocator against a model: blocks never overlap,
 * keep their content, lie where the calls alone say, and join again. */
#include "unit.h"

#include "heap/heap_int.h"

#include <errno.h>

enum { FROM = 1 << 18, SIZE = 5 << 18, GRANULE = 16, IDS = 600, STEPS = 20000 };

static char *memory;            /* of the whole segment */

static void open_arena(char *base, size_t from, size_t to)
{
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)base, to };
    T_EQ(heap_space_open(&heap_default, from, to, HEAP_ALIGN), 0);
}

static struct heap_usage usage(void)
{
    struct heap_usage u;

    heap_usage_get(&heap_default, &u);
    return u;
}

static void *take(size_t size, size_t align)
{
    void *p = NULL;

    T_EQ(heap_alloc(&heap_default, size, align, 0, &p), 0);
    return p;
}

/* Of what is asked for and what it was asked for. */
static struct {
    bool no;
    const void *p;
    size_t size;
} ready;

static bool is_ready(const char *call, const void *p, size_t size)
{
    T_STR(call, "resize");
    ready.p = p;
    ready.size = size;
    return !ready.no;
}

static int resize(void *ptr, size_t size, void **out)
{
    return heap_resize(NULL, ptr, size, is_ready, "resize", out);
}

static size_t offset(const void *p)
{
    return (uintptr_t)p - heap_segs[HEAP_HOST].base;
}

/* ---- the model: who owns each granule, and what is in each block ---- */

static struct {
    unsigned char *ptr;
    size_t size;
    long hints;
} blocks[IDS];
static uint16_t owner[SIZE / GRANULE];
static size_t owned;

static void own(int id, bool yes)
{
    size_t first = (offset(blocks[id].ptr) - FROM) / GRANULE;
    size_t n = (blocks[id].size + GRANULE - 1) / GRANULE;

    for (size_t g = first; g < first + n; g++) {
        if (owner[g] != (yes ? 0 : id + 1))
            T_EQ(owner[g], yes ? 0 : id + 1);
        owner[g] = (uint16_t)(yes ? id + 1 : 0);
    }
    owned = yes ? owned + n * GRANULE : owned - n * GRANULE;
}

static unsigned char mark(int id, size_t i)
{
    return (unsigned char)((size_t)id * 31 + i * 7 + 1);
}

static void fill(int id)
{
    for (size_t i = 0; i < blocks[id].size; i++)
        blocks[id].ptr[i] = mark(id, i);
}

static void check_content(int id, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (blocks[id].ptr[i] != mark(id, i)) {
            T_EQ(blocks[id].ptr[i], mark(id, i));
            return;
        }
}

/* Small sizes most of the time, large ones now and then. */
static size_t some_size(void)
{
    uint64_t r = T_RAND();

    return 1 + (r >> 8) % (r % 16 == 0 ? 100000 : r % 4 == 0 ? 5000 : 200);
}

static void try_alloc(int id)
{
    size_t size = some_size(), align = 0;
    void *p = NULL;

    if (T_RAND() % 4 == 0)
        align = (size_t)8 << T_RAND() % 15;
    blocks[id].hints = (long)(T_RAND() % 4);
    if (heap_alloc(&heap_default, size, align, blocks[id].hints, &p)) {
        T_EQ(p, NULL);
        T_LT(usage().largest_free, size + GRANULE + (align > 64 ? align : 64));
        return;
    }
    T_EQ((uintptr_t)p % (align > GRANULE ? align : GRANULE), 0);
    if (size >= 2048)
        T_EQ((uintptr_t)p % 64, 0);
    T_LE(FROM, offset(p));
    T_LE(offset(p) + size, SIZE);
    blocks[id].ptr = p;
    blocks[id].size = size;
    own(id, true);
    fill(id);
}

static void try_resize(int id)
{
    size_t size = some_size(), was = blocks[id].size;
    void *p = NULL;

    if (resize(blocks[id].ptr, size, &p)) {
        T_EQ(p, NULL);
        T_LT(was, size);
        return;
    }
    own(id, false);
    if (size <= was)
        T_EQ(p, blocks[id].ptr);
    blocks[id].ptr = p;
    blocks[id].size = size;
    own(id, true);
    check_content(id, was < size ? was : size);
    fill(id);
}

static void release(int id)
{
    check_content(id, blocks[id].size);
    own(id, false);
    heap_free(blocks[id].ptr);
    blocks[id].ptr = NULL;
}

static void check_block(int id)
{
    size_t size = 0;
    long hints = -1;

    if (!T_TRUE(heap_block(blocks[id].ptr, &size, &hints)))
        return;
    T_LE(blocks[id].size, size);
    T_LT(size, blocks[id].size + GRANULE);
    T_EQ(hints, blocks[id].hints);
    if (size > GRANULE)
        T_TRUE(!heap_block(blocks[id].ptr + GRANULE, &size, &hints));
    T_TRUE(!heap_block(blocks[id].ptr + 1, &size, &hints));
}

/* All bytes of all blocks are looked at, which takes a sanitizer on a busy
 * machine a minute: the steps end with the time. */
static void run_steps(int steps, int seconds)
{
    time_t end = time(NULL) + seconds;
    int live, id;

    for (int step = 0; step < steps && time(NULL) < end; step++) {
        id = (int)(T_RAND() % IDS);
        if (!blocks[id].ptr)
            try_alloc(id);
        else if (T_RAND() % 3 == 0)
            try_resize(id);
        else
            release(id);
        if (blocks[id].ptr)
            check_block(id);
        if (step % 64)
            continue;
        live = 0;
        for (int i = 0; i < IDS; i++)
            live += blocks[i].ptr != NULL;
        T_EQ(usage().blocks, live);
        T_EQ(usage().used, owned);
        T_LE(usage().used, usage().peak_used);
    }
}

T(random_calls_agree_with_the_model)
{
    open_arena(memory, FROM, SIZE);
    run_steps(STEPS, 10);
    for (int id = 0; id < IDS; id++)
        if (blocks[id].ptr)
            release(id);
    T_EQ(usage().blocks, 0);
    T_EQ(usage().used, 0);
    T_EQ(usage().largest_free, SIZE - FROM);
    T_EQ(offset(take(SIZE - FROM, 0)), FROM);
    T_EQ(usage().largest_free, 0);
    heap_space_close(&heap_default);
}

/* A run of calls as numbers, so that two runs can be compared. */
static void record(char *base, uint64_t seed, size_t *out, int n)
{
    void *p[128] = { NULL };

    open_arena(base, FROM, SIZE);
    for (int i = 0; i < n; i++) {
        int k = (int)((seed = seed * 6364136223846793005u + 1) >> 57);

        out[i] = 0;
        if (p[k]) {
            heap_free(p[k]);
            p[k] = NULL;
        } else if (!heap_alloc(&heap_default, seed >> 20 & 0xffff, seed >> 40 & 1 ? 256 : 0,
                               0, &p[k])) {
            out[i] = offset(p[k]);
        }
    }
    heap_space_close(&heap_default);
}

T(offsets_depend_on_the_calls_alone)
{
    enum { CALLS = 5000 };
    static size_t one[CALLS], two[CALLS];
    uint64_t seed = T_SEED();

    record(memory, seed, one, CALLS);
    /* Another past in between. */
    T_EQ(heap_space_open(&heap_default, 0, 1 << 20, HEAP_ALIGN), 0);
    take(77, 0);
    heap_space_close(&heap_default);
    record(memory + ((size_t)64 << 20), seed, two, CALLS);
    T_MEM(one, two, sizeof one);
}

/* 100,000 blocks in an arena of 103 % of what they ask for.  Nothing is
 * touched, so the addresses need no memory. */
static void fill_tightly(size_t least, size_t most)
{
    enum { BLOCKS = 100000 };
    static size_t sizes[BLOCKS];
    size_t sum = 0, failed = 0;
    void *p;

    for (int i = 0; i < BLOCKS; i++)
        sum += sizes[i] = least + T_RAND() % (most - least + 1);
    open_arena(memory, 0, sum / 100 * 103);
    for (int i = 0; i < BLOCKS; i++)
        failed += heap_alloc(&heap_default, sizes[i], 0, 0, &p) != 0;
    T_EQ(failed, 0);
    T_EQ(usage().blocks, BLOCKS);
    heap_space_close(&heap_default);
}

T(a_hundred_thousand_blocks_cost_three_percent)
{
    fill_tightly(64, 64);
    fill_tightly(256, 2047);
    fill_tightly(2048, 2112);
    fill_tightly(500, 8000);
}

T(freed_neighbours_become_one_block)
{
    void *p[4], *q;

    /* Each order of freeing three neighbours in front of a fourth. */
    for (int order = 0; order < 6; order++) {
        int a = order % 3, b = (a + 1 + order / 3) % 3, c = 3 - a - b;

        open_arena(memory, FROM, SIZE);
        for (int i = 0; i < 4; i++)
            p[i] = take(160, 0);
        heap_free(p[a]);
        heap_free(p[b]);
        heap_free(p[c]);
        q = take(480, 0);
        T_EQ(q, p[0]);          /* best fit: exactly the three */
        heap_free(q);
        heap_free(p[3]);
        T_EQ(usage().largest_free, SIZE - FROM);
        heap_space_close(&heap_default);
    }
}

T(the_smallest_hole_that_fits_is_taken_the_lowest_of_equals)
{
    void *hole[4], *wall;

    open_arena(memory, FROM, SIZE);
    for (int i = 0; i < 4; i++) {
        hole[i] = take(i == 1 ? 640 : 320, 0);
        wall = take(16, 0);
        T_NE(wall, NULL);
    }
    for (int i = 3; i >= 0; i--)
        heap_free(hole[i]);
    T_EQ(take(300, 0), hole[0]);
    T_EQ(take(320, 0), hole[2]);
    T_EQ(take(400, 0), hole[1]);
    heap_space_close(&heap_default);
}

T(what_is_no_live_block_is_recognized_and_left_alone)
{
    char other[64], *p, *q;
    const void *bad[10];
    struct heap_usage was;
    size_t size;
    long hints;

    open_arena(memory, FROM, SIZE);
    p = take(200, 0);
    q = take(200, 0);
    heap_free(q);
    was = usage();
    bad[0] = NULL;
    bad[1] = other;
    bad[2] = memory;            /* reserved words of the segment */
    bad[3] = memory + SIZE;
    bad[4] = memory - 16;
    bad[5] = p + 16;
    bad[6] = p + 1;
    bad[7] = p + 192;
    bad[8] = q;                 /* freed */
    bad[9] = (void *)UINTPTR_MAX;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        void *out = NULL;

        T_TRUE(!heap_block(bad[i], &size, &hints));
        T_EQ(resize((void *)bad[i], 10, &out), -EINVAL);
        T_EQ(out, NULL);
        heap_free((void *)bad[i]);
        T_EQ(usage().blocks, was.blocks);
        T_EQ(usage().used, was.used);
        T_EQ(usage().largest_free, was.largest_free);
    }
    T_TRUE(heap_block(p, &size, &hints));
    heap_space_close(&heap_default);
    T_TRUE(!heap_block(p, &size, &hints));
}

T(what_cannot_be_had_changes_nothing)
{
    void *p = NULL, *full;

    open_arena(memory, FROM, SIZE);
    full = take(SIZE - FROM, 0);
    T_EQ(heap_alloc(&heap_default, 1, 0, 0, &p), -ENOMEM);
    T_EQ(resize(full, SIZE - FROM + 1, &p), -ENOMEM);
    heap_free(full);
    T_EQ(heap_alloc(&heap_default, SIZE - FROM + 1, 0, 0, &p), -ENOMEM);
    T_EQ(heap_alloc(&heap_default, SIZE_MAX, 0, 0, &p), -ENOMEM);
    T_EQ(heap_alloc(&heap_default, SIZE_MAX - 15, 64, 0, &p), -ENOMEM);
    T_EQ(heap_alloc(&heap_default, 8, 2 * HEAP_ALIGN, 0, &p), -EDOM);
    T_EQ(heap_alloc(&heap_default, SIZE - FROM, HEAP_ALIGN, 0, &p), -ENOMEM);
    T_EQ(p, NULL);
    T_EQ(usage().blocks, 0);
    T_EQ(usage().largest_free, SIZE - FROM);
    heap_space_close(&heap_default);
}

T(a_tight_aligned_hole_is_found)
{
    void *p[64], *wall, *aligned = NULL;

    /* Holes of 4 KiB at every residue, one of them at a multiple; the request
     * is too large for a hole that would hold it at any residue. */
    open_arena(memory, FROM, FROM + (size_t)64 * (4096 + 64));
    for (int i = 0; i < 64; i++) {
        p[i] = take(4096, 0);
        wall = take(64, 0);
    }
    T_EQ(usage().largest_free, 0);
    for (int i = 1; i < 64; i++)
        heap_free(p[i]);
    T_NE(wall, NULL);
    T_EQ(heap_alloc(&heap_default, 4096, 4096, 0, &aligned), -ENOMEM);
    heap_free(p[0]);
    T_EQ(heap_alloc(&heap_default, 4096, 4096, 0, &aligned), 0);
    T_EQ(aligned, p[0]);
    heap_space_close(&heap_default);
}

T(a_block_grows_into_the_hole_behind_it)
{
    void *a, *b, *c, *out = NULL;

    open_arena(memory, FROM, SIZE);
    a = take(160, 0);
    b = take(160, 0);
    c = take(160, 0);
    heap_free(b);
    T_EQ(resize(a, 320, &out), 0);
    T_EQ(out, a);
    T_EQ(resize(a, 321, &out), 0);     /* one more: it has to move */
    T_NE(out, a);
    T_EQ(take(320, 0), a);                  /* what it left is whole again */
    T_EQ(resize(c, 16, &out), 0);
    T_EQ(out, c);
    T_EQ(usage().blocks, 3);
    heap_space_close(&heap_default);
}

T(a_block_whose_memory_is_not_to_be_had_stays_as_it_was)
{
    void *a, *b, *out = NULL;
    size_t size;
    long hints;

    open_arena(memory, FROM, SIZE);
    a = take(160, 0);
    b = take(160, 0);
    heap_free(b);
    memset(a, 7, 160);
    ready.no = true;
    T_EQ(resize(a, 320, &out), -ENOBUFS);       /* in place and elsewhere */
    T_NE(ready.p, a);
    T_EQ(ready.size, 320);
    b = take(160, 0);
    T_EQ(offset(b), offset(a) + 160);
    T_EQ(resize(a, 320, &out), -ENOBUFS);       /* elsewhere */
    T_NE(ready.p, a);
    T_EQ(out, NULL);
    T_EQ(usage().blocks, 2);
    T_TRUE(heap_block(a, &size, &hints));
    T_EQ(size, 160);
    T_EQ(resize(a, 80, &out), 0);       /* a smaller one needs none */
    ready.no = false;
    T_EQ(resize(a, 320, &out), 0);
    T_EQ(ready.p, out);
    for (int i = 0; i < 80; i++)
        T_EQ(((char *)out)[i], 7);
    heap_space_close(&heap_default);
}

T(the_room_of_a_block_counts_from_any_address_in_it)
{
    char *a, *b, *c;
    size_t room = 7;

    open_arena(memory, FROM, SIZE);
    a = take(160, 0);
    b = take(64, 0);
    c = take(320, 0);
    heap_free(b);
    T_TRUE(heap_block_rest(a, &room));
    T_EQ(room, 160);
    T_TRUE(heap_block_rest(a + 159, &room));
    T_EQ(room, 1);
    T_TRUE(heap_block_rest(c + 19, &room));
    T_EQ(room, 301);
    T_TRUE(!heap_block_rest(b, &room));
    T_TRUE(!heap_block_rest(b + 63, &room));
    T_TRUE(!heap_block_rest(c + 320, &room));
    T_TRUE(!heap_block_rest(memory, &room));
    T_TRUE(!heap_block_rest(NULL, &room));
    T_EQ(room, 301);
    heap_space_close(&heap_default);
    T_TRUE(!heap_block_rest(a, &room));
}

int main(void)
{
    /* Address space for all; only what the model writes takes memory. */
    memory = mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    memory += -(uintptr_t)memory & (HEAP_ALIGN - 1);
    T_RUN(random_calls_agree_with_the_model);
    T_RUN(offsets_depend_on_the_calls_alone);
    T_RUN(a_hundred_thousand_blocks_cost_three_percent);
    T_RUN(freed_neighbours_become_one_block);
    T_RUN(the_smallest_hole_that_fits_is_taken_the_lowest_of_equals);
    T_RUN(what_is_no_live_block_is_recognized_and_left_alone);
    T_RUN(what_cannot_be_had_changes_nothing);
    T_RUN(a_tight_aligned_hole_is_found);
    T_RUN(a_block_grows_into_the_hole_behind_it);
    T_RUN(a_block_whose_memory_is_not_to_be_had_stays_as_it_was);
    T_RUN(the_room_of_a_block_counts_from_any_address_in_it);
    return T_DONE();
}
