/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: in a million rounds of each of four ways to send data and then
 * a flag - put, fence, put; put_signal; nonblocking puts, quiet, put; atomics,
 * quiet, atomic - a PE that sees a round's flag sees exactly its data; and
 * large puts come before their flags too.
 * PEs: 2 4
 * Ppn: 2/1 4/2 4/2:SHMEM_OFI_AMO=message */
#include "off_node.h"

#include <sched.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ON_NODE_ROUNDS = 50000, OFF_NODE_ROUNDS = 1000 };
#else
enum { ON_NODE_ROUNDS = 1000000, OFF_NODE_ROUNDS = 3000 };
#endif
/* Rounds that may be under way at once, so that processes that share a core
 * do not change places for each round. */
enum { WINDOW = 4096, ACK_EVERY = WINDOW / 4, SPINS = 200 };
enum { LARGE = 1 << 20, LARGE_ROUNDS = 12, SAMPLES = 500 };

/* Written by the PE before; a word stays until its round is acknowledged. */
static struct {
    _Alignas(64) uint64_t flag[WINDOW];
    _Alignas(64) uint64_t a[WINDOW], b[WINDOW];
    _Alignas(64) uint64_t acked;        /* by the PE behind */
} in;
static uint64_t *large;
static shmem_ctx_t contexts[2];
static int me, n_pes, next, last;
static uint64_t most;           /* rounds */

/* Where the words of a round lie: far apart or in one line, as drawn. */
static struct place {
    uint64_t factor, offset;
} places[3];

static void draw_places(void)
{
    for (int i = 0; i < 3; i++)
        places[i] = (struct place){ T_RAND() | 1, T_RAND() };
}

static uint64_t at(int array, uint64_t r)
{
    return (r * places[array].factor + places[array].offset) % WINDOW;
}

static uint64_t load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* ---- Ways to send round r ---- */

typedef void send_fn(shmem_ctx_t ctx, uint64_t r, uint64_t *flag, uint64_t *a,
                     uint64_t *b);

static void put_fence_put(shmem_ctx_t ctx, uint64_t r, uint64_t *flag,
                          uint64_t *a, uint64_t *b)
{
    shmem_ctx_uint64_p(ctx, a, r, next);
    shmem_ctx_putmem(ctx, b, &r, sizeof r, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_uint64_p(ctx, flag, r, next);
}

/* The signal comes with its data, and after what is fenced before it. */
static void put_signal(shmem_ctx_t ctx, uint64_t r, uint64_t *flag,
                       uint64_t *a, uint64_t *b)
{
    shmem_ctx_uint64_p(ctx, b, r, next);
    shmem_ctx_fence(ctx);
    if (r % 2) {
        shmem_ctx_uint64_put_signal(ctx, a, &r, 1, flag, r, SHMEM_SIGNAL_SET,
                                    next);
    } else {
        shmem_ctx_uint64_put_signal_nbi(ctx, a, &r, 1, flag, r,
                                        SHMEM_SIGNAL_SET, next);
        shmem_ctx_quiet(ctx);   /* r goes away */
    }
}

static void nbi_quiet_put(shmem_ctx_t ctx, uint64_t r, uint64_t *flag,
                          uint64_t *a, uint64_t *b)
{
    shmem_ctx_uint64_put_nbi(ctx, a, &r, 1, next);
    shmem_ctx_putmem_nbi(ctx, b, &r, sizeof r, next);
    shmem_ctx_quiet(ctx);
    shmem_ctx_uint64_p(ctx, flag, r, next);
}

/* What the words held a window ago is known: the sums must come out. */
static void atomics_quiet_atomic(shmem_ctx_t ctx, uint64_t r, uint64_t *flag,
                                 uint64_t *a, uint64_t *b)
{
    uint64_t was = r > WINDOW ? r - WINDOW : 0;

    shmem_ctx_uint64_atomic_add(ctx, a, r - was, next);
    if (r % 2)
        T_EQ(shmem_ctx_uint64_atomic_fetch_xor(ctx, b, r ^ was, next), was);
    else
        shmem_ctx_uint64_atomic_xor(ctx, b, r ^ was, next);
    shmem_ctx_quiet(ctx);
    shmem_ctx_uint64_atomic_set(ctx, flag, r, next);
}

/* ---- Rounds ---- */

/* Has round r come?  Then its data has. */
static bool check(uint64_t r)
{
    if (load(&in.flag[at(0, r)]) != r)
        return false;
    T_EQ(load(&in.b[at(2, r)]), r);
    T_EQ(load(&in.a[at(1, r)]), r);
    if (r % ACK_EVERY == 0 || r == most)
        shmem_uint64_atomic_set(&in.acked, r, last);
    return true;
}

static void clear(void)
{
    shmem_barrier_all();
    memset(&in, 0, sizeof in);
    draw_places();
    shmem_barrier_all();
}

static void all_rounds(send_fn *send)
{
    uint64_t sent = 0, seen = 0, r;
    unsigned idle = 0;

    clear();
    while (sent < most || seen < most) {
        idle++;
        if (sent < most && sent < load(&in.acked) + WINDOW) {
            r = ++sent;
            send(contexts[r / WINDOW % 2], r, &in.flag[at(0, r)],
                 &in.a[at(1, r)], &in.b[at(2, r)]);
            idle = 0;
        }
        if (seen < most && check(seen + 1)) {
            seen++;
            idle = 0;
        }
        if (idle > SPINS)
            sched_yield();
    }
    shmem_barrier_all();
}

T(put_fence_put_flag)
{
    all_rounds(put_fence_put);
}

T(put_with_signal)
{
    all_rounds(put_signal);
}

T(nbi_quiet_put_flag)
{
    all_rounds(nbi_quiet_put);
}

T(atomics_quiet_atomic_flag)
{
    all_rounds(atomics_quiet_atomic);
}

/* Sizes at which a copy routine may store past the caches. */
T(large_puts_before_their_flags)
{
    uint64_t *source = malloc(LARGE * sizeof *source), n, i;

    clear();
    for (uint64_t r = 1; source && r <= LARGE_ROUNDS; r++) {
        n = LARGE >> r % 4;
        for (i = 0; i < n; i++)
            source[i] = r << 32 | i;
        shmem_uint64_wait_until(&in.acked, SHMEM_CMP_EQ, r - 1);
        shmem_put64_nbi(large, source, n, next);
        if (r % 2)
            shmem_fence();
        else
            shmem_quiet();
        shmem_uint64_atomic_set(&in.flag[0], r, next);
        shmem_uint64_wait_until(&in.flag[0], SHMEM_CMP_EQ, r);
        T_EQ(load(&large[n - 1]), r << 32 | (n - 1));
        for (int k = 0; k < SAMPLES; k++) {
            i = T_RAND() % n;
            T_EQ(load(&large[i]), r << 32 | i);
        }
        shmem_quiet();          /* the source is written again */
        shmem_uint64_atomic_set(&in.acked, r, last);
    }
    T_TRUE(source != NULL);
    free(source);
    shmem_barrier_all();
}

/* PE 0's seed for all: the same places everywhere, and this run again. */
static void share_seed(void)
{
    static uint64_t seed;
    char text[24];

    for (int pe = 0; me == 0 && pe < n_pes; pe++)
        shmem_uint64_p(&seed, T_SEED(), pe);
    shmem_barrier_all();
    snprintf(text, sizeof text, "%" PRIu64, seed);
    setenv("T_SEED", text, 1);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    T_PE(me);
    most = (uint64_t)rounds(ON_NODE_ROUNDS, OFF_NODE_ROUNDS);
    share_seed();
    large = shmem_malloc(LARGE * sizeof *large);
    contexts[0] = SHMEM_CTX_DEFAULT;
    T_EQ(shmem_ctx_create(0, &contexts[1]), 0);
    T_RUN(put_fence_put_flag);
    T_RUN(put_with_signal);
    T_RUN(nbi_quiet_put_flag);
    T_RUN(atomics_quiet_atomic_flag);
    T_RUN(large_puts_before_their_flags);
    shmem_ctx_destroy(contexts[1]);
    shmem_finalize();
    return T_DONE();
}
