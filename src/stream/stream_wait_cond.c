/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions that a stream waits for: is one satisfied, and how does a report
 * describe it?  The threads that wait in a stream's place call it, of the host
 * or of the software device.  It waits for nothing. */
#include "core/core_cmp.h"
#include "core/core_device.h"
#include "stream/stream_wait.h"

#include <stdlib.h>

static struct core_wait_set set_of(const struct stream_wait *c)
{
    return (struct core_wait_set){
        .ivars = c->ivars, .n = c->n, .status = c->status, .cmp = c->cmp,
        .values = c->values ? c->values : &c->value,
        .each_value = c->values != NULL, .elem_size = (int)c->size,
        .is_signed = c->is_signed
    };
}

/* Results may be the device's memory. */
static void give(void *to, const void *from, size_t n)
{
    if (to)
        core_copy(to, from, n);
}

static bool some_over(const struct stream_wait *c,
                      const struct core_wait_set *s)
{
    size_t *found = malloc(c->n * sizeof *found), n;
    bool empty;

    if (!found)
        return false;           /* until there is memory */
    n = core_wait_set_some(s, found, &empty);
    if (n)
        give(c->indices, found, n * sizeof *found);
    if (n || empty)
        give(c->count, &n, sizeof n);
    free(found);
    return n || empty;
}

static bool set_over(const struct stream_wait *c, const struct core_wait_set *s)
{
    bool empty;
    size_t i;

    if (c->how == STREAM_ALL)
        return core_wait_set_all(s);
    if (c->how == STREAM_SOME)
        return some_over(c, s);
    i = core_wait_set_any(s, &empty);
    if (i != SIZE_MAX || empty)
        give(c->index, &i, sizeof i);
    return i != SIZE_MAX || empty;
}

/* Of a signal whose value is wanted: the one that is compared. */
static bool signal_over(const struct stream_wait *c)
{
    const uint64_t *addr = c->ivars;
    uint64_t now = CORE_LOAD(uint64_t, addr, core_device_only(addr));
    bool over = core_cmp_holds(now, c->cmp, c->value);

    if (over)
        give(c->seen, &now, sizeof now);
    return over;
}

bool stream_wait_satisfied(const struct stream_wait *c)
{
    struct core_wait_set s = set_of(c);
    bool over;

    if (c->seen)
        return signal_over(c);
    core_wait_set_begin("shmemx_wait_until_on_stream", &s);
    over = set_over(c, &s);
    core_wait_set_end(&s);
    return over;
}

struct core_waiter stream_wait_describe(const char *call,
                                        const struct stream_wait *c)
{
    struct core_wait_set set = set_of(c);
    struct core_waiter w = core_wait_set_waiter(call, &set);

    if (c->n == 1 && !c->values) {
        w.info.what = CORE_FOR_VALUE;
        w.bytes = c->size;
        w.info.is_signed = c->is_signed;
        w.info.value = c->value;
        w.info.device_only = core_device_only(c->ivars);
    }
    return w;
}
