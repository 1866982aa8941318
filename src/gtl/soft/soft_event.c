/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_event.c - events of the software device: where a stream counts its
 * commands, and which count the event stands for.  The slots of the driver
 * (soft.c) lead here, on any thread. */
#include "gtl/soft/soft_int.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>

struct event {
    struct base_lock lock;
    uint64_t *done;             /* of a stream; NULL: not recorded */
    uint64_t count;
};

int gtl_soft_event_create(void **out)
{
    struct event *e = malloc(sizeof *e);

    if (!e)
        return gtl_fail(-ENOMEM, "event_create", "out of memory", ENOMEM);
    *e = (struct event){ .lock = LOCK_INIT };
    *out = e;
    return 0;
}

void gtl_soft_event_destroy(void *e)
{
    free(e);
}

int gtl_soft_event_record(void *event, void *handle)
{
    struct event *e = event;
    uint64_t *done, count;
    int rc = gtl_soft_position(handle, &done, &count);

    if (rc)
        return rc;
    lock_acquire(&e->lock);
    e->done = done;
    e->count = count;
    lock_release(&e->lock);
    return 0;
}

static struct event read_event(struct event *e)
{
    struct event copy = { .done = NULL };

    lock_acquire(&e->lock);
    copy.done = e->done;
    copy.count = e->count;
    lock_release(&e->lock);
    return copy;
}

int gtl_soft_event_wait(void *event, void *handle)
{
    struct event e = read_event(event);
    struct gtl_soft_command *c;
    struct gtl_soft_stream *s;
    uint64_t *own, count;
    int rc = gtl_soft_position(handle, &own, &count);

    if (rc || !e.done || e.done == own)
        return rc;
    rc = gtl_soft_begin(handle, &s, &c);
    if (rc)
        return rc;
    c->kind = SOFT_EVENT;
    c->word = e.done;
    c->value = e.count;
    gtl_soft_commit(s);
    return 0;
}

int gtl_soft_event_query(void *event)
{
    struct event e = read_event(event);

    return !e.done || __atomic_load_n(e.done, __ATOMIC_ACQUIRE) >= e.count
           ? 0 : -EAGAIN;
}

bool gtl_soft_event_sleep(void *event, uint64_t ns)
{
    struct event e = read_event(event);

    if (e.done)
        gtl_soft_sleep_until(e.done, e.count, ns);
    return true;
}
