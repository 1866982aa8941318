/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective requests: barriers and reductions that are made once and started
 * on queues.  The API makes them, and the queues of the stream layer call
 * coll_req_ops.
 *
 * Such a request is a list of steps: messages of channels that are its own,
 * copies, and reductions by the device.  They run on a stream of its own, which
 * waits until the program's stream starts an iteration, and which releases that
 * stream when the iteration has completed.  So a start blocks no stream, and an
 * iteration proceeds whatever the program's streams wait for. */
#include "msg/msg_coll.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "coll/coll.h"
#include "core/core_misuse.h"
#include "core/core_activity.h"
#include "msg/msg_int.h"
#include "stream/queue/stream_queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum step_kind { EXCHANGE, COPY, REDUCE };
struct step {
    enum step_kind kind;
    int n;                      /* EXCHANGE: messages at a time */
    struct shmemx_req *reqs[2];
    struct gtl_reduce reduce;   /* COPY: out, a and n bytes of that */
};

/* In the heap's pool. */
struct coll_counters {
    uint64_t started, done;
};

struct coll {
    struct list_link link;      /* of all */
    const char *call;
    struct core_team *team;
    uint32_t number;            /* of those of its team: the same on all */
    void *stream;
    struct shmemx_queue *queue;
    struct coll_counters *counters;
    uint64_t seq;               /* of the last iteration that was started */
    char *room;                 /* for what arrives, in the pool, or NULL */
    size_t room_size;
    struct gtl_reduce what;     /* of a reduction; n elements */
    size_t size;                /* of an element */
    int n, most;
    struct step *steps;
};

static const struct stream_req_ops coll_req_ops;
static struct base_lock lock = LOCK_INIT;
static struct list_link made GUARDED_BY(lock) = LIST_INIT(made);

static struct coll *coll_of(const struct req *r)
{
    return r->object;
}

bool msg_coll_describe_counter(const void *word, char *text, size_t size)
{
    struct list_link *l, *next;
    bool found = false;

    lock_acquire(&lock);
    list_each(l, next, &made) {
        const struct coll *c = list_entry(l, struct coll, link);

        if (word != &c->counters->done)
            continue;
        snprintf(text, size, "a %s that not all have come to",
                 c->size ? "reduction" : "barrier");
        found = true;
    }
    lock_release(&lock);
    return found;
}

void msg_coll_visit(void (*visit)(const struct gtl_reduce *r, size_t size,
                                  void *arg), void *arg)
{
    struct list_link *l, *next;

    lock_acquire(&lock);
    list_each(l, next, &made) {
        const struct coll *c = list_entry(l, struct coll, link);

        visit(&c->what, c->size, arg);
    }
    lock_release(&lock);
}

static struct stream_where where(const struct coll *c, const char *call)
{
    return (struct stream_where){ .call = call, .ctx = &core_ctx_default,
                                  .stream = c->stream };
}

/* ---- making the steps ---- */

static struct step *add(struct coll *c, enum step_kind kind)
{
    struct step *more;

    if (c->n == c->most) {
        c->most = c->most ? 2 * c->most : 8;
        more = realloc(c->steps, (size_t)c->most * sizeof *more);
        if (!more) {
            c->most = c->n;
            return NULL;
        }
        c->steps = more;
    }
    c->steps[c->n] = (struct step){ .kind = kind };
    return &c->steps[c->n++];
}

/* One end of a message.  round: the same at both. */
static int end(struct coll *c, struct step *s, bool sends, void *buf,
               size_t len, int member, int round)
{
    const struct msg_args a = {
        .call = c->call, .sends = sends, .buf = buf, .len = len,
        .pe = core_team_world_pe(c->team, member), .tag = -1 - round,
        .team = msg_team_id(c->team), .number = c->number
    };
    int rc = msg_req_create(&a, NULL, &s->reqs[s->n]);

    s->n += !rc;
    return rc;
}

struct part {
    void *buf;
    size_t len;
    int member;                 /* -1: none */
};

static int exchange(struct coll *c, int round, struct part to,
                    struct part from)
{
    struct step *s = add(c, EXCHANGE);
    int rc = s ? 0 : stream_no_memory(c->call);

    if (!rc && from.member >= 0)
        rc = end(c, s, false, from.buf, from.len, from.member, round);
    if (!rc && to.member >= 0)
        rc = end(c, s, true, to.buf, to.len, to.member, round);
    return rc;
}

static const struct part nothing = { NULL, 0, -1 };

static int copy_over(struct coll *c)
{
    struct step *s;

    if (c->what.out == c->what.a)
        return 0;
    s = add(c, COPY);
    if (!s)
        return stream_no_memory(c->call);
    s->reduce = c->what;
    s->reduce.n *= c->size;
    return 0;
}

/* Of n elements of the result from that one on: with what came, which is the
 * first operand if it is of a lower member. */
static int reduce(struct coll *c, size_t from, size_t n, bool lower)
{
    struct step *s = add(c, REDUCE);
    char *mine = (char *)c->what.out + from * c->size;

    if (!s)
        return stream_no_memory(c->call);
    s->reduce = c->what;
    s->reduce.out = mine;
    s->reduce.n = n;
    s->reduce.a = lower ? c->room : mine;
    s->reduce.b = lower ? mine : c->room;
    return 0;
}

/* In each round a member notifies one further away and waits for one. */
static int make_barrier(struct coll *c)
{
    int n = c->team->n_pes, me = c->team->my_pe, rc = 0;

    for (int r = 0; 1 << r < n && !rc; r++)
        rc = exchange(c, r, (struct part){ NULL, 0, (me + (1 << r)) % n },
                      (struct part){ NULL, 0, (me + n - (1 << r)) % n });
    return rc;
}

/* Members beyond the largest power of two give theirs to others first.  Both of
 * a pair take the lower one's as the first operand, so all get the same. */
enum { FOLD = 0, PAIRS = 1, UNFOLD = 40 };
static int make_pairs(struct coll *c)
{
    int n = c->team->n_pes, me = c->team->my_pe, m = 1, rc;
    size_t len = c->what.n * c->size;
    struct part all = { c->what.out, len, -1 }, in = { c->room, len, -1 };

    while (2 * m <= n)
        m *= 2;
    rc = copy_over(c);
    all.member = in.member = me < m ? me + m : me - m;
    if (me >= m) {
        rc = rc ? rc : exchange(c, FOLD, all, nothing);
        return rc ? rc : exchange(c, UNFOLD, nothing, all);
    }
    if (me + m < n) {
        rc = rc ? rc : exchange(c, FOLD, nothing, in);
        rc = rc ? rc : reduce(c, 0, c->what.n, false);
    }
    for (int r = 0; 1 << r < m && !rc; r++) {
        all.member = in.member = me ^ 1 << r;
        rc = exchange(c, PAIRS + r, all, in);
        rc = rc ? rc : reduce(c, 0, c->what.n, in.member < me);
    }
    all.member = me + m;
    if (me + m < n)
        rc = rc ? rc : exchange(c, UNFOLD, all, nothing);
    return rc;
}

static size_t part_at(const struct coll *c, int i)
{
    return msg_part_at(c->what.n, (size_t)c->team->n_pes, (size_t)i);
}

/* Around the ring: parts are summed up on their way, and go around again. */
static int make_ring(struct coll *c)
{
    int n = c->team->n_pes, me = c->team->my_pe, rc = copy_over(c);
    int next = (me + 1) % n, prev = (me + n - 1) % n;
    char *out = c->what.out;

    for (int i = 0; i < 2 * (n - 1) && !rc; i++) {
        int mine = ((me - i) % n + n) % n, theirs = (mine + n - 1) % n;
        size_t a = part_at(c, mine), b = part_at(c, theirs);
        size_t to_len = part_at(c, mine + 1) - a;
        size_t from_len = part_at(c, theirs + 1) - b;
        bool sums = i < n - 1;

        rc = exchange(c, i,
                      (struct part){ out + a * c->size, to_len * c->size,
                                     next },
                      (struct part){ sums ? c->room : out + b * c->size,
                                     from_len * c->size, prev });
        if (!rc && sums)
            rc = reduce(c, b, from_len, true);
    }
    return rc;
}

/* ---- a request ---- */

static void free_steps(const char *call, struct coll *c)
{
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->steps[i].n; k++)
            stream_req_free(call, c->steps[i].reqs[k]);
}

static void free_coll(struct coll *c)
{
    lock_acquire(&lock);
    list_remove(&c->link);
    lock_release(&lock);
    free(c->steps);
    free(c);
}

static void undo(const char *call, struct coll *c)
{
    if (c->queue)
        stream_queue_wait_host(call, c->queue);
    free_steps(call, c);
    if (c->queue)
        stream_queue_destroy(call, c->queue);
    if (c->stream)
        stream_destroyed(call, c->stream);
    if (c->stream)
        gtl->stream_destroy(c->stream);
    if (c->room)
        heap_pool_free(c->room);
    if (c->counters)
        heap_pool_free(c->counters);
    free_coll(c);
}

static int prepare(struct coll *c)
{
    int rc;

    c->counters = heap_pool_alloc(sizeof *c->counters);
    if (!c->counters)
        return stream_no_pool_memory(c->call, sizeof *c->counters);
    if (c->room_size)
        c->room = heap_pool_alloc(c->room_size);
    if (c->room_size && !c->room)
        return stream_no_pool_memory(c->call, c->room_size);
    /* The software device stops all streams at the end but urgent ones. */
    rc = gtl->stream_create(gtl_device.host_streams ? GTL_NORMAL : GTL_URGENT,
                            &c->stream);
    if (rc) {
        stream_refuse(ERR_STREAM, c->call, "%s", gtl_error());
        return rc;
    }
    return stream_queue_create(c->call, c->stream, 0, &c->queue);
}

/* All members make theirs, so partners are found. */
static int match(struct coll *c)
{
    struct shmemx_req **all;
    int n = 0, rc;

    all = malloc(2 * (size_t)c->n * sizeof *all + 1);
    if (!all)
        return stream_no_memory(c->call);
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->steps[i].n; k++)
            all[n++] = c->steps[i].reqs[k];
    rc = msg_match_all(c->call, n, all);
    free(all);
    return rc;
}

/* ---- all members make the same ---- */

/* What a member makes: never 0.  No length is above 2^55. */
enum { OP_BITS = 3, WHAT_BITS = 8 };
static uint64_t word_of(const struct coll *c)
{
    uint64_t what = c->size ? (1 + (uint64_t)c->what.type) << OP_BITS |
                              (uint64_t)c->what.op : 0;

    return (uint64_t)1 << 63 | c->what.n * c->size << WHAT_BITS | what;
}

static uint64_t length_in(uint64_t word)
{
    return word << 1 >> (WHAT_BITS + 1);
}

static bool is_barrier(uint64_t word)
{
    return !(word & ((1 << WHAT_BITS) - 1));
}

static const char *show(char *out, size_t size, uint64_t word)
{
    unsigned what = word & ((1 << WHAT_BITS) - 1);

    if (!what)
        return "a barrier";
    snprintf(out, size, "SHMEMX_%s of %llu bytes of SHMEMX_%s",
             gtl_op_names[what & ((1 << OP_BITS) - 1)],
             (unsigned long long)length_in(word),
             gtl_type_names[(what >> OP_BITS) - 1]);
    return out;
}

/* Or the others would wait for one that is not there. */
static int all_have(const struct coll *c, int rc, uint64_t mine)
{
    uint64_t theirs;
    int odd = coll_differs(c->team, rc ? 0 : mine, &theirs);
    char a[64], b[64];

    if (odd < 0 || rc)
        return rc;
    if (!theirs) {
        stream_refuse(ERR_ARG, c->call, "another member of the team could not "
                      "make its own");
        return -ECANCELED;
    }
    rc = is_barrier(theirs) || is_barrier(mine) ||
         length_in(theirs) == length_in(mine) ? -EINVAL : -EMSGSIZE;
    stream_refuse(rc == -EINVAL ? ERR_ARG : ERR_SIZE, c->call, "PE %d makes "
                  "%s, this PE %s", core_team_world_pe(c->team, odd),
                  show(a, sizeof a, theirs), show(b, sizeof b, mine));
    return rc;
}

/* rc: what is wrong with it already. */
static int make(const struct coll *args, int rc,
                int (*steps)(struct coll *c), struct shmemx_req **out)
{
    struct coll *c = malloc(sizeof *c);
    struct shmemx_req *r = NULL;

    core_activity_enter(args->call, args->team);
    /* Always: a member in another call has published a word of that call, if
     * any, and would be taken for one that could not make its own. */
    coll_check_args(args->team, &(struct coll_args){
        .code = ERR_COLL, .call = args->call,
        .also = args->size ? "shmemx_barrier_init" : "shmemx_allreduce_init" });
    if (!out && !rc)
        rc = stream_refuse(ERR_NULL, args->call, "no place for the request");
    if (!c)
        return all_have(args, rc ? rc : stream_no_memory(args->call),
                        0);
    *c = *args;
    c->link.next = c->link.prev = &c->link;
    /* Its collectives so far; two more follow. */
    c->number = (uint32_t)c->team->calls;
    if (!rc)
        rc = prepare(c);
    if (!rc)
        rc = steps(c);
    rc = all_have(c, rc, word_of(c));
    if (!rc) {
        rc = match(c);
        if (!rc)
            rc = stream_req_create(c->call, &(struct stream_req_args){
                .ops = &coll_req_ops, .object = c }, &r);
        rc = all_have(c, rc, 1);
    }
    if (rc && r)
        handle_release(&stream_reqs, r);
    if (rc) {
        undo(c->call, c);
        return rc;
    }
    lock_acquire(&lock);
    list_append(&made, &c->link);
    lock_release(&lock);
    *out = r;
    return 0;
}

int msg_barrier_init(const char *call, struct core_team *t,
                        struct shmemx_req **out)
{
    struct coll c = { .call = call, .team = t };

    return make(&c, 0, make_barrier, out);
}

/* Up to that many bytes all of it goes in each round. */
enum { SHORT = 16384 };

static int may_reduce(const char *call, const struct gtl_reduce *r,
                      size_t size)
{
    const struct stream_where w = { .call = call };
    size_t len = r->n * size;
    int rc;

    if (!gtl_device.kernels) {
        stream_refuse(ERR_DEVICE, call, "this device runs no kernels of the "
                      "library's");
        return -ENOTSUP;
    }
    if (!len)
        return 0;
    for (int i = 0; i < 2; i++) {
        const void *p = i ? r->a : r->out;

        rc = stream_need_local(&w, i ? "source" : "dest", p, len);
        if (rc)
            return rc;
        if (!stream_device_reaches(p, len))
            return stream_refuse(ERR_ARG, call, "%s is memory that the device "
                                 "does not reach", i ? "source" : "dest");
    }
    return 0;
}

int msg_allreduce_init(const char *call, struct core_team *t,
                          const struct gtl_reduce *r, size_t size, int wrong,
                          struct shmemx_req **out)
{
    struct coll c = { .call = call, .team = t, .what = *r, .size = size };
    size_t n = (size_t)t->n_pes;
    bool ring = n > 2 && r->n >= n && r->n * size > SHORT;
    int rc = wrong ? wrong : may_reduce(call, r, size);

    c.room_size = n == 1 ? 0 : ring ? (r->n / n + 1) * size : r->n * size;
    return make(&c, rc, ring ? make_ring : make_pairs, out);
}

/* ---- rounds ---- */

static int do_step(const struct stream_where *w, struct coll *c,
                   struct step *s)
{
    const struct gtl_reduce *r = &s->reduce;
    int rc;

    switch (s->kind) {
    case COPY:
        return stream_device_rc(w, gtl->copy(r->out, r->a, r->n, c->stream));
    case REDUCE:
        return r->n ? stream_device_rc(w, gtl->reduce(r, c->stream)) : 0;
    case EXCHANGE:
        break;
    }
    rc = stream_queue_start_all(w->call, c->queue, s->n, s->reqs);
    return rc ? rc : stream_queue_wait_all(w->call, c->queue, s->n, s->reqs);
}

static int check_start(const struct stream_where *w, const struct req *r, int i)
{
    (void)r, (void)i;
    return stream_waits_allowed() ? 0 : stream_refuse_wait(w);
}

static int start(const struct stream_where *w, struct queue *q, struct req *r,
                 struct start_parts *parts)
{
    struct coll *c = coll_of(r);
    struct stream_where mine = where(c, w->call);
    uint64_t seq = c->seq + 1;
    int rc;

    (void)q, (void)parts;
    rc = stream_device_rc(w,
                          gtl->write64(&c->counters->started, seq, w->stream));
    if (!rc)
        rc = stream_device_rc(&mine, gtl->wait64(&c->counters->started, seq,
                                                 c->stream));
    for (int i = 0; i < c->n && !rc; i++)
        rc = do_step(&mine, c, &c->steps[i]);
    if (!rc)
        rc = stream_device_rc(&mine, gtl->write64(&c->counters->done, seq,
                                                  c->stream));
    c->seq += !rc;
    return rc;
}

static int wait(const struct stream_where *w, struct queue *q, struct req *r,
                struct start_parts *parts)
{
    const struct coll *c = coll_of(r);
    const struct stream_wait wait = {
        .how = STREAM_ALL, .ivars = &c->counters->done, .n = 1,
        .size = sizeof c->counters->done, .cmp = SHMEM_CMP_GE, .value = c->seq
    };

    (void)q, (void)parts;
    return stream_wait(w, &wait);
}

static bool completed(const struct req *r)
{
    const struct coll *c = coll_of(r);
    bool is = __atomic_load_n(&c->counters->done, __ATOMIC_ACQUIRE) >= c->seq;

    atomics_tsan_acquire();
    return is;
}

static struct core_waiter waiter(const char *call, const struct req *r,
                                 void *stream)
{
    const struct coll *c = coll_of(r);

    return (struct core_waiter){
        .addr = &c->counters->done, .bytes = sizeof c->counters->done,
        .info = { .what = CORE_FOR_QUEUE, .value = (uintptr_t)stream,
                  .call = call }
    };
}

static bool is_running(const struct req *r)
{
    return gtl->stream_query(coll_of(r)->stream) == -EAGAIN;
}

static void free_req(struct req *r)
{
    undo("shmemx_req_free", coll_of(r));
}

/* Its stream and its requests are gone. */
static void close_req(struct req *r)
{
    free_coll(coll_of(r));
}

static void name(const struct req *r, char *text, size_t size)
{
    snprintf(text, size, "%s", symbol_public(coll_of(r)->call));
}

static const struct stream_req_ops coll_req_ops = {
    .own_counters = true, .check_start = check_start, .start = start,
    .started = stream_req_no_call,
    .wait = { wait, stream_req_no_step, stream_req_no_step },
    .completed = completed, .waiter = waiter, .finish = stream_req_no_call,
    .error = stream_req_no_error, .is_running = is_running,
    .busy = stream_req_not_busy, .free = free_req, .close = close_req,
    .name = name, .test = stream_req_test_started,
    .await = stream_req_await_started
};
