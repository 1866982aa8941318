/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of messages for lines: by the word that a thread or a stream waits for,
 * and by a channel.  The hang report and the requests' calls use it. */
#include "msg/msg_describe.h"
#include "core/core_misuse.h"
#include "msg/msg_table.h"
#include "msg/pcoll/pcoll.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- by a word ---- */

struct search {
    const void *word;
    char *text;
    size_t size;
    bool found;
    int pe;
};

static void describe_if_its(struct msg_chan *c, void *arg)
{
    struct search *s = arg;
    const char *freed = c->peer_freed ? ", which has freed its end" : "";

    if (!c->counters ||
        (uintptr_t)s->word - (uintptr_t)c->counters >= c->counters_size)
        return;
    s->found = true;
    s->pe = c->pe;
    if (pcoll_of_end(c))
        pcoll_run_describe(pcoll_of_end(c), s->text, s->size);
    else if (c->part)
        part_describe(c, s->text, s->size);
    else if (c->tag < 0)
        snprintf(s->text, s->size, "a step of a collective request, with PE %d",
                 c->pe);
    else if (c->sends)
        snprintf(s->text, s->size, "PE %d to take a message, tag %d%s", c->pe,
                 c->tag, freed);
    else
        snprintf(s->text, s->size, "a message from PE %d, tag %d%s", c->pe,
                 c->tag, freed);
}

void msg_describe_unexpected(int pe, char *text, size_t size)
{
    size_t n = strlen(text);
    const struct msg_ctrl *rts;

    if (!lock_try(&msg_lock))
        return;
    rts = msg_table_first_unexpected(pe);
    if (rts)
        snprintf(text + n, size - n, " (PE %d sends tag %d, for which there "
                 "is no shmemx_%s here)", pe, rts->tag,
                 rts->flags & MSG_RTS_PARTS ? "precv_init"
                 : rts->flags & MSG_RTS_ONE_SHOT ? "enqueue_recv"
                                                 : "recv_init");
    lock_release(&msg_lock);
}

bool msg_describe_counter(const void *word, char *text, size_t size)
{
    struct search s = { word, text, size, false, -1 };

    if (!msg_chan_visit(false, describe_if_its, &s) || !s.found)
        return false;
    msg_describe_unexpected(s.pe, text, size);
    return true;
}

/* ---- a channel ---- */

void msg_describe(const struct msg_chan *c, char *text, size_t size)
{
    snprintf(text, size, "%s PE %d, tag %d",
             c->part ? (c->sends ? "partitioned send to"
                                 : "partitioned receive from")
             : !c->sends ? "receive from" : c->ready ? "ready send to"
                                                     : "send to",
             c->pe, c->tag);
}

void msg_report_failed(const char *call, const char *which,
                       const struct msg_chan *c)
{
    if (c->error == -EMSGSIZE && c->sends)
        core_misuse(ERR_SIZE, call, "%sa send of %zu bytes to PE %d, tag %d, "
                    "whose receive has %zu", which, c->len, c->pe, c->tag,
                    c->bytes);
    else if (c->error == -EMSGSIZE)
        core_misuse(ERR_SIZE, call, "%sa receive of %zu bytes from PE %d, tag "
                    "%d, whose send has %zu", which, c->len, c->pe, c->tag,
                    c->bytes);
    else if (c->error == -ENOSPC)
        core_misuse(ERR_HEAP, call, "%s%s PE %d, tag %d: the part of the "
                    "receiver's heap that is the library's own, a 16th of it, "
                    "has no room for messages of %zu bytes: let it receive "
                    "into symmetric memory, or set SHMEM_SYMMETRIC_SIZE",
                    which, c->sends ? "to" : "from", c->pe, c->tag, c->bytes);
    else if (c->error == -EPROTOTYPE || c->error == -EDOM)
        part_report_failed(call, which, c);
    else
        core_misuse(ERR_ARG, call, "%sPE %d freed its end, tag %d, before it "
                    "was matched", which, c->pe, c->tag);
}
