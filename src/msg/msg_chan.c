/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: made and released, and the lists of all there are.  msg_req.c makes
 * them for requests, msg_match.c finds their partners and releases them; this
 * file knows nothing of matching. */
#include "msg/msg_int.h"
#include "msg/msg_check.h"
#include "msg/msg_ctrl.h"
#include "msg/part/part.h"

#include <errno.h>
#include <stdlib.h>

struct base_lock msg_lock = LOCK_INIT;
static struct list_link all GUARDED_BY(msg_lock) = LIST_INIT(all);
/* Those that no call that matches has announced; they are not in all. */
static struct list_link silent GUARDED_BY(msg_lock) = LIST_INIT(silent);
/* Messages that arrived and whose receive was not started: of the first. */
static struct {
    unsigned long n;
    int pe, tag;
} lost GUARDED_BY(msg_lock);

/* ---- the end of a channel ---- */

static void count_lost(const struct msg_chan *c) REQUIRES(msg_lock)
{
    uint64_t arrived = 0;

    if (c->sends || c->one_shot || c->part || c->tag < 0 || !c->counters)
        return;
    for (int i = 0; i < 2; i++) {
        uint64_t at =
            __atomic_load_n(&c->counters->arrived[i], __ATOMIC_ACQUIRE);

        arrived = at > arrived ? at : arrived;
    }
    if (arrived <= c->seq)
        return;
    if (!lost.n) {
        lost.pe = c->pe;
        lost.tag = c->tag;
    }
    lost.n += arrived - c->seq;
}

void msg_chan_delete(struct msg_chan *c)
{
    if (c->counters)
        heap_pool_free(c->counters);
    if (!c->sends && c->slots)
        heap_pool_free(c->landing);
    msg_handle_release(c->handle);
    part_detach(c);
    free(c);
}

void msg_chan_release(struct msg_chan *c)
{
    count_lost(c);
    list_remove(&c->link);
    msg_chan_delete(c);
}

/* ---- making ---- */

static int check_args(const struct msg_args *a, int *pe)
{
    struct stream_where w = { .call = a->call, .ctx = &core_ctx_default };
    int at, rc = stream_need_symmetric(&w, NULL, NULL, 0, a->pe, pe);

    if (!rc && a->len > PTRDIFF_MAX)
        rc = stream_refuse(ERR_ARG, a->call, "%zu bytes: no memory is that "
                           "large", a->len);
    if (!rc)
        rc = stream_need_local(&w, "buf", a->buf, a->len);
    if (!rc && a->len && heap_find(a->buf, 1) >= 0)
        rc = stream_need_symmetric(&w, "buf", a->buf, a->len,
                                   core_world.my_pe, &at);
    else if (!rc && !a->one_shot)
        rc = stream_need_mapped(&w, a->buf, a->len);
    if (!rc && a->partitions && !a->sends && heap_find(a->buf, a->len) < 0)
        rc = stream_refuse(ERR_ADDR, a->call, "buf %p with %zu bytes is not "
                           "symmetric memory, into which partitions are put",
                           a->buf, a->len);
    if (!rc && a->tag < 0 && !a->team)
        rc = stream_refuse(ERR_ARG, a->call, "tag %d is negative", a->tag);
    return rc;
}

/* NULL: no memory. */
static struct msg_chan *new_chan(const struct msg_args *a, int pe)
{
    struct msg_chan *c = calloc(1, sizeof *c);
    uint64_t handle = c ? msg_handle_new(c) : 0;

    if (!handle) {
        free(c);
        return NULL;
    }
    *c = (struct msg_chan){
        .sends = a->sends, .ready = a->ready, .one_shot = a->one_shot,
        .proto = a->one_shot ? MSG_PROTO_ONE_SHOT : MSG_PROTO_READY, .pe = pe,
        .tag = a->tag, .team = a->team, .number = a->number,
        .handle = handle, .buf = a->buf, .len = a->len, .bytes = a->len
    };
    c->link.next = c->link.prev = &c->link;
    return c;
}

/* Its counters, and the slot of a one-shot receive, which lands before a match
 * could take one.  False: the pool has no room. */
static bool alloc_memory(struct msg_chan *c)
{
    c->counters_size = c->part ? part_counters_size(c) : sizeof *c->counters;
    c->counters = heap_pool_alloc(c->counters_size);
    if (!c->counters)
        return false;
    c->dev_counters = (void *)stream_device_address(
        core_world.my_pe, c->counters, c->counters_size);
    return !c->one_shot || c->sends ||
           msg_alloc_slots(c, heap_find(c->buf, c->len) < 0 && c->len);
}

int msg_chan_create(const struct msg_args *a, struct msg_chan **out)
{
    struct msg_chan *c;
    int pe, rc = check_args(a, &pe);

    if (rc)
        return rc;
    c = new_chan(a, pe);
    if (c && a->partitions && part_attach(c, a)) {
        msg_chan_delete(c);
        c = NULL;
    }
    if (!c)
        return stream_no_memory(a->call);
    if (!alloc_memory(c)) {
        msg_chan_delete(c);
        return stream_no_pool_memory(a->call, (a->partitions
            ? (size_t)a->partitions * sizeof(uint64_t) : a->len) +
            sizeof *c->counters);
    }
    *out = c;
    return 0;
}

void msg_chan_list(struct msg_chan *c)
{
    list_append(msg_chan_is_silent(c) ? &silent : &all, &c->link);
}

void msg_chan_set_announced(struct msg_chan *s)
{
    list_remove(&s->link);
    list_append(&all, &s->link);
}

struct msg_chan *msg_chan_first_silent(void)
{
    return list_empty(&silent) ? NULL
                               : list_entry(silent.next, struct msg_chan, link);
}

/* ---- all of them ---- */

static void visit_list(struct list_link *in, msg_chan_visitor *visit, void *arg)
{
    struct list_link *l, *next;

    list_each(l, next, in)
        visit(list_entry(l, struct msg_chan, link), arg);
}

bool msg_chan_visit(bool wait, msg_chan_visitor *visit, void *arg)
{
    if (wait)
        lock_acquire(&msg_lock);
    else if (!lock_try(&msg_lock))
        return false;
    visit_list(&all, visit, arg);
    visit_list(&silent, visit, arg);
    lock_release(&msg_lock);
    return true;
}

static void report_lost(void) REQUIRES(msg_lock)
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

static void release_list(struct list_link *l) REQUIRES(msg_lock)
{
    while (!list_empty(l))
        msg_chan_release(list_entry(l->next, struct msg_chan, link));
}

void msg_chans_close(void)
{
    release_list(&all);
    release_list(&silent);
    report_lost();
}
