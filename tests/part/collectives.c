/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: partitioned collectives: each of the usual ones with its result
 * compared, element by element, for partitions and lengths around the limits of
 * their algorithms, in host and device memory, in place, in teams, started by
 * host and stream, made ready by host and kernels in any order; and schedules of
 * the program's.  On a GPU, whose kernels are no C functions, those of the host
 * alone (memory.h).
 * PEs: 1 2 3 4 5
 * Ppn: 2/1 4/2 3/1 5/2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=64M
 * Timeout: 120 */
#include "../memory.h"
#include "../kernel/kernel.h"
#include <shmemx_pcoll.h>

enum what {
    ALLREDUCE, REDUCE, REDUCE_SCATTER, INSCAN, EXSCAN, BROADCAST, ALLGATHER,
    GATHER, SCATTER, ALLTOALL, BARRIER, KINDS
};
enum { ROOM = 5 * 9 * 4001 };           /* members, partitions, elements */
static shmem_team_t team;
static int at, n, root;                 /* in the team */
static long *source, *dest;
/* Of a GPU: what is in source, and what was in dest when it was loaded. */
static long source_copy[ROOM], dest_copy[ROOM];
static shmemx_req_t req;
static shmemx_prequest_t dev_req;
static shmemx_queue_t queue;
static int wrong;                       /* atomic: kernels add */

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static bool has_blocks(enum what w)
{
    return w == REDUCE_SCATTER || w == SCATTER || w == ALLTOALL;
}

static bool fills_blocks(enum what w)
{
    return w == ALLGATHER || w == GATHER || w == ALLTOALL;
}

/* What member m has at element i of its source in a round. */
static long value(int m, size_t i, int round)
{
    return (m + 1) * 1000003L + (long)i * 7 + round * 131L;
}

static void fill(enum what w, size_t len, int round, bool kept)
{
    size_t n_source = (has_blocks(w) ? (size_t)n : 1) * len;
    size_t n_dest = kept ? 0 : (size_t)n * len;
    long *from = has_device_private ? source_copy : source;
    long *to = has_device_private ? dest_copy : dest;

    for (size_t i = 0; i < n_source; i++)
        from[i] = value(at, i, round);
    for (size_t i = 0; i < n_dest; i++)
        to[i] = -77;
    if (has_device_private) {
        mem_store(source, from, n_source * sizeof *from);
        mem_store(dest, to, n_dest * sizeof *to);
    }
}

static long sum(int from, int to, size_t i, int round)
{
    long all = 0;

    for (int m = from; m < to; m++)
        all += value(m, i, round);
    return all;
}

/* Element i of block b of this member's result. */
static long expected(enum what w, size_t b, size_t i, size_t len, int round)
{
    size_t mine = (size_t)at * len + i;

    switch (w) {
    case ALLREDUCE:
        return sum(0, n, i, round);
    case REDUCE:
        return at == root ? sum(0, n, i, round) : -77;
    case REDUCE_SCATTER:
        return sum(0, n, mine, round);
    case INSCAN:
        return sum(0, at + 1, i, round);
    case EXSCAN:
        return sum(0, at, i, round);
    case BROADCAST:
        return value(root, i, round);
    case ALLGATHER:
        return value((int)b, i, round);
    case GATHER:
        return at == root ? value((int)b, i, round) : -77;
    case SCATTER:
        return value(root, mine, round);
    case ALLTOALL:
        return value((int)b, mine, round);
    default:
        return -77;
    }
}

/* Of partition p, or of all with -1. */
static void check_dest(enum what w, int p, int parts, size_t each, int round)
{
    size_t len = each * (size_t)parts, from = p < 0 ? 0 : (size_t)p * each;
    size_t to = p < 0 ? len : from + each, bad = 0;
    size_t blocks = fills_blocks(w) ? (size_t)n : 1;
    const long *got = dest;

    if (w == BARRIER)
        return;
    if (has_device_private) {
        mem_load(dest_copy, dest, blocks * len * sizeof *dest);
        got = dest_copy;
    }
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = from; i < to; i++)
            bad += got[b * len + i] != expected(w, b, i, len, round);
    check(!bad);
}

static int make(enum what w, int parts, size_t each)
{
#define ARGS team, dest, source, parts, each, SHMEMX_INT64
    switch (w) {
    case ALLREDUCE:
        return shmemx_pallreduce_init(ARGS, SHMEMX_SUM, &req);
    case REDUCE:
        return shmemx_preduce_init(ARGS, SHMEMX_SUM, root, &req);
    case REDUCE_SCATTER:
        return shmemx_preduce_scatter_init(ARGS, SHMEMX_SUM, &req);
    case INSCAN:
        return shmemx_pinscan_init(ARGS, SHMEMX_SUM, &req);
    case EXSCAN:
        return shmemx_pexscan_init(ARGS, SHMEMX_SUM, &req);
    case BROADCAST:
        return shmemx_pbroadcast_init(ARGS, root, &req);
    case ALLGATHER:
        return shmemx_pallgather_init(ARGS, &req);
    case GATHER:
        return shmemx_pgather_init(ARGS, root, &req);
    case SCATTER:
        return shmemx_pscatter_init(ARGS, root, &req);
    case ALLTOALL:
        return shmemx_palltoall_init(ARGS, &req);
    default:
        return shmemx_pbarrier_init(team, parts, &req);
    }
#undef ARGS
}

static int arrived(int p)
{
    int flag = 9;

    T_EQ(shmemx_parrived(req, p, &flag), 0);
    return flag;
}

static void ready_in_any_order(int parts, int round)
{
    if (round % 3 == 0)
        T_EQ(shmemx_pready_range(req, 0, parts - 1), 0);
    for (int i = 0; i < parts && round % 3; i++)
        T_EQ(shmemx_pready(req, round % 3 == 1 ? parts - 1 - i : i), 0);
}

enum starter { BY_HOST, BY_STREAM };
static void run(enum what w, int parts, size_t each, enum starter starter,
                int round)
{
    fill(w, each * (size_t)parts, round, dest == source);
    shmem_team_sync(team);              /* dest may be written */
    if (starter == BY_HOST)
        T_EQ(shmemx_req_start(req), 0);
    else
        T_EQ(shmemx_enqueue_startall(queue, 1, &req), 0);
    ready_in_any_order(parts, round);
    for (int i = 0; i < parts && round % 2; i++) {
        while (!arrived(i))
            ;
        check_dest(w, i, parts, each, round);
    }
    if (starter == BY_STREAM && round % 2) {
        T_EQ(shmemx_enqueue_waitall(queue, 1, &req), 0);
        T_EQ(shmemx_stream_sync(stream), 0);
    } else {
        T_EQ(shmemx_req_wait(req), 0);
    }
    check_dest(w, -1, parts, each, round);
}

/* Some rounds of a request of that size. */
static void rounds(enum what w, int parts, size_t each, enum starter starter,
                   int count)
{
    T_EQ(make(w, parts, each), 0);
    for (int r = 1; r <= count; r++)
        run(w, parts, each, starter, r);
    T_EQ(shmemx_req_free(&req), 0);
    if (wrong)
        fprintf(stderr, "collective %d, %d partitions of %zu\n", (int)w, parts,
                each);
    T_EQ(wrong, 0);
    wrong = 0;
}

static void open_buffers(bool device)
{
    source = kernel_room(device, ROOM * sizeof *source);
    dest = kernel_room(device, ROOM * sizeof *dest);
}

static void close_buffers(void)
{
    shmem_free(dest);
    shmem_free(source);
    dest = source = NULL;
}

static void use_team(shmem_team_t t)
{
    team = t;
    at = shmem_team_my_pe(t);
    n = shmem_team_n_pes(t);
    root = n - 1;
}

/* ---- the usual ones ---- */

T(each_by_the_host)
{
    static const struct { int parts; size_t each; } sizes[] = {
        { 1, 1 }, { 4, 3 }, { 9, 513 }, { 3, 4001 }
    };

    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    for (int w = 0; w < KINDS; w++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            rounds((enum what)w, sizes[k].parts, sizes[k].each, BY_HOST, 4);
    close_buffers();
}

T(each_by_a_stream_in_device_memory)
{
    use_team(SHMEM_TEAM_WORLD);
    open_buffers(true);
    T_EQ(shmemx_queue_create(stream, NULL, 0, &queue), 0);
    for (int w = 0; w < KINDS; w++) {
        rounds((enum what)w, 4, 7, BY_STREAM, 3);
        rounds((enum what)w, 2, 3000, BY_STREAM, 3);
    }
    T_EQ(shmemx_queue_destroy(queue), 0);
    close_buffers();
}

/* With source and dest in any two symmetric memories. */
T(each_in_each_memory)
{
    enum { PARTS = 3, EACH = 700 };
    size_t size = (size_t)n_pes * PARTS * EACH * sizeof(long);
    long *from[SYMMETRIC], *to[SYMMETRIC];

    use_team(SHMEM_TEAM_WORLD);
    for (int m = 0; m < SYMMETRIC; m++) {
        from[m] = mem_alloc((enum memory)m, size);
        to[m] = mem_alloc((enum memory)m, size);
    }
    for (int w = 0; w < KINDS; w++)
        for (int k = 0; k < SYMMETRIC * SYMMETRIC; k++) {
            source = from[k % SYMMETRIC];
            dest = to[k / SYMMETRIC];
            rounds((enum what)w, PARTS, EACH, BY_HOST, 4);
        }
    source = dest = to[HOST];
    rounds(ALLREDUCE, PARTS, EACH, BY_HOST, 4);
    rounds(EXSCAN, PARTS, EACH, BY_HOST, 4);
    source = dest = NULL;
    for (int m = 0; m < SYMMETRIC; m++) {
        mem_free((enum memory)m, to[m]);
        mem_free((enum memory)m, from[m]);
    }
}

T(in_place)
{
    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    dest = source;
    root = 0;
    for (size_t each = 5; each < 4000; each *= 20) {
        rounds(ALLREDUCE, 3, each, BY_HOST, 3);
        rounds(INSCAN, 3, each, BY_HOST, 3);
        rounds(EXSCAN, 3, each, BY_HOST, 3);
        rounds(BROADCAST, 3, each, BY_HOST, 3);
        rounds(ALLTOALL, 3, each, BY_HOST, 3);
    }
    dest = NULL;
    shmem_free(source);
    source = NULL;
    shmem_barrier_all();
}

/* What arrives in place from a member that is ready does not overwrite what
 * another one has not sent. */
T(in_place_with_late_members)
{
    enum what usual[] = { ALLREDUCE, INSCAN, EXSCAN, BROADCAST, ALLTOALL };

    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    dest = source;
    root = 0;
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        T_EQ(make(usual[k], 2, 700), 0);
        for (int r = 0; r < 3; r++) {
            fill(usual[k], 1400, r, true);
            shmem_barrier_all();
            T_EQ(shmemx_req_start(req), 0);
            shmem_barrier_all();
            if (me == r % n_pes)
                T_EQ(shmemx_pready_range(req, 0, 1), 0);
            usleep(20000);              /* what it sends arrives */
            shmem_barrier_all();
            if (me != r % n_pes)
                T_EQ(shmemx_pready_range(req, 0, 1), 0);
            T_EQ(shmemx_req_wait(req), 0);
            check_dest(usual[k], -1, 2, 700, r);
        }
        T_EQ(shmemx_req_free(&req), 0);
        T_EQ(wrong, 0);
    }
    dest = NULL;
    shmem_free(source);
    source = NULL;
    shmem_barrier_all();
}

T(teams_and_roots)
{
    shmem_team_t odd = SHMEM_TEAM_INVALID;

    if (n_pes > 2)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n_pes + 1) / 2, NULL,
                                 0, &odd);
    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    if (odd != SHMEM_TEAM_INVALID) {
        use_team(odd);
        for (int w = 0; w < KINDS; w++)
            for (root = 0; root < n; root++)
                rounds((enum what)w, 3, 600, BY_HOST, 2);
        shmem_team_destroy(odd);
    }
    shmem_barrier_all();
    close_buffers();
}

T(other_types_and_operators)
{
    static double in[2048], out[2048];

    T_EQ(shmemx_pallreduce_init(SHMEM_TEAM_WORLD, out, in, 2, 1024,
                                SHMEMX_DOUBLE, SHMEMX_MAX, &req), 0);
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 2048; i++)
            in[i] = (i + r + me) % n_pes + i * .5;
        shmem_barrier_all();
        T_EQ(shmemx_req_start(req), 0);
        T_EQ(shmemx_pready_range(req, 0, 1), 0);
        T_EQ(shmemx_req_wait(req), 0);
        for (int i = 0; i < 2048; i++)
            check(out[i] == n_pes - 1 + i * .5);
    }
    T_EQ(shmemx_req_free(&req), 0);
    T_EQ(wrong, 0);
    shmem_barrier_all();
}

/* What waits for a member that is not ready, and what does not. */
T(partitions_are_independent)
{
    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    T_EQ(make(ALLREDUCE, 4, 2000), 0);
    fill(ALLREDUCE, 8000, 1, false);
    shmem_barrier_all();
    T_EQ(shmemx_req_start(req), 0);
    T_EQ(shmemx_pready_list(req, 2, (int[]){ 3, 1 }), 0);
    if (me)
        T_EQ(shmemx_pready(req, 0), 0);
    while (!arrived(1) || !arrived(3))
        ;
    check_dest(ALLREDUCE, 1, 4, 2000, 1);
    check_dest(ALLREDUCE, 3, 4, 2000, 1);
    T_EQ(arrived(0), 0);
    T_EQ(arrived(2), 0);
    T_EQ(shmemx_req_free(&req), -EBUSY);
    shmem_barrier_all();
    if (!me)
        T_EQ(shmemx_pready(req, 0), 0);
    T_EQ(shmemx_pready(req, 2), 0);
    T_EQ(shmemx_req_wait(req), 0);
    check_dest(ALLREDUCE, -1, 4, 2000, 1);
    T_EQ(wrong, 0);
    T_EQ(shmemx_req_free(&req), 0);
    close_buffers();
}

/* ---- kernels ---- */

enum { KERNEL_PARTS = 6, KERNEL_EACH = 1500 };

/* One kernel drives all of it: it fills partitions, makes them ready, and waits
 * for the results. */
static void allreduce_kernel(const shmemx_item_t *it, void *arg)
{
    int round = *(const int *)arg;

    for (int p = (int)it->group; p < KERNEL_PARTS; p += (int)it->groups) {
        if (it->phase == 0)
            for (unsigned i = it->item; i < KERNEL_EACH; i += it->items) {
                size_t i_all = (size_t)p * KERNEL_EACH + i;

                source[i_all] = value(at, i_all, round);
            }
        else if (it->phase == 1)
            shmemx_dev_pready_block(&dev_req, p);
        else if (it->item == 0) {
            shmemx_dev_parrived_wait(&dev_req, p);
            check(shmemx_dev_parrived(&dev_req, p));
            check_dest(ALLREDUCE, p, KERNEL_PARTS, KERNEL_EACH, round);
        }
    }
}

T(a_kernel_drives_all_of_it)
{
    use_team(SHMEM_TEAM_WORLD);
    open_buffers(true);
    T_EQ(make(ALLREDUCE, KERNEL_PARTS, KERNEL_EACH), 0);
    T_EQ(shmemx_prequest_create(req, NULL, 0, &dev_req), 0);
    T_EQ(shmemx_req_free(&req), -EBUSY);
    for (int r = 1; r <= 6; r++) {
        shmem_barrier_all();
        T_EQ(shmemx_req_start(req), 0);
        kernel_run(allreduce_kernel, &r, 2, 32, 3);
        T_EQ(shmemx_req_wait(req), 0);
    }
    T_EQ(shmemx_prequest_free(&dev_req), 0);
    T_EQ(shmemx_req_free(&req), 0);
    T_EQ(wrong, 0);
    close_buffers();
}

/* A kernel of its own: groups of one kernel do not wait for each other. */
static void next_round(const shmemx_item_t *it, void *arg)
{
    int *round = arg;

    (void)it;
    ++*round;
}

T(iterations_of_a_graph)
{
    static int round;
    shmemx_grid_t one = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_grid_t g = { .groups = 2, .items = 32, .phases = 3, .resident = 2 };
    shmemx_graph_t graph = NULL;

    use_team(SHMEM_TEAM_WORLD);
    open_buffers(true);
    T_EQ(make(ALLREDUCE, KERNEL_PARTS, KERNEL_EACH), 0);
    T_EQ(shmemx_prequest_create(req, NULL, 0, &dev_req), 0);
    T_EQ(shmemx_queue_create(stream, NULL, 0, &queue), 0);
    T_EQ(shmemx_stream_capture_begin(stream), 0);
    T_EQ(shmemx_enqueue_startall(queue, 1, &req), 0);
    T_EQ(shmemx_stream_launch(stream, &one, next_round, &round), 0);
    T_EQ(shmemx_stream_launch(stream, &g, allreduce_kernel, &round), 0);
    T_EQ(shmemx_enqueue_waitall(queue, 1, &req), 0);
    T_EQ(shmemx_stream_capture_end(stream, &graph), 0);
    for (int r = 1; r <= 5; r++) {
        T_EQ(shmemx_graph_launch(graph, stream), 0);
        T_EQ(shmemx_stream_sync(stream), 0);
        check_dest(ALLREDUCE, -1, KERNEL_PARTS, KERNEL_EACH, r);
        shmem_barrier_all();
    }
    T_EQ(shmemx_graph_destroy(graph), 0);
    T_EQ(shmemx_prequest_free(&dev_req), 0);
    T_EQ(shmemx_queue_destroy(queue), 0);
    T_EQ(shmemx_req_free(&req), 0);
    T_EQ(wrong, 0);
    close_buffers();
}

/* ---- schedules of the program's ---- */

/* dest: the sum of both neighbours' and this one's source, by one step; then the
 * left one's block and the right one's. */
T(a_schedule_of_neighbours)
{
    int both[] = { before, next };
    shmemx_sched_t s;

    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    T_EQ(shmemx_sched_create(team, SHMEMX_SCHED_BLOCKS, 1, 3, 1, &s), 0);
    if (n > 2) {
        T_EQ(shmemx_sched_step(s, &(shmemx_step_t){
            .n_to = 2, .to = both, .out = { SHMEMX_SOURCE, 0 },
            .n_from = 2, .from = both, .in = { SHMEMX_DEST, 0 },
            .with = { SHMEMX_SOURCE, 0 }, .reduces = 1 }), 0);
        T_EQ(shmemx_sched_step(s, &(shmemx_step_t){
            .n_to = 2, .to = both, .out = { SHMEMX_SOURCE, 0 },
            .n_from = 1, .from = both, .in = { SHMEMX_DEST, 1 } }), 0);
        T_EQ(shmemx_sched_step(s, &(shmemx_step_t){
            .n_from = 1, .from = both + 1, .in = { SHMEMX_DEST, 2 } }), 0);
    } else {
        T_EQ(shmemx_sched_step(s, &(shmemx_step_t){
            .out = { SHMEMX_SOURCE, 0 }, .in = { SHMEMX_SCRATCH, 0 } }), 0);
        T_EQ(shmemx_sched_step(s, &(shmemx_step_t){
            .out = { SHMEMX_SCRATCH, 0 }, .in = { SHMEMX_DEST, 0 },
            .with = { SHMEMX_SOURCE, 0 }, .reduces = 1 }), 0);
    }
    T_EQ(shmemx_pcoll_init(s, dest, source, 5, 300, SHMEMX_INT64, SHMEMX_SUM,
                           &req), 0);
    T_EQ(shmemx_sched_free(&s), 0);
    T_TRUE(s == NULL);
    for (int r = 1; r <= 5; r++) {
        fill(ALLGATHER, 1500, r, false);
        shmem_barrier_all();
        T_EQ(shmemx_req_start(req), 0);
        ready_in_any_order(5, r);
        T_EQ(shmemx_req_wait(req), 0);
        for (size_t i = 0; i < 1500; i++) {
            long mine = value(me, i, r), left = value(before, i, r);
            long right = value(next, i, r);

            check(dest[i] == (n > 2 ? mine + left + right : 2 * mine));
            check(n < 3 || (dest[1500 + i] == left && dest[3000 + i] == right));
        }
        shmem_barrier_all();
    }
    T_EQ(shmemx_req_free(&req), 0);
    T_EQ(wrong, 0);
    close_buffers();
}

/* More than are looked at in one step, and none. */
T(many_partitions_and_no_elements)
{
    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    for (int w = 0; w < KINDS; w++) {
        rounds((enum what)w, 300, 2, BY_HOST, 2);
        rounds((enum what)w, 3, 0, BY_HOST, 2);
    }
    close_buffers();
}

/* Several at once on the same team, waited for in another order. */
T(many_requests_at_once)
{
    shmemx_req_t all[6];

    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    for (int k = 0; k < 6; k++)
        T_EQ(shmemx_pallreduce_init(team, dest + 1000 * k, source + 1000 * k,
                                    2, 500, SHMEMX_INT64, SHMEMX_SUM,
                                    &all[k]), 0);
    for (int r = 1; r <= 5; r++) {
        fill(ALLREDUCE, 6000, r, false);
        shmem_barrier_all();
        T_EQ(shmemx_req_startall(6, all), 0);
        for (int k = 5; k >= 0; k--)
            T_EQ(shmemx_pready_range(all[(k + me) % 6], 0, 1), 0);
        for (int k = 0; k < 6; k++)
            T_EQ(shmemx_req_wait(all[k]), 0);
        check_dest(ALLREDUCE, -1, 2, 3000, r);
        shmem_barrier_all();
    }
    for (int k = 0; k < 6; k++)
        T_EQ(shmemx_req_free(&all[k]), 0);
    T_EQ(wrong, 0);
    close_buffers();
}

/* The library reads a source, which active requests may share. */
T(two_requests_of_one_source)
{
    shmemx_req_t all[2];

    use_team(SHMEM_TEAM_WORLD);
    open_buffers(false);
    for (int k = 0; k < 2; k++)
        T_EQ(shmemx_pallreduce_init(team, dest + 3000 * k, source, 2, 1500,
                                    SHMEMX_INT64, SHMEMX_SUM, &all[k]), 0);
    for (int r = 1; r <= 5; r++) {
        fill(ALLREDUCE, 3000, r, false);
        shmem_barrier_all();
        T_EQ(shmemx_req_startall(2, all), 0);
        for (int k = 0; k < 2; k++)
            T_EQ(shmemx_pready_range(all[(k + me) % 2], 0, 1), 0);
        for (int k = 0; k < 2; k++)
            T_EQ(shmemx_req_wait(all[k]), 0);
        for (size_t i = 0; i < 6000; i++)
            check(dest[i] == sum(0, n, i % 3000, r));
        shmem_barrier_all();
    }
    for (int k = 0; k < 2; k++)
        T_EQ(shmemx_req_free(&all[k]), 0);
    T_EQ(wrong, 0);
    close_buffers();
}

static void on_the_software_device(void)
{
    kernel_open();
    T_RUN(each_by_the_host);
    T_RUN(each_by_a_stream_in_device_memory);
    T_RUN(in_place);
    T_RUN(in_place_with_late_members);
    T_RUN(teams_and_roots);
    T_RUN(other_types_and_operators);
    T_RUN(partitions_are_independent);
    T_RUN(a_kernel_drives_all_of_it);
    T_RUN(iterations_of_a_graph);
    T_RUN(a_schedule_of_neighbours);
    T_RUN(many_partitions_and_no_elements);
    T_RUN(many_requests_at_once);
    T_RUN(two_requests_of_one_source);
    kernel_close();
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    T_RUN(each_in_each_memory);
    if (!has_device_private)
        on_the_software_device();
    return memory_end();
}
