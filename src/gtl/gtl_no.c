/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_no.c - slots of a driver whose device lacks what they are for.  The
 * drivers' tables point at these, so that no slot is NULL; gtl.h says what
 * each one answers.  They ask nothing of a driver. */
#include "gtl/gtl_int.h"
#include "base/env.h"

#include <errno.h>
#include <string.h>

int gtl_no_coherence(int wanted)
{
    (void)wanted;
    return 0;
}

int gtl_no_enter(void)
{
    return 0;
}

void gtl_no_leave(int was)
{
    (void)was;
}

int gtl_no_module_symbol(void *module, const char *name, void **out,
                         size_t *size)
{
    (void)module;
    (void)name;
    (void)out;
    (void)size;
    return gtl_fail(-ENOSYS, "module", "the device has no modules", 0);
}

int gtl_no_reserve(size_t most, void **out)
{
    (void)most;
    (void)out;
    return gtl_fail(-ENOSYS, "reserve", gtl_device.why_fixed, 0);
}

int gtl_no_grow(void *p, size_t size)
{
    (void)p;
    return gtl_no_reserve(size, NULL);
}

void gtl_no_shrink(void *p)
{
    (void)p;
}

int gtl_no_timer_create(void **out)
{
    (void)out;
    return gtl_fail(-ENOSYS, "timer", "events of this device have no times", 0);
}

int gtl_no_timer_ns(void *from, void *to, int64_t *ns)
{
    (void)from;
    (void)to;
    (void)ns;
    return gtl_no_timer_create(NULL);
}

/* ---- GTL_NO_HOST_STREAMS ---- */

int gtl_no_doorbell(void (*fn)(void *arg), void *arg, void *s)
{
    (void)fn;
    (void)arg;
    (void)s;
    return gtl_fail(-ENOSYS, "doorbell", "streams are the device's own", 0);
}

void gtl_no_flags_stored(void)
{
}

bool gtl_no_calls_next(void (*fn)(void *arg))
{
    (void)fn;
    return false;
}

void gtl_no_cancel_rest(void)
{
}

int gtl_no_stream_known(void *s)
{
    (void)s;
    return 0;
}

void gtl_no_count_ops(void *s, uint64_t n)
{
    (void)s;
    (void)n;
}

bool gtl_no_owes_ops(void *s)
{
    (void)s;
    return false;
}

bool gtl_no_position(void *s, uint64_t *out)
{
    (void)s;
    (void)out;
    return false;
}

bool gtl_no_is_past(void *s, uint64_t position)
{
    (void)s;
    (void)position;
    return true;
}

bool gtl_no_waits_for(void *s, uint64_t **flag, uint64_t *least)
{
    (void)s;
    (void)flag;
    (void)least;
    return false;
}

bool gtl_no_event_sleep(void *e, uint64_t ns)
{
    (void)e;
    (void)ns;
    return false;
}

void gtl_no_stop_streams(void)
{
}

bool gtl_no_streams_stopped(uint64_t *ops)
{
    *ops = 0;
    return true;
}

/* ---- hints ---- */

const char *gtl_no_lockup_hint(unsigned streams)
{
    (void)streams;
    return NULL;
}

bool gtl_env_is_on(const char *name)
{
    const char *text = env_foreign(name);

    return text && strcmp(text, "0");
}
