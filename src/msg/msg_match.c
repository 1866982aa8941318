/* SPDX-License-Identifier: BSD-3-Clause */
/* Senders and receivers find each other.
 *
 * A sender posts a note to the receiver, which knows its receives: by PE, tag,
 * and which one it is of those that were made for them, each note is for one.
 * The receiver decides how messages go, takes memory for that, and answers.
 * Answers are given for all receives that were made, by whoever looks for
 * mail, so that no order of match calls makes two PEs wait for each other.
 * Memory that a partner writes is given back when both have told that their
 * end was freed. */
#include "msg/msg_chan.h"
#include "base/fault.h"
#include "base/lock.h"
#include "stream/queue/stream_queue.h"
#include "msg/msg_check.h"
#include "msg/msg_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct base_lock lock = LOCK_INIT;
static struct list_link all GUARDED_BY(lock) = LIST_INIT(all);
/* Senders that have not looked for their receives; they are not in all. */
static struct list_link fresh GUARDED_BY(lock) = LIST_INIT(fresh);
static bool unsent;             /* atomic: notes are not known to have come */
static bool lively;             /* atomic: but soon may be */
static unsigned sought;         /* atomic: partners that the program matches */
/* Messages that came and whose receive was not started: of the first one. */
static struct {
    unsigned long n;
    int pe, tag;
} lost GUARDED_BY(lock);

/* ---- the end of a channel ---- */

static void give_words(struct msg_chan *c)
{
    if (c->words)
        heap_pool_free(c->words);
    c->words = NULL;
}

static void note_lost(const struct msg_chan *c) REQUIRES(lock)
{
    uint64_t came = 0;

    if (c->sends || c->once || c->tag < 0 || !c->words)
        return;
    for (int i = 0; i < 2; i++) {
        uint64_t at = __atomic_load_n(&c->words->arrived[i], __ATOMIC_ACQUIRE);

        came = at > came ? at : came;
    }
    if (came <= c->round)
        return;
    if (!lost.n) {
        lost.pe = c->pe;
        lost.tag = c->tag;
    }
    lost.n += came - c->round;
}

/* No note names it any more. */
static void chan_delete(struct msg_chan *c)
{
    msg_handle_release(c->mine_at);
    free(c);
}

static void release(struct msg_chan *c) REQUIRES(lock)
{
    note_lost(c);
    msg_chan_close_trigger(c);
    give_words(c);
    if (!c->sends && c->slots)
        heap_pool_free(c->land);
    list_remove(&c->link);
    chan_delete(c);
}

static void post(struct msg_chan *c, const struct msg_ctrl *n) REQUIRES(lock)
{
    if (msg_ctrl_post(c->pe, n))
        core_fatal(ERR_LIMIT, "shmemx_match", "out of memory for a note to "
                   "PE %d", c->pe);
    __atomic_store_n(&unsent, true, __ATOMIC_RELEASE);
}

static struct msg_ctrl note_of(const struct msg_chan *c,
                               enum msg_ctrl_kind kind)
{
    return (struct msg_ctrl){
        .kind = kind, .tag = c->tag, .number = c->number, .team = c->team,
        .mine = c->mine_at, .yours = c->yours,
        .words = c->words ? (uintptr_t)c->words - heap_segs[HEAP_HOST].base
                          : 0,
        .seg = -1
    };
}

static void set_state(struct msg_chan *c, enum msg_chan_state state)
{
    __atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

static void settle(struct msg_chan *c, enum msg_chan_state state) REQUIRES(lock)
{
    set_state(c, state);
    if (c->wanted && !c->once)
        __atomic_fetch_sub(&sought, 1, __ATOMIC_RELAXED);
}

static void break_off(struct msg_chan *c, int error) REQUIRES(lock)
{
    c->error = error;
    settle(c, MSG_CHAN_FAILED);
}

/* ---- a receive and the note of its sender ---- */

static void answer(struct msg_chan *r, const struct msg_ctrl *n)
    REQUIRES(lock)
{
    struct msg_ctrl a = note_of(r, MSG_RTR);

    a.yours = n ? n->mine : r->yours;
    a.error = r->error;
    a.bytes = r->len;
    a.flags = (uint32_t)r->how << MSG_RTR_PROTO_SHIFT;
    if (!r->error) {
        a.slots = (int32_t)r->slots;
        a.step = r->step;
        msg_ctrl_set_addr(&a, r->bytes ? (void *)r->land : r->words,
                       r->slots ? r->slots * r->step : r->bytes);
    }
    post(r, &a);
}

/* Of this node's PE and tag, what is wrong with its message. */
static int misfit(struct msg_chan *r, const struct msg_ctrl *n)
{
    if (r->left)
        return -ECANCELED;
    r->bytes = n->bytes;
    return n->bytes > r->len ? -EMSGSIZE : msg_select_proto(r, n);
}

/* It is in no table any more. */
static void pair(struct msg_chan *r, const struct msg_ctrl *n) REQUIRES(lock)
{
    int error = n->flags & MSG_RTS_CANCELLED ? -ECANCELED : misfit(r, n);

    r->yours = n->mine;
    r->there = (struct msg_words *)(heap_segs[HEAP_HOST].base + n->words);
    r->error = error;
    if (!(n->flags & MSG_RTS_CANCELLED) && (error || !r->once || r->reached))
        answer(r, n);
    if (r->left) {
        if (r->once)
            __atomic_fetch_sub(&sought, 1, __ATOMIC_RELAXED);
        release(r);
    } else if (error)
        break_off(r, error);
    else {
        msg_chan_map_peer(r);
        settle(r, MSG_CHAN_MATCHED);
    }
}

static void sender_came(const struct msg_ctrl *n) REQUIRES(lock)
{
    struct msg_chan *r = msg_table_take_recv(n);

    if (r)
        pair(r, n);
    else if (!msg_table_add_rts(n))
        core_fatal(ERR_LIMIT, "shmemx_match", "out of memory for a note of "
                   "PE %d", n->from);
}

bool msg_find_unexpected(int pe, int *tag, bool *once)
{
    const struct msg_ctrl *n;

    if (!lock_try(&lock))
        return false;
    n = msg_table_first_unexpected(pe);
    if (n) {
        *tag = n->tag;
        *once = n->flags & MSG_RTS_ONE_SHOT;
    }
    lock_release(&lock);
    return n != NULL;
}

/* ---- the sender's side ---- */

static void say_gone(struct msg_chan *c) REQUIRES(lock)
{
    struct msg_ctrl n = note_of(c, MSG_FIN);

    n.bytes = c->round;
    post(c, &n);
    c->left = true;
    if (c->gone)
        release(c);
}

static void receiver_answered(const struct msg_ctrl *n) REQUIRES(lock)
{
    struct msg_chan *s = msg_chan_of_ctrl(n);

    msg_check_rtr(s, n);
    s->yours = n->mine;
    if (s->left) {              /* freed meanwhile */
        if (n->error)
            release(s);
        else
            say_gone(s);
        return;
    }
    if (n->error) {
        msg_chan_close_trigger(s);
        if (n->error == -EMSGSIZE)
            s->bytes = n->bytes;        /* for the line */
        break_off(s, n->error);
        return;
    }
    s->how = (enum msg_proto)(n->flags >> MSG_RTR_PROTO_SHIFT);
    s->there = (struct msg_words *)(heap_segs[HEAP_HOST].base + n->words);
    s->bytes = s->len;
    s->land = msg_ctrl_addr(n);
    s->slots = (unsigned)n->slots;
    s->step = n->step;
    if (s->how != MSG_PROTO_TRIG)
        msg_chan_close_trigger(s);
    if (s->how == MSG_PROTO_PEER_COPY)
        s->pairs[0].to =
            (void *)stream_device_address(s->pe, s->land, s->bytes);
    if (s->once)
        __atomic_store_n(&s->words->go, 1, __ATOMIC_RELEASE);
    msg_chan_map_peer(s);
    settle(s, MSG_CHAN_MATCHED);
}

static void partner_left(const struct msg_ctrl *n) REQUIRES(lock)
{
    struct msg_chan *c = msg_chan_of_ctrl(n);

    msg_check_fin(c, n);
    c->last = n->bytes;
    __atomic_store_n(&c->gone, true, __ATOMIC_RELEASE);
    if (c->left)
        release(c);
}

/* ---- mail ---- */

static void read_mail(void) REQUIRES(lock)
{
    struct msg_ctrl n;

    while (msg_ctrl_take(&n)) {
        msg_check_ctrl(&n);
        if (n.kind == MSG_RTS)
            sender_came(&n);
        else if (n.kind == MSG_RTR)
            receiver_answered(&n);
        else
            partner_left(&n);
    }
}

static void see_to_mail(const char *call, bool near_only) REQUIRES(lock)
{
    read_mail();
    if (!__atomic_load_n(&unsent, __ATOMIC_RELAXED))
        return;
    if (msg_ctrl_flush(call, near_only))
        __atomic_store_n(&unsent, false, __ATOMIC_RELAXED);
    __atomic_store_n(&lively, msg_ctrl_is_moving(), __ATOMIC_RELAXED);
}

/* The caller may not come again, and its partners wait.  False: there is no
 * agent, or it looks at nothing. */
static bool leave_to_agent(void)
{
    if (!__atomic_load_n(&unsent, __ATOMIC_ACQUIRE))
        return true;
    if (fault_hit(FAULT_STREAM_AGENT) || stream_progress_start())
        return false;
    stream_progress_wake();
    return true;
}

void msg_progress(const char *call)
{
    if (!msg_ctrl_has_incoming() && !__atomic_load_n(&unsent, __ATOMIC_ACQUIRE))
        return;
    lock_acquire(&lock);
    see_to_mail(call, false);
    lock_release(&lock);
}

void msg_progress_or_defer(const char *call)
{
    msg_progress(call);
    leave_to_agent();
}

void msg_flush_ctrl(const char *call)
{
    struct core_waiter w = msg_ctrl_waiter(call);

    w.silent = true;
    for (;;) {
        msg_progress(call);
        if (!__atomic_load_n(&lively, __ATOMIC_RELAXED) && leave_to_agent())
            break;
        core_wait_step(&w);
    }
    core_wait_end(&w);
}

bool msg_poll(void)
{
    if ((msg_ctrl_has_incoming() ||
         __atomic_load_n(&unsent, __ATOMIC_ACQUIRE)) &&
        lock_try(&lock)) {
        see_to_mail("shmemx_enqueue_start", false);
        lock_release(&lock);
    }
    return __atomic_load_n(&unsent, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&sought, __ATOMIC_RELAXED);
}

/* ---- making and freeing ---- */

/* A sender may have been here; else it will find this one. */
static void offer(struct msg_chan *r) REQUIRES(lock)
{
    struct msg_ctrl n;

    if (msg_table_take_rts(r, &n))
        pair(r, &n);
    else
        msg_table_add_recv(r);
}

static int check(const struct msg_args *a, int *pe)
{
    struct stream_where w = { a->call, &core_ctx_default, NULL };
    int at, rc = stream_need_symmetric(&w, NULL, 0, a->pe, pe);

    if (!rc)
        rc = stream_need_local(&w, a->buf, a->len);
    if (!rc && a->len && heap_find(a->buf, 1) >= 0)
        rc = stream_need_symmetric(&w, a->buf, a->len, core_world.my_pe, &at);
    else if (!rc && !a->once)
        rc = stream_need_mapped(&w, a->buf, a->len);
    if (!rc && a->tag < 0 && !a->team)
        rc = stream_refuse(ERR_ARG, a->call, "tag %d is negative", a->tag);
    return rc;
}

/* Its number, and its place among those of its kind. */
static int enter(struct msg_chan *c)
{
    int64_t number;

    lock_acquire(&lock);
    number = c->team ? c->number : msg_table_next_number(c);
    if (number >= 0) {
        c->number = (uint32_t)number;
        list_append(c->sends && !c->once ? &fresh : &all, &c->link);
        if (!c->sends)
            offer(c);
    }
    lock_release(&lock);
    return number < 0 ? -ENOMEM : 0;
}

int msg_chan_create(const struct msg_args *a, struct msg_chan **out)
{
    struct msg_chan *c;
    uint64_t at;
    int pe, rc = check(a, &pe);

    if (rc)
        return rc;
    msg_progress_or_defer(a->call);   /* what was freed gives its memory back */
    c = calloc(1, sizeof *c);
    at = c ? msg_handle_new(c) : 0;
    if (!at) {
        free(c);
        return stream_no_memory(a->call);
    }
    *c = (struct msg_chan){
        .sends = a->sends, .ready = a->ready, .once = a->once, .pe = pe,
        .tag = a->tag, .team = a->team, .number = a->number,
        .mine_at = at, .buf = a->buf, .len = a->len, .bytes = a->len,
        .words = heap_pool_alloc(sizeof *c->words)
    };
    c->link.next = c->link.prev = &c->link;
    if (!c->words ||
        (c->once && !c->sends &&
         !msg_chan_alloc_slots(c, heap_find(c->buf, c->len) < 0 && c->len))) {
        give_words(c);
        chan_delete(c);
        return stream_no_pool_memory(a->call, a->len + sizeof *c->words);
    }
    c->mine = (void *)stream_device_address(core_world.my_pe, c->words,
                                            sizeof *c->words);
    rc = enter(c);
    if (rc) {
        give_words(c);
        if (c->slots)
            heap_pool_free(c->land);
        chan_delete(c);
        return stream_no_memory(a->call);
    }
    *out = c;
    return 0;
}

static void ask(struct msg_chan *c, uint32_t flags) REQUIRES(lock)
{
    struct msg_ctrl n = note_of(c, MSG_RTS);

    if (!(flags & MSG_RTS_CANCELLED) && msg_chan_open_trigger(c)) {
        flags |= MSG_RTS_TRIGGER;
        n.gate = c->gate_at;
    }
    n.bytes = c->len;
    n.flags = flags | (c->ready ? MSG_RTS_READY : 0) |
              (c->once ? MSG_RTS_ONE_SHOT : 0) | msg_peer_copy_flags(c);
    msg_ctrl_set_addr(&n, c->buf, c->len);
    post(c, &n);
}

static void look(struct msg_chan *s) REQUIRES(lock)
{
    set_state(s, MSG_CHAN_RTS_SENT);
    list_remove(&s->link);
    list_append(&all, &s->link);
    ask(s, 0);
}

void msg_chan_request_match(const char *call, struct msg_chan *c)
{
    lock_acquire(&lock);
    if (!c->wanted && !c->once && c->state < MSG_CHAN_MATCHED)
        __atomic_fetch_add(&sought, 1, __ATOMIC_RELAXED);
    c->wanted = true;
    if (c->sends && c->state == MSG_CHAN_NEW) {
        look(c);
        if (c->once)
            see_to_mail(call, true);
    }
    lock_release(&lock);
    if (c->once)
        leave_to_agent();
}

/* Or two PEs would wait for each other's sends to be matched first. */
void msg_send_all_rts(void)
{
    lock_acquire(&lock);
    while (!list_empty(&fresh))
        look(list_entry(fresh.next, struct msg_chan, link));
    lock_release(&lock);
}

/* Nobody has answered it, or found it. */
static void free_alone(struct msg_chan *c) REQUIRES(lock)
{
    if (c->sends) {
        ask(c, MSG_RTS_CANCELLED);
        release(c);
    } else {
        c->left = true;         /* until its sender comes */
        give_words(c);
        if (c->once) {          /* who asks nobody else, so the agent looks */
            __atomic_fetch_add(&sought, 1, __ATOMIC_RELAXED);
            stream_progress_wake();
        }
    }
}

/* Its sender waits for an answer. */
static bool owes_answer(const struct msg_chan *c)
{
    return c->once && !c->sends && !c->reached && c->state == MSG_CHAN_MATCHED;
}

void msg_chan_free(struct msg_chan *c)
{
    lock_acquire(&lock);
    if (owes_answer(c)) {
        c->error = -ECANCELED;
        answer(c, NULL);
    }
    if (c->state == MSG_CHAN_NEW)
        free_alone(c);
    else if (c->state == MSG_CHAN_FAILED || c->once)
        release(c);
    else if (c->state == MSG_CHAN_RTS_SENT)
        c->left = true;         /* until it is answered */
    else
        say_gone(c);
    see_to_mail("shmemx_req_free", true);   /* no round trip for each */
    lock_release(&lock);
    leave_to_agent();
}

void msg_chan_recv_reached(struct msg_chan *c)
{
    lock_acquire(&lock);
    c->reached = true;
    if (c->state == MSG_CHAN_MATCHED)
        answer(c, NULL);
    see_to_mail("shmemx_enqueue_start", true);  /* the rest by the agent */
    lock_release(&lock);
}

static void visit_list(struct list_link *in, msg_chan_visitor *visit, void *arg)
{
    struct list_link *l, *next;

    list_each(l, next, in)
        visit(list_entry(l, struct msg_chan, link), arg);
}

bool msg_chan_visit(bool waits, msg_chan_visitor *visit, void *arg)
{
    if (waits)
        lock_acquire(&lock);
    else if (!lock_try(&lock))
        return false;
    visit_list(&all, visit, arg);
    visit_list(&fresh, visit, arg);
    lock_release(&lock);
    return true;
}

/* ---- the end ---- */

static void tell_lost(void) REQUIRES(lock)
{
    bool is_one = lost.n == 1;

    if (lost.n)
        log_warn(ERR_STREAM, "shmem_finalize: %lu %s not started, %sfrom PE "
                 "%d, tag %d: what was sent is lost", lost.n, is_one
                 ? "message came whose receive was"
                 : "messages came whose receives were",
                 is_one ? "" : "one of them ", lost.pe, lost.tag);
    lost.n = 0;
}

static void forget_list(struct list_link *l) REQUIRES(lock)
{
    while (!list_empty(l)) {
        struct msg_chan *c = list_entry(l->next, struct msg_chan, link);

        note_lost(c);
        list_remove(&c->link);
        chan_delete(c);
    }
}

static void close_gate(struct msg_chan *c, void *arg)
{
    (void)arg;
    msg_chan_close_trigger(c);
}

void msg_close_triggers(void)
{
    msg_chan_visit(true, close_gate, NULL);
}

void msg_close(void)
{
    lock_acquire(&lock);
    forget_list(&all);
    forget_list(&fresh);
    msg_table_clear();
    tell_lost();
    __atomic_store_n(&unsent, false, __ATOMIC_RELAXED);
    __atomic_store_n(&sought, 0, __ATOMIC_RELAXED);
    lock_release(&lock);
}
