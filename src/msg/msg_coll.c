/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective requests: barriers and reductions that are made once and started
 * on queues.  The API makes them, and the queues of the stream layer call
 * coll_req_ops.
 *
 * Such a request has a list of steps, made of a schedule (pcoll/pcoll_sched.h):
 * messages of channels that are its own, copies, and reductions by the device.
 * They run on a stream of its own, which waits until the program's stream starts
 * an iteration, and which releases that stream when the iteration has completed.
 * So a start blocks no stream, and an iteration proceeds whatever the program's
 * streams wait for. */
#include "msg/msg_coll.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "coll/coll.h"
#include "core/core_misuse.h"
#include "core/core_activity.h"
#include "msg/msg_int.h"
#include "msg/pcoll/pcoll_sched.h"
#include "stream/queue/stream_queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum step_kind { EXCHANGE, COPY, REDUCE };
struct step {
    enum step_kind kind;
    int n;                      /* EXCHANGE: messages at a time, */
    struct shmemx_req **reqs;   /* among those of the request */
    bool sends;                 /* the only one of them, so far, and that: */
    const char *sent;
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
    struct gtl_reduce what;     /* of a reduction; n elements */
    size_t size;                /* of an element */
    int n, n_reqs;
    struct step *steps;
    struct shmemx_req **reqs;   /* its messages */
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

    if (!lock_try(&lock))       /* a report cannot wait */
        return false;
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

/* ---- making the steps ---- */

static struct step *add(struct coll *c, enum step_kind kind)
{
    c->steps[c->n].kind = kind;
    return &c->steps[c->n++];
}

/* A piece of a buffer. */
struct piece {
    char *at;
    size_t n;                   /* elements */
};

static struct piece piece_of(const struct coll *c, const struct pcoll_sched *s,
                             shmemx_piece_t p)
{
    const char *base = p.buffer == SHMEMX_SOURCE ? c->what.a : c->what.out;
    size_t n = (size_t)s->pieces[p.buffer], i = (size_t)p.piece, from;

    if (!n)
        return (struct piece){ NULL, 0 };       /* of a barrier */
    from = msg_part_at(c->what.n, n, i);
    return (struct piece){ (char *)base + from * c->size,
                           msg_part_at(c->what.n, n, i + 1) - from };
}

/* The step that a message is a part of: a send and the receipt behind it are
 * under way together, unless the one reads what the other overwrites. */
static struct step *exchange(struct coll *c, const char *at, bool sends)
{
    struct step *last = c->n ? &c->steps[c->n - 1] : NULL;

    return !sends && last && last->sends && (!at || last->sent != at)
               ? last : add(c, EXCHANGE);
}

/* This action's message is that one of those between the two members. */
static int message_number(const struct pcoll_sched *s,
                          const struct pcoll_action *a)
{
    int n = 0;

    for (const struct pcoll_action *b = s->actions; b < a; b++)
        n += b->kind == a->kind && b->member == a->member;
    return n;
}

/* Messages of a step are next to each other in c->reqs. */
static int message(struct coll *c, const struct pcoll_sched *s,
                   const struct pcoll_action *a, struct piece p)
{
    const struct msg_args args = {
        .call = c->call, .sends = a->kind == PCOLL_SEND, .buf = p.at,
        .len = p.n * c->size, .pe = core_team_world_pe(c->team, a->member),
        .tag = -1 - message_number(s, a), .team = c->team->id,
        .number = c->number
    };
    struct step *t = exchange(c, p.at, args.sends);
    struct shmemx_req *r;
    int rc = msg_req_create(&args, NULL, &r);

    if (rc)
        return rc;
    if (!t->n)
        t->reqs = c->reqs + c->n_reqs;
    t->reqs[t->n] = t->reqs[0];         /* behind the receipt */
    t->reqs[args.sends ? t->n : 0] = r;
    t->n++;
    c->n_reqs++;
    t->sends = args.sends;
    t->sent = p.at;
    return 0;
}

/* The received operand is the first one if it is of a lower member. */
static void combine(struct coll *c, struct piece in, const char *with,
                    bool lower)
{
    struct gtl_reduce *r = &add(c, REDUCE)->reduce;

    *r = c->what;
    r->n = in.n;
    r->out = in.at;
    r->a = lower ? c->room : with;
    r->b = lower ? with : c->room;
}

static void copy(struct coll *c, struct piece in, const char *from)
{
    if (in.at != from)
        add(c, COPY)->reduce = (struct gtl_reduce){
            .out = in.at, .a = from, .n = in.n * c->size
        };
}

static int add_action(struct coll *c, const struct pcoll_sched *s,
                      const struct pcoll_action *a)
{
    struct piece p = piece_of(c, s, a->kind == PCOLL_SEND ? a->from : a->in);
    bool reduces = a->kind == PCOLL_RECV && a->reduces;
    int rc = 0;

    if (a->kind == PCOLL_LOCAL)
        copy(c, p, piece_of(c, s, a->from).at);
    else
        rc = message(c, s, a, reduces ? (struct piece){ c->room, p.n } : p);
    if (reduces)
        combine(c, p, piece_of(c, s, a->with).at, a->member < c->team->my_pe);
    return rc;
}

static int make_room(struct coll *c, const struct pcoll_sched *s)
{
    size_t most = 0, n;

    for (int i = 0; i < s->n; i++) {
        n = s->actions[i].reduces ? piece_of(c, s, s->actions[i].in).n : 0;
        most = n > most ? n : most;
    }
    c->room = most ? heap_pool_alloc(most * c->size) : NULL;
    return most && !c->room ? stream_no_pool_memory(c->call, most * c->size)
                            : 0;
}

static int make_steps(struct coll *c)
{
    const struct pcoll_args args = {
        .call = c->call, .team = c->team, .dest = c->what.out,
        .source = c->what.a, .partitions = 1, .on_stream = true,
        .nelems = c->what.n, .size = c->size
    };
    struct pcoll_sched s = { .n = 0 };
    int rc = pcoll_sched_usual(&s, c->size ? PCOLL_ALLREDUCE : PCOLL_BARRIER,
                               &args);

    rc = rc ? rc : make_room(c, &s);
    /* A message and a reduction at most for each action. */
    c->steps = calloc(2 * (size_t)s.n + 1, sizeof *c->steps);
    c->reqs = calloc((size_t)s.n + 1, sizeof *c->reqs);
    if (!rc && !(c->steps && c->reqs))
        rc = stream_no_memory(c->call);
    for (int i = 0; i < s.n && !rc; i++)
        rc = add_action(c, &s, &s.actions[i]);
    free(s.actions);
    return rc;
}

/* ---- a request ---- */

static void free_coll(struct coll *c) REQUIRES(lock)
{
    list_remove(&c->link);
    if (c->stream)
        gtl->stream_destroy(c->stream);
    free(c->steps);
    free(c->reqs);
    free(c);
}

/* Frees requests that the program has left, once no stream works on them. */
void msg_coll_close(void)
{
    struct list_link *l, *next;

    lock_acquire(&lock);
    list_each(l, next, &made)
        free_coll(list_entry(l, struct coll, link));
    lock_release(&lock);
}

static void undo(const char *call, struct coll *c)
{
    if (c->queue)
        stream_queue_wait_host(call, c->queue);
    for (int i = 0; i < c->n_reqs; i++)
        stream_req_free(call, c->reqs[i]);
    if (c->queue)
        stream_queue_destroy(call, c->queue);
    if (c->stream) {
        stream_destroyed(call, c->stream);
        gtl->stream_destroy(c->stream);
        c->stream = NULL;
    }
    if (c->room)
        heap_pool_free(c->room);
    if (c->counters)
        heap_pool_free(c->counters);
    lock_acquire(&lock);
    free_coll(c);
    lock_release(&lock);
}

static int prepare(struct coll *c)
{
    int rc;

    c->counters = heap_pool_alloc(sizeof *c->counters);
    if (!c->counters)
        return stream_no_pool_memory(c->call, sizeof *c->counters);
    /* The software device stops all streams at the end but urgent ones. */
    rc = gtl->stream_create(gtl_device.host_streams ? GTL_NORMAL : GTL_URGENT,
                            &c->stream);
    if (rc) {
        stream_refuse(ERR_STREAM, c->call, "%s", gtl_error());
        return rc;
    }
    return stream_queue_create(c->call, c->stream, 0, &c->queue);
}

/* ---- all members make the same ---- */

/* A member's request as a number, never 0.  No length is above 2^55. */
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

/* rc: an error found before, or 0. */
static int make(const struct coll *args, int rc, struct shmemx_req **out)
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
        rc = make_steps(c);
    rc = all_have(c, rc, word_of(c));
    if (!rc) {
        /* All members make theirs, so partners are found.  From the agreement
         * to here nothing may fail on one member alone. */
        rc = msg_match_all(c->call, c->n_reqs, c->reqs);
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

int msg_coll_init(const char *call, struct core_team *t,
                  const struct gtl_reduce *r, size_t size, int wrong,
                  struct shmemx_req **out)
{
    struct coll c = { .call = call, .team = t, .size = size };

    if (r)
        c.what = *r;
    return make(&c, wrong || !r ? wrong : may_reduce(call, r, size), out);
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
    const struct coll *c = coll_of(r);
    int pe = -1;

    if (!stream_waits_allowed())
        return stream_refuse_wait(w);
    for (int k = 0; k < c->n_reqs && pe < 0; k++)
        pe = msg_req_freed_by(handle_find(&stream_reqs, c->reqs[k]));
    if (pe < 0)
        return 0;
    stream_refuse(ERR_ARG, w->call, "request %d (%s): PE %d has freed its "
                  "request", i, stream_req_name(r).text, pe);
    return -EPIPE;
}

/* The messages are of a stream that the program does not know. */
static struct stream_errors *errors_of(const struct coll *c)
{
    struct queue *q = handle_find(&stream_queues, c->queue);

    return q ? &q->ring->exec.failed : NULL;
}

static void assign_errors(const struct coll *c, void *stream)
{
    struct stream_errors *e = errors_of(c);

    if (likely(e != NULL))
        stream_errors_assign(e, stream);
}

static int error(const char *call, struct req *r, struct stream_errors *of_queue)
{
    const struct stream_errors *e = errors_of(coll_of(r));

    (void)of_queue;
    return e ? stream_errors_take_ring(call, e) : 0;
}

static int start(const struct stream_where *w, struct queue *q, struct req *r,
                 struct start_parts *parts)
{
    struct coll *c = coll_of(r);
    const struct stream_where mine = {
        .call = w->call, .ctx = &core_ctx_default, .stream = c->stream
    };
    uint64_t seq = c->seq + 1;
    int rc;

    (void)q, (void)parts;
    assign_errors(c, w->stream);
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

static void name(const struct req *r, char *text, size_t size)
{
    snprintf(text, size, "%s", symbol_public(coll_of(r)->call));
}

static const struct stream_req_ops coll_req_ops = {
    .own_counters = true, .check_start = check_start, .start = start,
    .started = stream_req_no_call,
    .wait = { wait, stream_req_no_step, stream_req_no_step },
    .completed = completed, .waiter = waiter, .finish = stream_req_no_call,
    .error = error, .is_running = is_running,
    .busy = stream_req_not_busy, .free = free_req, .close = stream_req_no_free,
    .name = name, .test = stream_req_test_started,
    .await = stream_req_await_started
};
