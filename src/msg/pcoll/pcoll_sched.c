/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules of partitioned collectives: made step by step by the program or by
 * pcoll_usual.c.  Local; nothing is started here. */
#include "msg/pcoll/pcoll_sched.h"
#include "core/core_misuse.h"
#include "msg/msg_int.h"

#include <errno.h>
#include <stdlib.h>

struct handle_table pcoll_scheds = HANDLE_TABLE(struct pcoll_sched);

static const char *const buffer_names[PCOLL_BUFFERS] = {
    "source", "dest", "scratch memory"
};

/* ---- steps ---- */

static bool is_empty(const struct pcoll_sched *s)
{
    return !s->pieces[0] && !s->pieces[1] && !s->pieces[2];
}

static int check_piece(const char *call, const struct pcoll_sched *s,
                       const char *which, shmemx_piece_t p)
{
    if (is_empty(s))
        return 0;               /* all messages are */
    if (p.buffer < 0 || p.buffer >= PCOLL_BUFFERS)
        return core_misuse(ERR_ARG, call, "%s is piece %d of buffer %d, which "
                           "is none", which, p.piece, p.buffer);
    if (p.piece < 0 || p.piece >= s->pieces[p.buffer])
        return core_misuse(ERR_ARG, call, "%s is piece %d of %s, which has %d",
                           which, p.piece, buffer_names[p.buffer],
                           s->pieces[p.buffer]);
    return 0;
}

static int check_members(const char *call, const struct pcoll_sched *s, int n,
                         const int *members, const char *which)
{
    if (n < 0)
        return core_misuse(ERR_ARG, call, "n_%s is %d", which, n);
    if (n && !members)
        return core_misuse(ERR_NULL, call, "%s is a null pointer", which);
    for (int i = 0; i < n; i++)
        if (members[i] < 0 || members[i] >= s->n_pes || members[i] == s->me)
            return core_misuse(ERR_PE, call, "%s has member %d: this is member "
                               "%d of %d", which, members[i], s->me, s->n_pes);
    return 0;
}

static int check_step(const char *call, const struct pcoll_sched *s,
                      const shmemx_step_t *t)
{
    bool local = !t->n_to && !t->n_from;
    int rc = check_members(call, s, t->n_to, t->to, "to");

    rc = rc ? rc : check_members(call, s, t->n_from, t->from, "from");
    if (!rc && (t->n_to || local))
        rc = check_piece(call, s, "out", t->out);
    if (!rc && (t->n_from || local))
        rc = check_piece(call, s, "in", t->in);
    if (!rc && t->reduces && (t->n_from || local))
        rc = check_piece(call, s, "with", t->with);
    if (!rc && t->n_from > 1 && !t->reduces && !is_empty(s))
        rc = core_misuse(ERR_ARG, call, "a piece arrives from %d members, and "
                         "is not combined", t->n_from);
    return rc;
}

/* Room for n more. */
static int reserve(const char *call, struct pcoll_sched *s, int n)
{
    struct pcoll_action *more;
    size_t room = (size_t)s->n + (size_t)n;

    if (room <= (size_t)s->room)
        return 0;
    room = room > 2 * (size_t)s->room ? room : 2 * (size_t)s->room;
    if (room > INT32_MAX / 2)
        return stream_no_memory(call);
    more = realloc(s->actions, room * sizeof *more);
    if (!more)
        return stream_no_memory(call);
    s->actions = more;
    s->room = (int)room;
    return 0;
}

int pcoll_sched_step(const char *call, struct pcoll_sched *s,
                     const shmemx_step_t *t)
{
    bool local = !t->n_to && !t->n_from;
    int rc = check_step(call, s, t);
    struct pcoll_action a = {
        .stays = t->stays != 0, .from = t->out, .in = t->in, .with = t->with
    };

    rc = rc ? rc : reserve(call, s, t->n_to + t->n_from + local);
    if (rc)
        return rc;
    for (int i = 0; i < t->n_to; i++) {
        a.kind = PCOLL_SEND;
        a.member = t->to[i];
        s->actions[s->n++] = a;
    }
    a.reduces = t->reduces != 0;
    for (int i = 0; i < t->n_from; i++) {
        a.kind = PCOLL_RECV;
        a.member = t->from[i];
        a.more = a.reduces && i + 1 < t->n_from;
        s->actions[s->n++] = a;
    }
    if (local) {
        a.kind = PCOLL_LOCAL;
        s->actions[s->n++] = a;
    }
    return 0;
}

/* ---- made and freed ---- */

int pcoll_sched_create(const char *call, const struct pcoll_sched *like,
                       struct shmemx_sched **out)
{
    struct pcoll_sched *s;
    int most = 0;

    for (int i = 0; i < PCOLL_BUFFERS; i++) {
        if (like->pieces[i] < 0 || like->pieces[i] > 1 << 24)
            return core_misuse(ERR_ARG, call, "%d pieces of %s",
                               like->pieces[i], buffer_names[i]);
        most = like->pieces[i] > most ? like->pieces[i] : most;
    }
    for (int i = 0; i < PCOLL_BUFFERS && !like->blocks; i++)
        if (like->pieces[i] && like->pieces[i] != most)
            return core_misuse(ERR_ARG, call, "%d pieces of %s, and %d of "
                               "another buffer, of partitions that are split",
                               like->pieces[i], buffer_names[i], most);
    s = handle_new(&pcoll_scheds);
    if (!s)
        return stream_no_memory(call);
    s->team = like->team;
    s->n_pes = like->n_pes;
    s->me = like->me;
    s->blocks = like->blocks;
    for (int i = 0; i < PCOLL_BUFFERS; i++)
        s->pieces[i] = like->pieces[i];
    *out = handle_of_object(s);
    return 0;
}

struct pcoll_sched *pcoll_sched_find(const char *call,
                                     struct shmemx_sched *sched)
{
    struct pcoll_sched *s = handle_find(&pcoll_scheds, sched);

    if (!s)
        core_misuse(ERR_ARG, call, "%p is no schedule, or has been freed",
                    (void *)sched);
    return s;
}

int pcoll_sched_free(const char *call, struct shmemx_sched *sched)
{
    struct pcoll_sched *s = pcoll_sched_find(call, sched);

    if (!s)
        return -EINVAL;
    free(s->actions);
    handle_release(&pcoll_scheds, sched);
    return 0;
}

static void free_actions(void *object)
{
    free(((struct pcoll_sched *)object)->actions);
}

void pcoll_sched_close(void)
{
    handle_release_all(&pcoll_scheds, free_actions);
}
