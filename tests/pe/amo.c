/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every atomic of every type returns the old value, leaves the
 * right new one and touches nothing beside it, bit for bit, in every symmetric
 * memory and with the old value fetched to any memory; under contention none is
 * lost and none is done twice.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2:SHMEM_OFI_AMO=nic 4/2:SHMEM_OFI_AMO=message */
#include "off_node.h"
#include "../memory.h"

enum { PATTERNS = 10, NODES = 16, TURNS = 6 };

/* A cell and its neighbours, which stay as they are. */
struct cell { uint64_t below, at, above; };

static struct cell *cell[SYMMETRIC];
static uint64_t *shared[SYMMETRIC];     /* two words */
static char *fetched[MEMORIES];         /* for old values */
static unsigned fetches;
static shmem_ctx_t ctx;
static int adds, most_draws;
static bool slow;               /* some PEs are on other nodes, or a device */
static int first;               /* memory: a device's run leaves host memory */

/* Bits that are extremes of integers, and zeros and NaNs of floats. */
static uint64_t bits_of(unsigned k, size_t size)
{
    uint64_t msb = (uint64_t)1 << (size * 8 - 1);

    switch (k) {
    case 0: return 0;
    case 1: return 1;
    case 2: return ~(uint64_t)0;
    case 3: return msb;
    case 4: return msb - 1;
    case 5: return size == 4 ? 0x7fa12345 : 0x7ff4deadbeef0001; /* signals */
    case 6: return size == 4 ? 0xffc54321 : 0xfff8000012345678;
    default: return T_RAND();
    }
}

/* The plain and the context form of an operation. */
#define PLAIN(NAME, OP, ...) shmem_##NAME##_atomic_##OP(__VA_ARGS__)
#define IN_CTX(NAME, OP, ...) shmem_ctx_##NAME##_atomic_##OP(ctx, __VA_ARGS__)

#define VALUE(NAME, T)                                                      \
    static T value_##NAME(unsigned k)                                       \
    {                                                                       \
        uint64_t bits = bits_of(k, sizeof(T));                              \
        T v;                                                                \
                                                                            \
        memcpy(&v, &bits, sizeof v);                                        \
        return v;                                                           \
    }
SHMEMI_AMO_EXT_TYPES(VALUE)

/* By bits: a NaN equals itself, -0 is not 0. */
#define SAME(a, b) T_TRUE(memcmp(&(a), &(b), sizeof(a)) == 0)
/* old is what the operation fetched, want what it should have; now is what it
 * should have left, which becomes the want of the next. */
#define FETCHED(V, NAME, now)                                               \
    do {                                                                    \
        SAME(old, want);                                                    \
        want = (now);                                                       \
        LEFT(V, NAME);                                                      \
    } while (0)
#define LEFT(V, NAME)                                                       \
    do {                                                                    \
        old = V(NAME, fetch, d, next);                                      \
        SAME(old, want);                                                    \
    } while (0)
#define QUIET() (shmem_quiet(), shmem_ctx_quiet(ctx))
/* An operation that returns nothing need not have happened yet. */
#define HAPPENED() (slow ? QUIET() : (void)0)
/* The old value goes to each memory in turn. */
#define TO_OLD ((__typeof__(old) *)(void *)fetched[++fetches % MEMORIES])
#define TAKE_OLD()                                                          \
    do {                                                                    \
        QUIET();                                                            \
        mem_load(&old, fetched[fetches % MEMORIES], sizeof old);            \
    } while (0)

#define EXT(V, NAME)                                                        \
    do {                                                                    \
        want = a;                                                           \
        V(NAME, set, d, a, next);                                           \
        HAPPENED();                                                         \
        LEFT(V, NAME);                                                      \
        old = V(NAME, swap, d, b, next);                                    \
        FETCHED(V, NAME, b);                                                \
        V(NAME, swap_nbi, TO_OLD, d, a, next);                              \
        TAKE_OLD();                                                         \
        FETCHED(V, NAME, a);                                                \
        old = b;                                                            \
        V(NAME, fetch_nbi, TO_OLD, d, next);                                \
        TAKE_OLD();                                                         \
        SAME(old, want);                                                    \
    } while (0)
#define EXT_CASE(NAME, T)                                                   \
    static void ext_##NAME(void *word, T a, T b)                            \
    {                                                                       \
        T *d = word, old, want;                                             \
                                                                            \
        EXT(PLAIN, NAME);                                                   \
        EXT(IN_CTX, NAME);                                                  \
    }
SHMEMI_AMO_EXT_TYPES(EXT_CASE)

/* Sums wrap around, of signed types too. */
#define SUM(T, x, y) ((T)((uint64_t)(x) + (uint64_t)(y)))
#define STD(V, NAME, T)                                                     \
    do {                                                                    \
        want = a;                                                           \
        V(NAME, set, d, a, next);                                           \
        HAPPENED();                                                         \
        V(NAME, inc, d, next);                                              \
        HAPPENED();                                                         \
        want = SUM(T, want, 1);                                             \
        LEFT(V, NAME);                                                      \
        old = V(NAME, fetch_inc, d, next);                                  \
        FETCHED(V, NAME, SUM(T, want, 1));                                  \
        V(NAME, fetch_inc_nbi, TO_OLD, d, next);                            \
        TAKE_OLD();                                                         \
        FETCHED(V, NAME, SUM(T, want, 1));                                  \
        V(NAME, add, d, b, next);                                           \
        HAPPENED();                                                         \
        want = SUM(T, want, b);                                             \
        LEFT(V, NAME);                                                      \
        old = V(NAME, fetch_add, d, b, next);                               \
        FETCHED(V, NAME, SUM(T, want, b));                                  \
        V(NAME, fetch_add_nbi, TO_OLD, d, b, next);                         \
        TAKE_OLD();                                                         \
        FETCHED(V, NAME, SUM(T, want, b));                                  \
        old = V(NAME, compare_swap, d, want, a, next);                      \
        FETCHED(V, NAME, a);                                                \
        old = V(NAME, compare_swap, d, SUM(T, a, 1), b, next);              \
        FETCHED(V, NAME, a);                                                \
        V(NAME, compare_swap_nbi, TO_OLD, d, a, b, next);                   \
        TAKE_OLD();                                                         \
        FETCHED(V, NAME, b);                                                \
        V(NAME, compare_swap_nbi, TO_OLD, d, SUM(T, b, -1), a, next);       \
        TAKE_OLD();                                                         \
        FETCHED(V, NAME, b);                                                \
    } while (0)
#define STD_CASE(NAME, T)                                                   \
    static void std_##NAME(void *word, T a, T b)                            \
    {                                                                       \
        T *d = word, old, want;                                             \
                                                                            \
        STD(PLAIN, NAME, T);                                                \
        STD(IN_CTX, NAME, T);                                               \
    }
SHMEMI_AMO_TYPES(STD_CASE)

#define BIT_OP(V, NAME, OP, sign)                                           \
    do {                                                                    \
        want = a;                                                           \
        V(NAME, set, d, a, next);                                           \
        HAPPENED();                                                         \
        V(NAME, OP, d, b, next);                                            \
        HAPPENED();                                                         \
        want = want sign b;                                                 \
        LEFT(V, NAME);                                                      \
        V(NAME, set, d, a, next);                                           \
        HAPPENED();                                                         \
        want = a;                                                           \
        old = V(NAME, fetch_##OP, d, b, next);                              \
        FETCHED(V, NAME, a sign b);                                         \
        V(NAME, fetch_##OP##_nbi, TO_OLD, d, a, next);                      \
        TAKE_OLD();                                                         \
        FETCHED(V, NAME, want sign a);                                      \
    } while (0)
#define BIT_CASE(NAME, T)                                                   \
    static void bit_##NAME(void *word, T a, T b)                            \
    {                                                                       \
        T *d = word, old, want;                                             \
                                                                            \
        BIT_OP(PLAIN, NAME, and, &);                                        \
        BIT_OP(PLAIN, NAME, or, |);                                         \
        BIT_OP(PLAIN, NAME, xor, ^);                                        \
        BIT_OP(IN_CTX, NAME, and, &);                                       \
        BIT_OP(IN_CTX, NAME, or, |);                                        \
        BIT_OP(IN_CTX, NAME, xor, ^);                                       \
    }
SHMEMI_AMO_BIT_TYPES(BIT_CASE)

#define OLD_CASE(NAME, T)                                                   \
    static void old_##NAME(void *word, T a, T b)                            \
    {                                                                       \
        T *d = word, old;                                                   \
                                                                            \
        shmem_##NAME##_set(d, a, next);                                     \
        HAPPENED();                                                         \
        old = shmem_##NAME##_swap(d, b, next);                              \
        SAME(old, a);                                                       \
        old = shmem_##NAME##_fetch(d, next);                                \
        SAME(old, b);                                                       \
    }
SHMEMI_AMO_OLD_TYPES(OLD_CASE)
#define OLD_INT_CASE(NAME, T)                                               \
    static void old_int_##NAME(void *word, T a, T b)                        \
    {                                                                       \
        T *d = word;                                                        \
                                                                            \
        shmem_##NAME##_set(d, a, next);                                     \
        HAPPENED();                                                         \
        T_EQ(shmem_##NAME##_cswap(d, SUM(T, a, 1), b, next), a);            \
        T_EQ(shmem_##NAME##_cswap(d, a, b, next), a);                       \
        T_EQ(shmem_##NAME##_finc(d, next), b);                              \
        shmem_##NAME##_inc(d, next);                                        \
        HAPPENED();                                                         \
        T_EQ(shmem_##NAME##_fadd(d, a, next), SUM(T, b, 2));                \
        shmem_##NAME##_add(d, b, next);                                     \
        HAPPENED();                                                         \
        T_EQ(shmem_##NAME##_fetch(d, next),                                 \
             SUM(T, SUM(T, b, 2), SUM(T, a, b)));                           \
    }
SHMEMI_AMO_OLD_INTS(OLD_INT_CASE)

static bool chosen(unsigned i, unsigned k)
{
    static unsigned drawn;

    if (on_device) {
        if (i == 0 && k == 0)
            drawn = (unsigned)(T_RAND() % (PATTERNS * PATTERNS));
        return i * PATTERNS + k == drawn;
    }
    return !slow || (i % 2 == 0 && k == (i + 3) % PATTERNS);
}

/* Each PE works on the cell of the next one alone. */
#define EACH_PAIR(KIND, NAME)                                               \
    for (unsigned i = 0; i < PATTERNS; i++)                                 \
        for (unsigned k = 0; k < PATTERNS; k++)                             \
            for (int w = first; w < SYMMETRIC && chosen(i, k); w++)         \
                KIND##_##NAME(&cell[w]->at, value_##NAME(i),                \
                              value_##NAME(k));
#define RUN_EXT(NAME, T) EACH_PAIR(ext, NAME)
#define RUN_STD(NAME, T) EACH_PAIR(std, NAME)
#define RUN_BIT(NAME, T) EACH_PAIR(bit, NAME)
#define RUN_OLD(NAME, T) EACH_PAIR(old, NAME)
#define RUN_OLD_INT(NAME, T) EACH_PAIR(old_int, NAME)

#define GUARD 0x5a5a5a5a5a5a5a5a

static void guard(struct cell *c)
{
    const struct cell guards = { GUARD, (uint64_t)0x5a5a5a5a << 32, GUARD };

    mem_store(c, &guards, sizeof guards);
}

static void guarded(const struct cell *c)
{
    T_EQ(mem_load_word(&c->below, 8), GUARD);
    T_EQ(mem_load_word(&c->above, 8), GUARD);
}

#define RUN_NARROW(NAME, T)                                                 \
    if (sizeof(T) == 4) {                                                   \
        EACH_PAIR(std, NAME)                                                \
    }

T(each_form_does_its_operation_and_no_more)
{
    for (int w = 0; w < SYMMETRIC; w++)
        guard(cell[w]);
    shmem_barrier_all();
    /* Four bytes first: the other four of the word stay. */
    SHMEMI_AMO_TYPES(RUN_NARROW)
    shmem_barrier_all();
    for (int w = 0; w < SYMMETRIC; w++)
        T_EQ(mem_load_word(&cell[w]->at, 8) >> 32, 0x5a5a5a5a);
    shmem_barrier_all();
    SHMEMI_AMO_EXT_TYPES(RUN_EXT)
    SHMEMI_AMO_TYPES(RUN_STD)
    SHMEMI_AMO_BIT_TYPES(RUN_BIT)
    SHMEMI_AMO_OLD_TYPES(RUN_OLD)
    SHMEMI_AMO_OLD_INTS(RUN_OLD_INT)
    shmem_barrier_all();
    for (int w = 0; w < SYMMETRIC; w++)
        guarded(cell[w]);
}

T(the_old_value_goes_to_any_memory)
{
    uint64_t v = 40;

    mem_store(&cell[HOST]->at, &v, sizeof v);
    shmem_barrier_all();
    for (int w = 0; w < MEMORIES; w++) {
        uint64_t *to = (uint64_t *)(void *)fetched[w];

        shmem_uint64_atomic_fetch_add_nbi(to, &cell[HOST]->at, 2, next);
        shmem_quiet();
        T_EQ(mem_load_word(to, 8), v);
        shmem_uint64_atomic_fetch_nbi(to, &cell[HOST]->at, next);
        shmem_quiet();
        v += 2;
        T_EQ(mem_load_word(to, 8), v);
    }
    shmem_barrier_all();
}

/* ---- Contention: all PEs on one word of one PE ---- */

static void reset(void)
{
    shmem_barrier_all();
    for (int w = 0; w < SYMMETRIC; w++)
        mem_fill(shared[w], 0, 2 * sizeof *shared[w]);
    shmem_barrier_all();
}

/* All PEs update the word of PE `at`. */
static void contend(void (*update)(void *word, int at))
{
    for (int w = first; w < SYMMETRIC; w++) {
        reset();
        update(shared[w], w == HOST ? 0 : n_pes - 1);
    }
}

/* The sum is exact, however the updates are spelled. */
#define ADD_CASE(NAME, T)                                                   \
    static void add_##NAME(void *word, int at)                              \
    {                                                                       \
        T *d = word, old;                                                   \
                                                                            \
        for (int i = 0; i < adds; i++) {                                    \
            shmem_##NAME##_atomic_inc(d, at);                               \
            shmem_##NAME##_atomic_add(d, 2, at);                            \
            shmem_##NAME##_atomic_fetch_inc(d, at);                         \
            shmem_##NAME##_atomic_fetch_add(d, 3, at);                      \
            shmem_##NAME##_atomic_fetch_add_nbi(&old, d, 4, at);            \
            shmem_ctx_##NAME##_atomic_inc(ctx, d, at);                      \
            shmem_ctx_##NAME##_atomic_add(ctx, d, (T)-1, at);               \
            shmem_ctx_##NAME##_atomic_fetch_inc(ctx, d, at);                \
            shmem_ctx_##NAME##_atomic_fetch_add(ctx, d, 5, at);             \
            shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, &old, d, at);      \
        }                                                                   \
        QUIET();                                                            \
        shmem_barrier_all();                                                \
        T_EQ(shmem_##NAME##_atomic_fetch(d, at),                            \
             (T)(18 * adds * n_pes));                                       \
        /* The word beside it stays. */                                     \
        T_EQ(shmem_##NAME##_g(d + 1, at), 0);                               \
    }
SHMEMI_AMO_TYPES(ADD_CASE)
#define RUN_ADD(NAME, T) contend(add_##NAME);

T(no_addition_is_lost)
{
    SHMEMI_AMO_TYPES(RUN_ADD)
}

/* The same by a loop over compare_swap, and by each PE's own bit. */
#define CAS_CASE(NAME, T)                                                   \
    static void cas_##NAME(void *word, int at)                              \
    {                                                                       \
        T *d = word, old, seen;                                             \
                                                                            \
        for (int i = 0; i < adds; i++) {                                    \
            old = shmem_##NAME##_atomic_fetch(d, at);                       \
            for (;;) {                                                      \
                seen = shmem_##NAME##_atomic_compare_swap(d, old,           \
                                                          old + 1, at);     \
                if (seen == old)                                            \
                    break;                                                  \
                T_LT(old, seen);                                            \
                old = seen;                                                 \
            }                                                               \
        }                                                                   \
        shmem_barrier_all();                                                \
        T_EQ(shmem_##NAME##_atomic_fetch(d, at),                            \
             (T)(adds * n_pes));                                            \
    }
SHMEMI_AMO_TYPES(CAS_CASE)
#define RUN_CAS(NAME, T) contend(cas_##NAME);

T(a_compare_swap_that_succeeds_is_alone)
{
    SHMEMI_AMO_TYPES(RUN_CAS)
}

#define FLIP_CASE(NAME, T)                                                  \
    static void flip_##NAME(void *word, int at)                             \
    {                                                                       \
        T *d = word, bit = (T)1 << me;                                      \
                                                                            \
        for (int i = 0; i < adds; i++) {                                    \
            T_EQ(shmem_##NAME##_atomic_fetch_or(d, bit, at) & bit, 0);      \
            T_EQ(shmem_##NAME##_atomic_fetch_and(d, ~bit, at) & bit, bit);  \
            shmem_##NAME##_atomic_xor(d, bit, at);                          \
            HAPPENED();                                                     \
            T_EQ(shmem_##NAME##_atomic_fetch_xor(d, bit, at) & bit, bit);   \
            shmem_##NAME##_atomic_or(d, bit, at);                           \
            HAPPENED();                                                     \
            shmem_##NAME##_atomic_and(d, ~bit, at);                         \
            HAPPENED();                                                     \
        }                                                                   \
        shmem_##NAME##_atomic_or(d, bit, at);                               \
        HAPPENED();                                                         \
        shmem_barrier_all();                                                \
        T_EQ(shmem_##NAME##_atomic_fetch(d, at), ((T)1 << n_pes) - 1);      \
    }
SHMEMI_AMO_BIT_TYPES(FLIP_CASE)
#define RUN_FLIP(NAME, T) contend(flip_##NAME);

T(no_bit_of_another_pe_changes)
{
    SHMEMI_AMO_BIT_TYPES(RUN_FLIP)
}

/* Tokens 0 (the word's) to n_pes go around; each is somewhere at the end. */
#define SWAP_CASE(NAME, T)                                                  \
    static void swap_##NAME(void *word, int at)                             \
    {                                                                       \
        T *d = word, token = (T)(me + 1);                                   \
                                                                            \
        for (int i = 0; i < adds; i++) {                                    \
            token = shmem_##NAME##_atomic_swap(d, token, at);               \
            shmem_##NAME##_atomic_swap_nbi(&token, d, token, at);           \
            shmem_quiet();                                                  \
        }                                                                   \
        shmem_int_atomic_inc(&token_seen[(int)token], 0);                   \
        shmem_barrier_all();                                                \
        if (me == 0) {                                                      \
            token_seen[(int)shmem_##NAME##_atomic_fetch(d, at)]++;          \
            for (int i = 0; i <= n_pes; i++) {                              \
                T_EQ(token_seen[i], 1);                                     \
                token_seen[i] = 0;                                          \
            }                                                               \
        }                                                                   \
    }
static int token_seen[64];
SHMEMI_AMO_EXT_TYPES(SWAP_CASE)
#define RUN_SWAP(NAME, T) contend(swap_##NAME);

T(swaps_lose_and_double_no_token)
{
    SHMEMI_AMO_EXT_TYPES(RUN_SWAP)
}

T(every_number_is_drawn_once)
{
    int *drawn = shmem_calloc((size_t)(most_draws * n_pes), sizeof *drawn);
    uint64_t number, last = 0;

    reset();
    for (int i = 0; i < most_draws; i++) {
        number = i % 2 ? shmem_uint64_atomic_fetch_inc(shared[HOST], 0)
                 : shmem_uint64_atomic_fetch_add(shared[HOST], 1, 0);
        T_TRUE(i == 0 || number > last);
        T_LT(number, most_draws * n_pes);
        shmem_int_atomic_inc(&drawn[number], n_pes - 1);
        last = number;
    }
    shmem_barrier_all();
    for (int i = 0; me == n_pes - 1 && i < most_draws * n_pes; i++)
        T_EQ(drawn[i], 1);
    shmem_free(drawn);
}

/* What a lock guards is host memory, the lock is not. */
T(a_lock_by_compare_swap_excludes)
{
    uint64_t seen;

    reset();
    for (int i = 0; i < TURNS; i++) {
        while (shmem_uint64_atomic_compare_swap(shared[OTHER], 0,
                                                (uint64_t)me + 1, 0))
            usleep(20);
        seen = shmem_uint64_g(shared[HOST], 0);
        shmem_uint64_p(shared[HOST], seen + 1, 0);
        shmem_quiet();
        shmem_uint64_atomic_set(shared[OTHER], 0, 0);
        shmem_quiet();
    }
    shmem_barrier_all();
    if (me == 0)
        T_EQ(mem_load_word(shared[HOST], 8), TURNS * n_pes);
    shmem_barrier_all();
}

/* ---- A stack without a lock, of nodes in PE 0's memory.  The head is an
 * index + 1 below a count of changes: no old head matches again. ---- */

static struct stack {
    uint64_t head;
    uint64_t below[NODES];
    int owner[NODES];
} *stack;

static void push(uint64_t node)
{
    uint64_t head = shmem_uint64_atomic_fetch(&stack->head, 0), seen;

    for (;; head = seen) {
        shmem_uint64_atomic_set(&stack->below[node], head & UINT32_MAX, 0);
        shmem_fence();
        seen = shmem_uint64_atomic_compare_swap(
            &stack->head, head, ((head >> 32) + 1) << 32 | (node + 1), 0);
        if (seen == head)
            return;
    }
}

/* SIZE_MAX when empty. */
static uint64_t pop(void)
{
    uint64_t head = shmem_uint64_atomic_fetch(&stack->head, 0), below, seen;

    for (; head & UINT32_MAX; head = seen) {
        below = shmem_uint64_atomic_fetch(
            &stack->below[(head & UINT32_MAX) - 1], 0);
        seen = shmem_uint64_atomic_compare_swap(
            &stack->head, head, ((head >> 32) + 1) << 32 | below, 0);
        if (seen == head)
            return (head & UINT32_MAX) - 1;
    }
    return SIZE_MAX;
}

T(a_stack_without_locks_keeps_its_nodes)
{
    uint64_t node;
    int popped = 0;

    for (uint64_t i = (uint64_t)me; i < NODES; i += (uint64_t)n_pes)
        push(i);
    shmem_barrier_all();
    for (int i = 0; i < most_draws; i++) {
        node = pop();
        if (node == SIZE_MAX)
            continue;
        popped++;
        T_EQ(shmem_int_atomic_swap(&stack->owner[node], me + 1, 0), 0);
        T_EQ(shmem_int_atomic_swap(&stack->owner[node], 0, 0), me + 1);
        push(node);
    }
    T_LT(0, popped);
    shmem_barrier_all();
    if (me == 0) {
        popped = 0;
        while ((node = pop()) != SIZE_MAX && popped <= NODES)
            popped++;
        T_EQ(popped, NODES);
    }
    shmem_barrier_all();
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    slow = some_are_off_node() || on_device;
    first = on_device ? OTHER : HOST;
    adds = on_device ? 2 : rounds(10000, 10);
    most_draws = on_device ? 40 : rounds(4000, 400);
    for (int w = 0; w < SYMMETRIC; w++) {
        cell[w] = mem_alloc((enum memory)w, sizeof *cell[w]);
        shared[w] = mem_alloc((enum memory)w, 2 * sizeof *shared[w]);
    }
    for (int w = 0; w < MEMORIES; w++)
        fetched[w] = mem_alloc((enum memory)w, 64);
    stack = mem_alloc(OTHER, sizeof *stack);
    mem_fill(stack, 0, sizeof *stack);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(each_form_does_its_operation_and_no_more);
    T_RUN(the_old_value_goes_to_any_memory);
    T_RUN(no_addition_is_lost);
    T_RUN(a_compare_swap_that_succeeds_is_alone);
    T_RUN(no_bit_of_another_pe_changes);
    T_RUN(swaps_lose_and_double_no_token);
    T_RUN(every_number_is_drawn_once);
    T_RUN(a_lock_by_compare_swap_excludes);
    T_RUN(a_stack_without_locks_keeps_its_nodes);
    mem_free(OTHER, stack);
    for (int w = 0; w < MEMORIES; w++)
        mem_free((enum memory)w, fetched[w]);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, shared[w]);
        mem_free((enum memory)w, cell[w]);
    }
    shmem_ctx_destroy(ctx);
    return memory_end();
}
