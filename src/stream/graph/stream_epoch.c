/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits that are right in each launch of a graph: waits that set their flag
 * back, and waits for the next values of a counter that only grows.  Called by
 * src/api/api_stream_epoch.c. */
#include "stream/graph/stream_graph.h"
#include "base/handle.h"
#include "stream/stream_int.h"
#include "stream/stream_stats.h"
#include "stream/stream_wait_log.h"

#include <errno.h>

/* ---- waits that set their word back ---- */

static int wait_in_turn(const struct stream_where *w, const void *args)
{
    return stream_wait(w, args);
}

/* The device does both; STREAM_DECLINED: it cannot. */
static int reset_by_device(const struct stream_where *w,
                           const struct stream_wait *c, bool records)
{
    uint64_t least, *word;
    struct gtl_flag wait;
    struct gtl_put put;
    const struct gtl_batch both = { &wait, &put, 1, 1 };
    int rc;

    word = (uint64_t *)stream_wait_device_address(c, &least);
    if (!word)
        return STREAM_DECLINED;
    wait = (struct gtl_flag){ word, least };
    put = (struct gtl_put){ .flag = { word, 0 } };
    rc = stream_wait_poll_first(w, &wait, 1);
    rc = rc ? rc : stream_device_rc(w, gtl->batch(&both, w->stream));
    if (rc == -ENOSYS)
        rc = -ENOTSUP;
    if (!rc && !records) {
        stream_watch_add(w, c->ivars, word, least, c->whose - 1);
        stream_watch_enqueued(w->stream, false);
    }
    return rc;
}

int stream_wait_reset(const struct stream_where *w, const struct stream_wait *c)
{
    static const uint64_t zero;
    bool records;
    int rc = stream_wait_check(w, c);

    if (rc)
        return rc;
    if (!stream_waits_allowed())
        return stream_refuse_wait(w);
    records = gtl->is_capturing(w->stream);
    stream_count(STREAM_WAITS, 1);
    rc = records && gtl_device.host_streams && xport_net
             ? STREAM_DECLINED
             : reset_by_device(w, c, records);
    if (rc != STREAM_DECLINED)
        return rc;
    rc = records ? stream_record(w, wait_in_turn, c, sizeof *c)
                 : stream_wait(w, c);
    return rc ? rc : stream_put_value(w, (void *)c->ivars, &zero, sizeof zero,
                                      core_world.my_pe);
}

/* ---- epochs ---- */

struct epoch {
    struct handle handle;
    uint64_t *word;
    uint64_t next;              /* what the last wait was for */
    bool recorded;              /* graphs have waits of it */
};

static struct handle_table epochs = HANDLE_TABLE(struct epoch);

struct next_wait {
    struct shmemx_epoch *epoch;
    uint64_t n;
};

static struct epoch *epoch_of(const char *call, struct shmemx_epoch *epoch)
{
    struct epoch *e = handle_find(&epochs, epoch);

    if (unlikely(!e && !epoch))
        stream_refuse(ERR_NULL, call, "the epoch is a null pointer");
    else if (unlikely(!e))
        stream_refuse(ERR_ARG, call, "%p is no epoch, or one that was "
                      "destroyed", (void *)epoch);
    return e;
}

int stream_epoch_create(const struct stream_where *w, uint64_t *word,
                        struct shmemx_epoch **out)
{
    const struct stream_wait c = {
        .arg = "sig_addr", .ivars = word, .n = 1, .size = sizeof *word,
        .cmp = SHMEM_CMP_GE
    };
    struct epoch *e;
    int rc = stream_wait_check(w, &c);

    if (rc)
        return rc;
    e = handle_new(&epochs);
    if (!e)
        return stream_no_memory(w->call);
    e->word = word;
    core_copy(&e->next, word, sizeof *word);
    *out = handle_of_object(e);
    return 0;
}

int stream_epoch_destroy(const char *call, struct shmemx_epoch *epoch)
{
    return !epoch_of(call, epoch) || !handle_release(&epochs, epoch)
               ? -EINVAL
               : 0;
}

static int wait_next(const struct stream_where *w, struct epoch *e, uint64_t n)
{
    struct stream_wait c = {
        .how = STREAM_ALL, .ivars = e->word, .n = 1, .size = sizeof *e->word,
        .cmp = SHMEM_CMP_GE, .value = e->next + n
    };
    int rc = stream_wait(w, &c);

    if (!rc)
        e->next += n;
    return rc;
}

static int wait_in_launch(const struct stream_where *w, const void *args)
{
    const struct next_wait *n = args;
    struct epoch *e = epoch_of(w->call, n->epoch);

    return e ? wait_next(w, e, n->n) : -EINVAL;
}

/* Once a graph waits for it, each wait is counted when its stream gets there.
 */
int stream_epoch_wait(const struct stream_where *w, struct shmemx_epoch *epoch,
                      uint64_t n)
{
    const struct next_wait next_wait_args = { epoch, n };
    struct epoch *e = epoch_of(w->call, epoch);
    int rc;

    if (!e)
        return -EINVAL;
    if (likely(!e->recorded) && likely(!gtl->is_capturing(w->stream)))
        return wait_next(w, e, n);
    rc =
        stream_defer(w, wait_in_launch, &next_wait_args, sizeof next_wait_args);
    if (!rc && !e->recorded)    /* of the first: nothing is launched yet */
        e->recorded = true;
    return rc;
}

void stream_epochs_close(void)
{
    handle_release_all(&epochs, NULL);
}
