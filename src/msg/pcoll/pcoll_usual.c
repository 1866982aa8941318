/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedules of the usual collectives, each as the steps of this member.
 * pcoll.c calls it when a request is made; the choice depends on values that
 * are the same on all members. */
#include "msg/pcoll/pcoll_sched.h"

/* One schedule that is being made. */
struct maker {
    const struct pcoll_args *a;
    struct pcoll_sched *s;
    int n, me, rc;
    bool in_place;
};

static shmemx_piece_t source(int piece)
{
    return (shmemx_piece_t){ SHMEMX_SOURCE, piece };
}

static shmemx_piece_t dest(int piece)
{
    return (shmemx_piece_t){ SHMEMX_DEST, piece };
}

static shmemx_piece_t scratch(int piece)
{
    return (shmemx_piece_t){ SHMEMX_SCRATCH, piece };
}

static int mod(const struct maker *m, int member)
{
    return (member % m->n + m->n) % m->n;
}

static void add(struct maker *m, const shmemx_step_t *step)
{
    if (!m->rc)
        m->rc = pcoll_sched_step(m->a->call, m->s, step);
}

static void set_pieces(struct maker *m, int of_source, int of_dest,
                       int of_scratch)
{
    m->s->pieces[SHMEMX_SOURCE] = of_source;
    m->s->pieces[SHMEMX_DEST] = of_dest;
    m->s->pieces[SHMEMX_SCRATCH] = of_scratch;
}

static void copy(struct maker *m, shmemx_piece_t in, shmemx_piece_t out)
{
    add(m, &(shmemx_step_t){ .out = out, .in = in });
}

static void send(struct maker *m, int to, shmemx_piece_t out)
{
    add(m, &(shmemx_step_t){ .n_to = 1, .to = &to, .out = out });
}

static void receive(struct maker *m, int from, shmemx_piece_t in)
{
    add(m, &(shmemx_step_t){ .n_from = 1, .from = &from, .in = in });
}

static void combine(struct maker *m, int from, shmemx_piece_t in,
                    shmemx_piece_t with)
{
    add(m, &(shmemx_step_t){ .n_from = 1, .from = &from, .in = in,
                             .with = with, .reduces = 1 });
}

/* ---- allreduce ---- */

/* Up to so many bytes members exchange all of it. */
enum { SMALL = 4096, SMALL_ON_STREAM = 16384, DIRECT_MOST = 16 };

/* All of it in each round; members beyond the largest power of two give theirs
 * to others first. */
static void make_pairs(struct maker *m)
{
    shmemx_piece_t mine = source(0);
    int most = 1;

    set_pieces(m, 1, 1, 0);
    while (2 * most <= m->n)
        most *= 2;
    if (m->me >= most) {
        send(m, m->me - most, mine);
        receive(m, m->me - most, dest(0));
        return;
    }
    if (m->n == 1)
        copy(m, dest(0), mine);
    if (m->me + most < m->n) {
        combine(m, m->me + most, dest(0), mine);
        mine = dest(0);
    }
    for (int bit = 1; bit < most; bit *= 2) {
        send(m, m->me ^ bit, mine);
        combine(m, m->me ^ bit, dest(0), mine);
        mine = dest(0);
    }
    if (m->me + most < m->n)
        send(m, m->me + most, mine);
}

/* Each member combines one piece of all sources, where they are, and sends it to
 * all.  A source's piece is read before the piece of dest arrives. */
static void make_direct(struct maker *m)
{
    int others[DIRECT_MOST], n = m->n - 1;

    set_pieces(m, m->n, m->n, 0);
    for (int i = 0; i < n; i++) {
        others[i] = mod(m, m->me + 1 + i);
        add(m, &(shmemx_step_t){ .n_to = 1, .to = &others[i], .stays = 1,
                                 .out = source(others[i]) });
    }
    add(m, &(shmemx_step_t){ .n_from = n, .from = others, .in = dest(m->me),
                             .with = source(m->me), .reduces = 1,
                             .stays = 1 });
    add(m, &(shmemx_step_t){ .n_to = n, .to = others, .out = dest(m->me) });
    for (int i = n - 1; i >= 0; i--)
        receive(m, others[i], dest(others[i]));
}

/* Around the ring: pieces are summed up on their path, and go around again.  A
 * piece that went out comes back after it has been combined with the last. */
static void make_ring(struct maker *m)
{
    int next = mod(m, m->me + 1), prev = mod(m, m->me - 1);

    set_pieces(m, m->n, m->n, 0);
    for (int i = 0; i < 2 * (m->n - 1); i++) {
        int mine = mod(m, m->me - i), theirs = mod(m, mine - 1);

        add(m, &(shmemx_step_t){
            .n_to = 1, .to = &next, .out = i ? dest(mine) : source(mine),
            .n_from = 1, .from = &prev, .in = dest(theirs),
            .with = source(theirs), .reduces = i < m->n - 1,
            .stays = i < m->n - 1
        });
    }
}

/* A stream waits for each message of a ring: two members save none by it. */
static bool is_small(const struct maker *m)
{
    const struct pcoll_args *a = m->a;

    return a->nelems * a->size <= (a->on_stream ? SMALL_ON_STREAM : SMALL) ||
           a->nelems < (size_t)m->n || m->n == 1 ||
           (a->on_stream && m->n == 2);
}

static void make_allreduce(struct maker *m)
{
    if (is_small(m))
        make_pairs(m);
    else if (m->a->team->mapped && m->n <= DIRECT_MOST && !m->a->on_stream)
        make_direct(m);
    else
        make_ring(m);
}

/* ---- other reductions ---- */

/* A tree whose root is member `root`: the others' results are in scratch. */
static void make_reduce(struct maker *m)
{
    int at = mod(m, m->me - m->a->root), bit;
    shmemx_piece_t sum = at ? scratch(0) : dest(0), mine = source(0);

    set_pieces(m, 1, !at, at != 0);
    if (m->n == 1)
        copy(m, sum, mine);
    for (bit = 1; bit < m->n && !(at & bit); bit *= 2)
        if (at + bit < m->n) {
            combine(m, mod(m, m->me + bit), sum, mine);
            mine = sum;
        }
    if (at)
        send(m, mod(m, m->me - bit), mine);
}

/* Each block is summed up on its path to its member. */
static void make_reduce_scatter(struct maker *m)
{
    int next = mod(m, m->me + 1), prev = mod(m, m->me - 1);
    shmemx_piece_t out = source(prev), in;

    set_pieces(m, m->n, 1, 2);
    if (m->n == 1)
        copy(m, dest(0), source(0));
    for (int i = 0; i < m->n - 1; i++) {
        in = i == m->n - 2 ? dest(0) : scratch(i % 2);
        add(m, &(shmemx_step_t){
            .n_to = 1, .to = &next, .out = out, .n_from = 1, .from = &prev,
            .in = in, .with = source(mod(m, m->me - i - 2)), .reduces = 1
        });
        out = in;
    }
}

/* In round k a member has the sum of 2^k members, and gives it to the one so
 * dist behind it. */
static void sum_up(struct maker *m, int first)
{
    for (int dist = 1; first + dist < m->n; dist *= 2) {
        if (m->me >= first && m->me + dist < m->n)
            send(m, m->me + dist, dest(0));
        if (m->me - dist >= first)
            combine(m, m->me - dist, dest(0), dest(0));
    }
}

static void make_inscan(struct maker *m)
{
    set_pieces(m, 1, 1, 0);
    if (!m->in_place)
        copy(m, dest(0), source(0));
    sum_up(m, 0);
}

/* The inclusive one of the sources of the members before.  The library's memory
 * is zero where nothing arrives. */
static void make_exscan(struct maker *m)
{
    shmemx_piece_t in = m->in_place || !m->me ? scratch(0) : dest(0);

    set_pieces(m, 1, 1, 1);
    if (m->me + 1 < m->n)
        send(m, m->me + 1, source(0));
    if (m->me)
        receive(m, m->me - 1, in);
    if (in.buffer == SHMEMX_SCRATCH)
        copy(m, dest(0), in);
    sum_up(m, 1);
}

/* ---- moves ---- */

static void make_broadcast(struct maker *m)
{
    int at = mod(m, m->me - m->a->root), bit = 1;
    shmemx_piece_t mine = at ? dest(0) : source(0);

    set_pieces(m, !at, 1, 0);
    while (bit < m->n && !(at & bit))
        bit *= 2;
    if (at)
        receive(m, mod(m, m->me - bit), mine);
    for (bit /= 2; bit; bit /= 2)
        if (at + bit < m->n)
            send(m, mod(m, m->me + bit), mine);
    if (!at && !m->in_place)
        copy(m, dest(0), mine);
}

static void make_allgather(struct maker *m)
{
    int next = mod(m, m->me + 1), prev = mod(m, m->me - 1);

    set_pieces(m, 1, m->n, 0);
    for (int i = 0; i < m->n - 1; i++) {
        send(m, next, i ? dest(mod(m, m->me - i)) : source(0));
        if (!i)
            copy(m, dest(m->me), source(0));
        receive(m, prev, dest(mod(m, m->me - i - 1)));
    }
    if (m->n == 1)
        copy(m, dest(0), source(0));
}

static void make_gather(struct maker *m)
{
    bool is_root = m->me == m->a->root;

    set_pieces(m, 1, is_root ? m->n : 0, 0);
    if (!is_root) {
        send(m, m->a->root, source(0));
        return;
    }
    copy(m, dest(m->me), source(0));
    for (int i = 1; i < m->n; i++)
        receive(m, mod(m, m->me + i), dest(mod(m, m->me + i)));
}

static void make_scatter(struct maker *m)
{
    bool is_root = m->me == m->a->root;

    set_pieces(m, is_root ? m->n : 0, 1, 0);
    if (!is_root) {
        receive(m, m->a->root, dest(0));
        return;
    }
    for (int i = 1; i < m->n; i++)
        send(m, mod(m, m->me + i), source(mod(m, m->me + i)));
    copy(m, dest(0), source(m->me));
}

/* In place, a block may arrive before that one of the source is sent: it
 * arrives in scratch memory, and its copy waits for the partition's sends. */
static void make_alltoall(struct maker *m)
{
    set_pieces(m, m->n, m->n, m->in_place ? m->n - 1 : 0);
    for (int i = 1; i < m->n; i++)
        send(m, mod(m, m->me + i), source(mod(m, m->me + i)));
    if (!m->in_place)
        copy(m, dest(m->me), source(m->me));
    for (int i = 1; i < m->n; i++) {
        int from = mod(m, m->me - i);

        receive(m, from, m->in_place ? scratch(i - 1) : dest(from));
        if (m->in_place)
            copy(m, dest(from), scratch(i - 1));
    }
}

/* In each round a member notifies one further away and waits for one. */
static void make_barrier(struct maker *m)
{
    set_pieces(m, 0, 0, 0);
    for (int dist = 1; dist < m->n; dist *= 2) {
        send(m, mod(m, m->me + dist), source(0));
        receive(m, mod(m, m->me - dist), dest(0));
    }
}

/* ---- */

int pcoll_sched_usual(struct pcoll_sched *s, enum pcoll_usual what,
                      const struct pcoll_args *a)
{
    static const struct {
        void (*make)(struct maker *m);
        bool splits;
    } usual[] = {
        [PCOLL_ALLREDUCE] = { make_allreduce, true },
        [PCOLL_REDUCE] = { make_reduce, false },
        [PCOLL_REDUCE_SCATTER] = { make_reduce_scatter, false },
        [PCOLL_INSCAN] = { make_inscan, false },
        [PCOLL_EXSCAN] = { make_exscan, false },
        [PCOLL_BROADCAST] = { make_broadcast, false },
        [PCOLL_ALLGATHER] = { make_allgather, false },
        [PCOLL_GATHER] = { make_gather, false },
        [PCOLL_SCATTER] = { make_scatter, false },
        [PCOLL_ALLTOALL] = { make_alltoall, false },
        [PCOLL_BARRIER] = { make_barrier, false }
    };
    struct maker m = { .a = a, .s = s, .n = a->team->n_pes,
                       .me = a->team->my_pe, .in_place = a->dest == a->source };

    s->n_pes = m.n;
    s->me = m.me;
    s->blocks = !usual[what].splits;
    s->usual = true;
    usual[what].make(&m);
    return m.rc;
}
