/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: no PE sees the second of two operations that fence, quiet or
 * pe_quiet orders without the first, after quiet every PE sees the
 * operations, and of two PEs that store, quiet and load one sees the other's
 * store; on the default context and on created ones.
 * PEs: 2 3 4
 * Ppn: 2/1 4/2 4/2:SHMEM_OFI_AMO=message */
#include "budget.h"
#include "off_node.h"

enum { ROUNDS = 100000, BULK = 512 };
#define STEPS_S 0.1             /* for the rounds that PEs make in step */
#define STREAM_S 1              /* for the others, about */

/* What another PE writes, all words of a round alike: words far apart, some
 * in static data, one bulk that a copy routine moves. */
static struct {
    _Alignas(64) uint64_t a;
    _Alignas(64) uint32_t b;
    _Alignas(64) uint64_t bulk[BULK];
} on_node_data;
static struct off_node {
    _Alignas(64) uint64_t c;
    _Alignas(64) uint64_t flag;
    _Alignas(64) uint64_t x;
} *off_node_data;
static uint64_t source[BULK];
static uint32_t numbers[ROUNDS + 1];    /* each its own index */
static shmem_ctx_t ctx;
static bool plain;              /* the forms without a context */
static int me, n_pes, next, last;
static uint64_t most;           /* rounds */

static void fence(void)
{
    if (plain)
        shmem_fence();
    else
        shmem_ctx_fence(ctx);
}

static void quiet(uint64_t round)
{
    int list[] = { last, next, n_pes - 1 };

    if (round % 2 == 0 && plain)
        shmem_quiet();
    else if (round % 2 == 0)
        shmem_ctx_quiet(ctx);
    else if (plain)
        shmem_pe_quiet(list, 3);
    else
        shmem_ctx_pe_quiet(ctx, list, 3);
}

static void clear(void)
{
    shmem_barrier_all();
    memset(&on_node_data, 0, sizeof on_node_data);
    memset(off_node_data, 0, sizeof *off_node_data);
    shmem_barrier_all();
}

/* Writes the data of a round by several calls, now and then the bulk too. */
static void put_data(uint64_t r, int pe)
{
    shmem_ctx_uint64_p(ctx, &on_node_data.a, r, pe);
    if (r % 2)
        shmem_ctx_uint32_put_nbi(ctx, &on_node_data.b, &numbers[r], 1, pe);
    else
        shmem_ctx_uint32_atomic_set(ctx, &on_node_data.b, numbers[r], pe);
    shmem_ctx_uint64_atomic_add(ctx, &off_node_data->c, 1, pe);
    if (r % 16)
        return;
    quiet(r);                   /* the source is written again */
    for (int i = 0; i < BULK; i++)
        source[i] = r;
    shmem_ctx_putmem_nbi(ctx, on_node_data.bulk, source, sizeof source, pe);
}

static uint64_t load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* At least round r of the data has come: read against the order of writing
 * by plain loads, as a program would. */
static void check_data(uint64_t r)
{
    uint64_t bulk = r - r % 16;

    T_LE(r, load(&off_node_data->c));
    T_LE(r, __atomic_load_n(&on_node_data.b, __ATOMIC_ACQUIRE));
    T_LE(r, load(&on_node_data.a));
    if (r % 8 == 0)
        for (int i = BULK - 1; i >= 0; i -= 37)
            T_LE(bulk, load(&on_node_data.bulk[i]));
}

static void put_flag(uint64_t r, int pe)
{
    switch (r % 4) {
    case 0: shmem_ctx_uint64_p(ctx, &off_node_data->flag, r, pe); break;
    case 1:
        shmem_ctx_uint64_atomic_set(ctx, &off_node_data->flag, r, pe);
        break;
    case 2: shmem_ctx_uint64_atomic_inc(ctx, &off_node_data->flag, pe); break;
    default:
        shmem_ctx_uint64_put(ctx, &off_node_data->flag, &r, 1, pe);
    }
}

/* A stream of data and flags to the next PE, while the one before streams
 * here: no round waits for another, so that they overlap as they will. */
T(a_fence_keeps_data_before_its_flag)
{
    uint64_t seen;

    clear();
    for (uint64_t r = 1; r <= most; r++) {
        put_data(r, next);
        fence();
        put_flag(r, next);
        fence();
        if (r % 3)
            continue;
        seen = r % 2 ? load(&off_node_data->flag)
               : shmem_uint64_atomic_fetch(&off_node_data->flag, me);
        check_data(seen);
    }
    shmem_uint64_wait_until(&off_node_data->flag, SHMEM_CMP_EQ, most);
    check_data(most);
}

/* Flags that are waited for: each stands for its round. */
T(a_wait_for_the_flag_shows_the_data)
{
    uint64_t want;

    clear();
    for (uint64_t r = 1; r <= most && in_time(r, STEPS_S); r++) {
        want = me ? r : r - 1;  /* PE 0 begins each round */
        shmem_uint64_wait_until(&off_node_data->flag, SHMEM_CMP_GE, want);
        check_data(want);
        put_data(r, next);
        fence();
        put_flag(r, next);
    }
    quiet(0);
}

/* Data to the next PE, a flag to the one after that, which looks there. */
T(a_quiet_completes_at_all_pes)
{
    int third = (next + 1) % n_pes;
    uint64_t seen;

    clear();
    for (uint64_t r = 1; r <= most; r++) {
        put_data(r, next);
        quiet(r / 4);
        put_flag(r, third);
        if (r % 3)
            continue;
        seen = load(&off_node_data->flag);
        T_LE(seen, shmem_ctx_uint64_atomic_fetch(ctx, &off_node_data->c, last));
        T_LE(seen, shmem_ctx_uint64_g(ctx, &on_node_data.a, last));
        if (seen % 8 == 0)
            T_LE(seen - seen % 16,
                 shmem_ctx_uint64_g(ctx, &on_node_data.bulk[r % BULK], last));
    }
    quiet(0);
}

T(a_get_after_quiet_sees_the_put)
{
    uint64_t back[3];
    uint32_t b;

    clear();
    for (uint64_t r = 1; r <= most; r++) {
        put_data(r, next);
        quiet(r / 4);
        shmem_ctx_getmem(ctx, &back[0], &on_node_data.a, 8, next);
        shmem_ctx_uint32_get_nbi(ctx, &b, &on_node_data.b, 1, next);
        shmem_ctx_uint64_atomic_fetch_nbi(ctx, &back[1], &off_node_data->c,
                                          next);
        back[2] = shmem_ctx_uint64_g(ctx, &on_node_data.bulk[r % BULK], next);
        quiet(r / 8);
        T_EQ(back[0], r);
        T_EQ(b, r);
        T_EQ(back[1], r);
        T_EQ(back[2], r - r % 16);
    }
}

/* x of the next PE and x here: what each read in each round is compared at
 * the end, when it is known what the other read.  x grows, so reading less
 * than r in round r means to have missed the other's store. */
static uint64_t read_in[ROUNDS + 1];

T(of_two_that_store_and_load_one_sees_the_other)
{
    uint64_t steps = 0, theirs;
    int peer = me ^ 1;

    if (peer >= n_pes)
        peer = me;
    clear();
    for (uint64_t r = 1; r <= most && in_time(r, STEPS_S); r++) {
        steps = r;
        shmem_barrier_all();
        shmem_ctx_uint64_p(ctx, &off_node_data->x, r, peer);
        quiet(r);
        read_in[r] = shmem_ctx_uint64_g(ctx, &off_node_data->x, me);
    }
    shmem_barrier_all();
    for (uint64_t r = 1; r <= steps; r++) {
        theirs = shmem_uint64_g(&read_in[r], peer);
        T_TRUE(read_in[r] >= r || theirs >= r);
    }
}

/* The same through a third PE's memory, which neither of the two maps as its
 * own, and with a bulk store. */
T(two_that_store_to_a_third_see_each_other)
{
    uint64_t steps = 0, theirs, *mine, *other;
    int home = n_pes - 1, peer = me ^ 1;

    clear();
    mine = me % 2 ? &off_node_data->x : &on_node_data.bulk[BULK - 1];
    other = me % 2 ? &on_node_data.bulk[BULK - 1] : &off_node_data->x;
    for (uint64_t r = 1; r <= most && in_time(r, STEPS_S); r++) {
        steps = r;
        shmem_barrier_all();
        if (me > 1)
            continue;
        if (me == 0) {
            source[BULK - 1] = r;
            shmem_ctx_put64_nbi(ctx, on_node_data.bulk, source, BULK, home);
        } else {
            shmem_ctx_uint64_p(ctx, mine, r, home);
        }
        quiet(r);
        read_in[r] = shmem_ctx_uint64_g(ctx, other, home);
    }
    shmem_barrier_all();
    for (uint64_t r = 1; me < 2 && r <= steps; r++) {
        theirs = shmem_uint64_g(&read_in[r], peer);
        T_TRUE(read_in[r] >= r || theirs >= r);
    }
    shmem_barrier_all();
}

T(a_barrier_completes_what_came_before)
{
    clear();
    for (uint64_t r = 1; r <= most / 4 && in_time(r, STEPS_S); r++) {
        put_data(r, next);
        if (!plain)
            quiet(r);           /* a barrier quiets the default context */
        shmem_barrier_all();
        check_data(r);
        T_EQ(shmem_uint64_g(&on_node_data.a, next), r);
        shmem_sync_all();
    }
}

/* How many rounds fit into that time, by PE 0's clock and all PEs' work; the
 * same for all. */
static void measure(void)
{
    const uint64_t some = most < 1000 ? most : 1000;
    double begin, can;

    clear();
    begin = now();
    for (uint64_t r = 1; r <= some; r++) {
        put_data(r, next);
        quiet(r / 4);
    }
    shmem_barrier_all();
    can = (double)some * STREAM_S / (now() - begin);
    if (me == 0 && can < (double)most)
        for (int pe = 0; pe < n_pes; pe++)
            shmem_uint64_p(&most, can < 64 ? 64 : (uint64_t)can, pe);
    shmem_barrier_all();
}

static void run_all(void)
{
    T_RUN(a_fence_keeps_data_before_its_flag);
    T_RUN(a_wait_for_the_flag_shows_the_data);
    T_RUN(a_quiet_completes_at_all_pes);
    T_RUN(a_get_after_quiet_sees_the_put);
    T_RUN(of_two_that_store_and_load_one_sees_the_other);
    T_RUN(two_that_store_to_a_third_see_each_other);
    T_RUN(a_barrier_completes_what_came_before);
}

int main(void)
{
    static const long options[] = {
        0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE
    };

    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    last = (me + n_pes - 1) % n_pes;
    T_PE(me);
    most = (uint64_t)rounds(ROUNDS, 250);
    for (uint32_t r = 0; r <= ROUNDS; r++)
        numbers[r] = r;
    off_node_data = shmem_align(64, sizeof *off_node_data);
    ctx = SHMEM_CTX_DEFAULT;
    plain = true;
    measure();
    run_all();
    plain = false;
    for (int i = 0; i < 3; i++) {
        T_EQ(shmem_ctx_create(options[i], &ctx), 0);
        run_all();
        shmem_ctx_destroy(ctx);
    }
    shmem_finalize();
    return T_DONE();
}
