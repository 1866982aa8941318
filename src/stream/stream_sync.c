/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers in stream order, by dissemination: in round r a member signals the
 * member 2^r further on and waits for the signal of the one 2^r before.  Each
 * flag has one writer and counts the synchronizations, so it is never reset.
 * Called by src/api; enqueues signals and waits, and waits for nothing itself.
 */
#include "stream/graph/stream_graph.h"
#include "stream/stream_int.h"

#include <stddef.h>

/* Member pe's word, as this PE writes symmetric addresses. */
static uint64_t *word_of(const struct core_team *t, int pe, int round)
{
    return (uint64_t *)(heap_segs[HEAP_HOST].base + core_team_area_at(t, pe) +
                        offsetof(struct core_team_area, streamed)) + round;
}

/* Flags off-node are added to: two values might come in the wrong order. */
static int notify_member(const struct stream_where *w,
                         const struct core_team *t, int pe, int round,
                         uint64_t epoch)
{
    int at = core_team_world_pe(t, pe);
    uint64_t *word = word_of(t, pe, round);
    bool mapped = stream_device_address_amo(at, word, sizeof *word) != 0;
    const struct stream_signal s = {
        .addr = word, .value = mapped ? epoch : 1,
        .op = mapped ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD
    };

    return stream_signal(w, &s, at);
}

/* The PE of the world whose signal this member waits for in that round. */
static int before(const struct core_team *t, int round)
{
    unsigned n = (unsigned)t->n_pes, back = (1u << round) % n;

    return core_team_world_pe(t, (int)(((unsigned)t->my_pe + n - back) % n));
}

static int sync_now(const struct stream_where *w, struct core_team *t)
{
    struct stream_where world = { .call = w->call, .ctx = &core_ctx_default,
                                  .stream = w->stream };
    int rounds = core_team_rounds(t->n_pes), rc = stream_need_stream(w);
    uint64_t epoch = t->streamed + 1;
    struct stream_wait c = {
        .how = STREAM_ALL, .n = 1, .size = sizeof epoch, .cmp = SHMEM_CMP_GE,
        .value = epoch
    };

    if (!rc && rounds && unlikely(!stream_waits_allowed()))
        return stream_refuse_wait(w);           /* before the first signal */
    if (rounds)
        rc = stream_need_live(w);
    for (int r = 0; r < rounds && !rc; r++) {
        rc = notify_member(&world, t, (int)(((unsigned)t->my_pe + (1u << r)) %
                                   (unsigned)t->n_pes), r, epoch);
        c.ivars = word_of(t, t->my_pe, r);
        c.whose = 1 + before(t, r);
        if (!rc)
            rc = stream_wait(&world, &c);
    }
    if (!rc)
        t->streamed = epoch;
    return rc;
}

static int barrier_now(const struct stream_where *w, struct core_team *t)
{
    int rc = stream_quiet(w);

    return rc ? rc : sync_now(w, t);
}

/* ---- in graphs ---- */

struct synchronization {
    struct core_team *team;
    uint64_t number;            /* no other team's */
    bool barrier;
};

/* By a launch: the synchronization is the next one of the team. */
static int repeat(const struct stream_where *w, const void *args)
{
    const struct synchronization *m = args;
    struct core_team *t = m->team;

    if (!core_team_known(t) || t->recorded != m->number)
        return stream_refuse(ERR_TEAM, w->call, "a graph was launched whose "
                             "team has been destroyed");
    return m->barrier ? barrier_now(w, t) : sync_now(w, t);
}

/* Once a graph has one, those outside of graphs are counted when the streams
 * get there, too: in the order in which they happen. */
int stream_team_synchronize(const struct stream_where *w, struct core_team *t,
                            bool barrier)
{
    static uint64_t teams;
    struct synchronization m = { .team = t, .barrier = barrier };
    bool records = gtl->is_capturing(w->stream);
    int rc;

    if (likely(!t->recorded) && likely(!records))
        return barrier ? barrier_now(w, t) : sync_now(w, t);
    if (barrier && !records) {  /* of what this stream has been given */
        rc = stream_quiet(w);
        if (rc)
            return rc;
        m.barrier = false;
    }
    if (!t->recorded)
        t->recorded = __atomic_add_fetch(&teams, 1, __ATOMIC_RELAXED);
    m.number = t->recorded;
    return stream_defer(w, repeat, &m, sizeof m);
}
