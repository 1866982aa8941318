/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of partitioned collectives are made, by all members of a team
 * together, and deleted.  The API calls it; the steps of a request are in
 * pcoll_run.c, and the program's calls on it in pcoll_req.c. */
#include "msg/pcoll/pcoll.h"
#include "coll/coll.h"
#include "core/core_activity.h"
#include "core/core_misuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- deleted ---- */

/* Ends its part in kernels and the device, before the memory that they use. */
static void leave_device(struct pcoll *c)
{
    part_prequest_release(&c->part);
    if (c->stream)
        gtl->stream_destroy(c->stream);
}

static void free_pcoll(struct pcoll *c)
{
    free(c->sched.actions);
    for (struct pcoll_link *l = c->links; l && l < c->links + c->n_links; l++)
        if (l->out)
            free(l->places);
    free(c->links);
    free(c->reqs);
    free(c->sends);
    free(c->runs);
    free(c->part.ready);
    free(c);
}

void pcoll_delete(const char *call, struct pcoll *c)
{
    if (c->part.trig)
        trig_free(call, c->part.trig);
    pcoll_link_close(call, c);
    leave_device(c);
    if (c->base[SHMEMX_SCRATCH])
        heap_pool_free(c->base[SHMEMX_SCRATCH]);
    if (c->room)
        heap_pool_free(c->room);
    if (c->counters)
        heap_pool_free(c->counters);
    lock_acquire(&msg_lock);
    list_remove(&c->end.link);
    lock_release(&msg_lock);
    free_pcoll(c);
}

static void free_if_coll(struct msg_chan *end, void *arg)
{
    struct pcoll *c = pcoll_of_end(end);

    (void)arg;
    if (!c)
        return;
    list_remove(&end->link);
    leave_device(c);
    free_pcoll(c);
}

void pcoll_close(void)
{
    msg_chan_visit(true, free_if_coll, NULL);
}

/* ---- creation: this member's own part ---- */

static int need_pool(const struct pcoll *c, void *out, size_t size)
{
    void *p = size ? heap_pool_alloc(size) : NULL;

    memcpy(out, &p, sizeof p);
    return size && !p ? stream_no_pool_memory(c->call, size) : 0;
}

/* The device combines memory that the processor does not reach, by a kernel. */
static int need_kernels(const struct pcoll *c)
{
    const struct pcoll_action *a = c->sched.actions;

    if (gtl_device.kernels)
        return 0;
    for (int i = 0; i < c->sched.n; i++, a++) {
        if (a->kind == PCOLL_SEND || !a->reduces)
            continue;
        stream_refuse(ERR_DEVICE, c->call, "source or dest is memory that only "
                      "the device reaches, and this device runs no kernels of "
                      "the library's, which would combine it");
        return -ENOTSUP;
    }
    return 0;
}

static int open_stream(struct pcoll *c)
{
    bool by_device = false;
    int rc;

    for (int i = SHMEMX_SOURCE; i <= SHMEMX_DEST; i++)
        by_device |= pcoll_extent(c, i) && core_device_only(c->base[i]);
    if (!by_device)
        return 0;
    for (int i = SHMEMX_SOURCE; i <= SHMEMX_DEST; i++)
        if (pcoll_extent(c, i) &&
            !stream_device_reaches(c->base[i], pcoll_extent(c, i)))
            return stream_refuse(ERR_ARG, c->call, "%s is memory that the "
                                 "device does not reach, the other buffer is "
                                 "the device's", i ? "dest" : "source");
    rc = need_kernels(c);
    if (rc)
        return rc;
    if (gtl->stream_create(GTL_URGENT, &c->stream))
        return stream_refuse(ERR_STREAM, c->call, "%s", gtl_error()), -ENOMEM;
    return 0;
}

static int alloc(struct pcoll *c)
{
    size_t n = (size_t)c->part.n;
    int rc;

    c->end.counters_size = sizeof *c->counters +
                           ((c->sched.usual ? 2 : 3) * n + 2) *
                               sizeof(uint64_t);
    rc = need_pool(c, &c->counters, c->end.counters_size);
    rc = rc ? rc : need_pool(c, &c->base[SHMEMX_SCRATCH],
                             pcoll_extent(c, SHMEMX_SCRATCH));
    rc = rc ? rc : open_stream(c);
    if (rc)
        return rc;
    c->end.counters = c->end.peer_counters = &c->counters->counters;
    c->end.dev_counters = (void *)stream_device_address(
        core_world.my_pe, c->counters, c->end.counters_size);
    c->device_done = c->counters->arrived + n;
    c->acks = c->sched.usual ? NULL : c->device_done + n + 2;
    rc = pcoll_link_actions(c);
    rc = rc ? rc : need_pool(c, &c->room, pcoll_link_room(c));
    /* An operation's number is an int. */
    if (!rc && (size_t)c->n_sends >= INT32_MAX / n)
        rc = stream_no_memory(c->call);
    if (rc)
        return rc;
    c->runs = calloc(n, sizeof *c->runs);
    c->part.ready = calloc(n, sizeof *c->part.ready);
    c->sends = calloc((size_t)c->n_sends * n + 1, sizeof *c->sends);
    return c->runs && c->part.ready && c->sends ? 0 : stream_no_memory(c->call);
}

static bool reads_source(const struct pcoll_action *a)
{
    bool with = a->reduces && a->kind != PCOLL_SEND;
    bool from = a->kind != PCOLL_RECV;

    return (with && a->with.buffer == SHMEMX_SOURCE) ||
           (from && a->from.buffer == SHMEMX_SOURCE);
}

/* Without what others have to know of. */
static struct pcoll *new_pcoll(const struct pcoll_args *a,
                               const struct pcoll_sched *s)
{
    struct pcoll *c = calloc(1, sizeof *c);
    size_t actions = (size_t)s->n * sizeof *s->actions;

    if (!c)
        return NULL;
    c->end = (struct msg_chan){
        .sends = true, .requested = true, .state = MSG_CHAN_MATCHED,
        .proto = MSG_PROTO_PART, .pe = -1, .team = a->team->id,
        .part = &c->part
    };
    c->end.link.next = c->end.link.prev = &c->end.link;
    c->call = a->call;
    c->team = a->team;
    c->number = (uint32_t)a->team->calls;
    c->sched = *s;
    c->sched.actions = malloc(actions + 1);
    if (!c->sched.actions) {
        free(c);
        return NULL;
    }
    if (actions)
        memcpy(c->sched.actions, s->actions, actions);
    c->base[SHMEMX_SOURCE] = (char *)a->source;
    c->base[SHMEMX_DEST] = a->dest;
    c->nelems = a->nelems;
    c->size = a->size;
    c->each = a->nelems * a->size;
    c->what.type = a->type;
    c->what.op = a->op;
    c->part.n = c->part.transport = a->partitions;
    c->part.each = c->each;
    c->needs_ready = !s->pieces[0] && !s->pieces[1] && !s->pieces[2];
    for (int i = 0; i < s->n; i++)
        c->needs_ready |= reads_source(&s->actions[i]);
    return c;
}

static int check_buffer(const struct pcoll *c, int which)
{
    const struct stream_where w = { .call = c->call, .ctx = &core_ctx_default };
    size_t size = pcoll_extent(c, which);
    const char *name = which == SHMEMX_DEST ? "dest" : "source";
    int at;

    if (!size)
        return 0;
    if (!c->base[which])
        return core_misuse(ERR_NULL, c->call, "%s is a null pointer", name);
    if ((uintptr_t)c->base[which] % (c->size > 8 ? 8 : c->size))
        return core_misuse(ERR_ALIGN, c->call, "%s %p is not aligned to %zu "
                           "bytes", name, (void *)c->base[which],
                           c->size > 8 ? 8 : c->size);
    if (which == SHMEMX_DEST)
        return stream_need_symmetric(&w, name, c->base[which], size,
                                     core_world.my_pe, &at);
    return stream_need_local(&w, name, c->base[which], size);
}

static int check_buffers(const struct pcoll *c)
{
    size_t dest = pcoll_extent(c, SHMEMX_DEST);
    size_t source = pcoll_extent(c, SHMEMX_SOURCE);
    uintptr_t d = (uintptr_t)c->base[SHMEMX_DEST];
    uintptr_t s = (uintptr_t)c->base[SHMEMX_SOURCE];
    int rc = check_buffer(c, SHMEMX_DEST);

    rc = rc ? rc : check_buffer(c, SHMEMX_SOURCE);
    if (!rc && dest && source && d < s + source && s < d + dest &&
        (d != s || dest != source))
        rc = core_misuse(ERR_ARG, c->call, "dest and source overlap and are "
                         "not the same");
    return rc;
}

/* Each tag is a partition that becomes ready: its operation moves a word of the
 * library's. */
static int open_trigger(struct pcoll *c)
{
    uint64_t *pair = c->device_done + c->part.n;
    struct trig_owner owner = pcoll_owner;
    int rc;

    owner.arg = c;
    /* Long ones overlap with what makes others ready. */
    owner.overlaps = !core_status.oversubscribed && !core_status.one_core &&
                     c->each >= 262144;
    rc = trig_create_owned(c->call, c->part.n, &owner, &c->part.trig);
    for (int i = 0; i < c->part.n && !rc; i++) {
        const struct stream_op op = {
            .kind = STREAM_PUT, .call = c->call, .pe = core_world.my_pe,
            .dest = pair, .source = pair + 1, .len = sizeof *pair
        };

        rc = trig_op(&(struct trig_where){ c->call, c->part.trig, i, 1 }, &op);
    }
    rc = rc ? rc : trig_rearm(c->call, c->part.trig, SHMEMX_TRIG_ALL, true);
    if (rc && c->part.trig) {
        /* Posted operations would wait for hits. */
        trig_reset(c->call, c->part.trig, SHMEMX_TRIG_ALL);
        trig_free(c->call, c->part.trig);
        c->part.trig = NULL;
    }
    c->of = rc ? NULL : trig_of(c->part.trig);
    return rc;
}

/* ---- made: with the other members ---- */

/* Arguments that all have to pass alike: 3 of the values that they compare. */
enum { PARTITIONS, ELEMENTS, KIND, BALANCE, STATE };
static const char *const value_names[] = {
    "partitions", "elements", "types, operations or roots"
};

/* Of a member whose schedule combines nothing it need not be the others': 0. */
static uint64_t kind_of(const struct pcoll_args *a)
{
    uint64_t op = a->reduces ? (uint64_t)a->op + 1 : 0;

    return a->moves ? 0 : (uint64_t)a->root << 16 |
                          ((uint64_t)a->type + 1) << 8 | op;
}

/* Another member's value is not to be trusted as an index. */
static void show(char *out, size_t size, int k, uint64_t value)
{
    uint64_t op = (value & 0xff) - 1, type = (value >> 8 & 0xff) - 1;

    if (k == KIND)
        snprintf(out, size, "%s%s%s, root %llu",
                 op < GTL_REDUCTIONS ? gtl_op_names[op] : "",
                 op < GTL_REDUCTIONS ? " of " : "",
                 type < GTL_TYPES ? gtl_type_names[type] : "an unknown type",
                 (unsigned long long)(value >> 16));
    else
        snprintf(out, size, "%llu", (unsigned long long)value);
}

/* The first member whose value counts, and the first that differs from it: the
 * same two on all members.  n_pes: none does. */
static int first_other(const struct core_team *t, int k, int *first)
{
    uint64_t value = 0, theirs;

    *first = -1;
    for (int pe = 0; pe < t->n_pes; pe++) {
        theirs = coll_checked_value(t, pe, k);
        if (k == KIND && !theirs)
            continue;
        if (*first >= 0 && theirs != value)
            return pe;
        if (*first < 0)
            *first = pe;
        value = theirs;
    }
    return t->n_pes;
}

static int refuse_other(const struct pcoll_args *a, int k)
{
    char one[64], other[64];
    int first, pe = first_other(a->team, k, &first);

    if (pe == a->team->n_pes)
        return 0;
    show(one, sizeof one, k, coll_checked_value(a->team, pe, k));
    show(other, sizeof other, k, coll_checked_value(a->team, first, k));
    return stream_refuse(ERR_ARG, a->call, "PE %d passes other %s than PE %d: "
                         "%s, and not %s", core_team_world_pe(a->team, pe),
                         value_names[k], core_team_world_pe(a->team, first),
                         one, other);
}

/* Each member publishes what it sends to the member so dist behind it, which
 * compares, for one distance after the other; the first member that has found a
 * difference names it, the same one on all. */
enum { FROM, SENT, RECEIVED };
static int refuse_unmatched(const struct pcoll_args *a, const struct pcoll *c)
{
    struct coll_args all = { .code = ERR_COLL, .call = a->call }, found = all;
    int n = a->team->n_pes, me = a->team->my_pe, pe = 0;

    for (int dist = 1; dist < n; dist++) {
        int from = (me + n - dist) % n;
        uint64_t received = pcoll_link_count(c, from, false), sent;

        all.value[SENT] = pcoll_link_count(c, (me + dist) % n, true);
        coll_check_args(a->team, &all);
        sent = coll_checked_value(a->team, from, SENT);
        if (sent == received || found.value[FROM])
            continue;
        found.value[FROM] = (uint64_t)from + 1;
        found.value[SENT] = sent;
        found.value[RECEIVED] = received;
    }
    coll_check_args(a->team, &found);
    while (pe < n - 1 && !coll_checked_value(a->team, pe, FROM))
        pe++;
    return stream_refuse(ERR_ARG, a->call, "messages from member %llu of the "
                         "team to member %d: the schedules send %llu and "
                         "receive %llu", (unsigned long long)
                         coll_checked_value(a->team, pe, FROM) - 1, pe,
                         (unsigned long long)
                         coll_checked_value(a->team, pe, SENT),
                         (unsigned long long)
                         coll_checked_value(a->team, pe, RECEIVED));
}

static int compare(const struct pcoll_args *a, const struct pcoll *c)
{
    uint64_t sum = 0;
    int rc = 0;

    for (int pe = 0; pe < a->team->n_pes; pe++) {
        if (coll_checked_value(a->team, pe, STATE) != 1)
            return stream_refuse(ERR_ARG, a->call, "another member of the "
                                 "team, PE %d, could not make its own",
                                 core_team_world_pe(a->team, pe)), -ECANCELED;
        sum += coll_checked_value(a->team, pe, BALANCE);
    }
    for (int k = PARTITIONS; k <= KIND && !rc; k++)
        rc = refuse_other(a, k);
    return rc || !sum ? rc : refuse_unmatched(a, c);
}

/* rc of this member; all have found out whether all can go on. */
static int all_agree(const struct pcoll_args *a, const struct pcoll *c, int rc)
{
    struct coll_args all = { .code = ERR_COLL, .call = a->call };
    uint64_t other;

    all.value[PARTITIONS] = (uint64_t)a->partitions;
    all.value[ELEMENTS] = a->nelems;
    all.value[KIND] = kind_of(a);
    all.value[BALANCE] = rc ? 0 : pcoll_link_balance(c);
    all.value[STATE] = !rc;
    coll_check_args(a->team, &all);
    rc = rc ? rc : compare(a, c);
    /* The next request's number is another one than that of the channels that
     * members have opened: each of these counts, a mere synchronization does
     * not. */
    if (rc)
        coll_differs(a->team, 0, &other);
    return rc;
}

/* The same later: in a step that has failed elsewhere. */
static int still_agree(const struct pcoll_args *a, int rc)
{
    uint64_t theirs;

    if (coll_differs(a->team, !rc, &theirs) < 0 || rc)
        return rc;
    stream_refuse(ERR_ARG, a->call, "another member of the team could not make "
                  "its own");
    return -ECANCELED;
}

static int join(const struct pcoll_args *a, struct pcoll *c)
{
    int rc = still_agree(a, msg_match_all(c->call, c->n_links, c->reqs));

    if (rc)
        return rc;
    pcoll_link_exchange(c);
    rc = still_agree(a, 0);
    rc = rc ? rc : still_agree(a, pcoll_link_compare(c));
    if (rc)
        return rc;
    pcoll_run_open(c);
    return 0;
}

int pcoll_create(const struct pcoll_args *a, const struct pcoll_sched *s,
                 int wrong, struct shmemx_req **out)
{
    struct pcoll *c = wrong ? NULL : new_pcoll(a, s);
    struct shmemx_req *r = NULL;
    int rc = wrong ? wrong : c ? check_buffers(c) : stream_no_memory(a->call);

    core_activity_enter(a->call, a->team);
    if (!rc && !out)
        rc = stream_refuse(ERR_NULL, a->call, "no place for the request");
    rc = rc ? rc : alloc(c);
    rc = rc ? rc : pcoll_link_open(c);
    rc = rc ? rc : open_trigger(c);
    if (!rc)
        rc = stream_req_create(a->call, &(struct stream_req_args){
            .ops = &pcoll_req_ops, .object = c }, &r);
    rc = all_agree(a, c, rc);
    rc = rc ? rc : join(a, c);
    if (rc && r)
        handle_release(&stream_reqs, r);
    if (rc) {
        if (c)
            pcoll_delete(a->call, c);
        return rc;
    }
    lock_acquire(&msg_lock);
    msg_chan_set_announced(&c->end);
    lock_release(&msg_lock);
    *out = r;
    return 0;
}
