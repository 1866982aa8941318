/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the library's own memory in the heap: what is taken is zeroed,
 * apart from all else, within its bounds, and comes back when given. */
#include "unit.h"

#include "heap/heap_int.h"

enum { FROM = 1 << 18, TO = FROM + (1 << 18), BLOCKS = 200, STEPS = 20000 };

static unsigned char *memory;
static struct {
    unsigned char *ptr;
    size_t size;
} blocks[BLOCKS];

static void take(int i)
{
    size_t size = 1 + T_RAND() % (T_RAND() % 8 ? 300 : 9000);
    unsigned char *p = heap_pool_alloc(size);

    if (!p)
        return;
    T_EQ((uintptr_t)p % 64, 0);
    T_LE(FROM, p - memory);
    T_LE(p + size - memory, TO);
    for (size_t k = 0; k < size; k++)
        if (p[k]) {
            T_EQ(p[k], 0);
            break;
        }
    memset(p, i + 1, size);
    blocks[i].ptr = p;
    blocks[i].size = size;
}

static void give(int i)
{
    unsigned char *p = blocks[i].ptr;

    for (size_t k = 0; k < blocks[i].size; k++)
        if (p[k] != (unsigned char)(i + 1)) {
            T_EQ(p[k], (unsigned char)(i + 1));
            break;
        }
    heap_pool_free(p);
    blocks[i].ptr = NULL;
}

T(random_calls_never_share_a_byte)
{
    int k, refused = 0;

    heap_pool_open(FROM, TO);
    for (int step = 0; step < STEPS; step++) {
        k = (int)(T_RAND() % BLOCKS);
        if (blocks[k].ptr)
            give(k);
        else
            take(k);
        refused += !blocks[k].ptr;
    }
    for (k = 0; k < BLOCKS; k++)
        if (blocks[k].ptr)
            give(k);
    T_LT(0, refused);
    T_EQ(heap_pool_alloc(TO - FROM), memory + FROM);     /* all came back */
    heap_pool_close();
}

T(all_of_it_can_be_had_and_had_again)
{
    static unsigned char *p[(TO - FROM) / 64];
    int n;

    heap_pool_open(FROM, TO);
    for (int round = 0; round < 3; round++) {
        n = 0;
        while (n < (TO - FROM) / 64 && (p[n] = heap_pool_alloc(64)))
            n++;
        T_EQ(n, (TO - FROM) / 64);
        T_EQ(heap_pool_alloc(1), NULL);
        T_EQ(heap_pool_alloc(0), NULL);
        while (n > 0)
            heap_pool_free(p[--n]);
    }
    heap_pool_close();
}

/* Every other one, and what lay between; then a block of all of it. */
T(what_is_given_back_in_pieces_is_one_piece_again)
{
    enum { N = 64, EACH = (TO - FROM) / N };
    void *p[N];

    heap_pool_open(FROM, TO);
    for (int first = 0; first < 2; first++) {
        for (int i = 0; i < N; i++)
            T_EQ(p[i] = heap_pool_alloc(EACH), memory + FROM + i * EACH);
        T_EQ(heap_pool_alloc(1), NULL);
        for (int i = first; i < N; i += 2)
            heap_pool_free(p[i]);
        T_EQ(heap_pool_alloc(EACH + 1), NULL);
        for (int i = !first; i < N; i += 2)
            heap_pool_free(p[i]);
        T_EQ(p[0] = heap_pool_alloc(TO - FROM), memory + FROM);
        heap_pool_free(p[0]);
    }
    heap_pool_close();
}

T(what_is_too_large_is_refused)
{
    void *p;

    heap_pool_open(FROM, TO);
    T_EQ(heap_pool_alloc(TO - FROM + 1), NULL);
    T_EQ(heap_pool_alloc((size_t)1 << 40), NULL);
    T_EQ(heap_pool_alloc(SIZE_MAX), NULL);
    p = heap_pool_alloc(TO - FROM);
    T_EQ(p, memory + FROM);
    T_EQ(heap_pool_alloc(1), NULL);
    heap_pool_free(p);
    T_EQ(heap_pool_alloc(TO - FROM), p);
    heap_pool_close();
}

T(a_start_between_lines_is_rounded_up)
{
    heap_pool_open(FROM + 8, FROM + 128 + 8);
    T_EQ(heap_pool_alloc(1), memory + FROM + 64);
    T_EQ(heap_pool_alloc(1), NULL);          /* 8 bytes are left */
    heap_pool_close();
}

/* ---- heap_reserve: needs a heap that is open ---- */

T(reserved_words_lie_in_a_row_up_to_the_blocks)
{
    struct heap_plan plan = {
        .host_size = (size_t)1 << 20, .pool_size = 1 << 18,
        .user_size = 1 << 19, .slot_size = HEAP_ALIGN
    };
    const struct heap_mapping at = { .fd = -1, .mapped = (char *)memory };
    void *block = NULL;

    T_EQ(heap_open(&plan, &at, &at), 0);
    T_EQ(heap_reserve(100, 64), memory);
    T_EQ(heap_reserve(8, 8), memory + 104);
    T_EQ(heap_reserve(1, 64), memory + 128);
    T_EQ(heap_reserve(HEAP_RESERVED, 8), NULL);
    T_EQ(heap_reserve(SIZE_MAX, 8), NULL);
    T_EQ(heap_reserve(HEAP_RESERVED - 192, 64), memory + 192);
    T_EQ(heap_reserve(1, 1), NULL);
    T_EQ(heap_alloc(&heap_default, 16, 0, 0, &block), 0);
    T_EQ(block, memory + heap_fixed_size());
    T_EQ(heap_fixed_size(), HEAP_RESERVED + plan.pool_size);
    T_EQ(heap_find(memory, (size_t)1 << 20), HEAP_HOST);
    T_EQ(heap_find(memory, ((size_t)1 << 20) + 1), -1);
    T_EQ(heap_find(memory + (1 << 20) - 1, 1), HEAP_HOST);
    T_EQ(heap_find(memory + (1 << 20), 0), -1);
    T_EQ(heap_find(memory - 1, 2), -1);
    T_EQ(heap_find(memory + 8, SIZE_MAX), -1);
    heap_close();
    T_EQ(heap_find(memory, 1), -1);
    T_EQ(heap_open(&plan, &at, &at), 0);
    T_EQ(heap_reserve(8, 8), memory);       /* a second start begins anew */
    heap_close();
}

int main(void)
{
    memory = mmap(NULL, 2 * HEAP_ALIGN, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    memory += -(uintptr_t)memory & (HEAP_ALIGN - 1);
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)memory, TO };
    T_RUN(random_calls_never_share_a_byte);
    T_RUN(all_of_it_can_be_had_and_had_again);
    T_RUN(what_is_given_back_in_pieces_is_one_piece_again);
    T_RUN(what_is_too_large_is_refused);
    T_RUN(a_start_between_lines_is_rounded_up);
    T_RUN(reserved_words_lie_in_a_row_up_to_the_blocks);
    return T_DONE();
}
