/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of variables that a call waits for or tests: all, any or some of them.
 * Called by the wait and test calls of api.  Does not wait itself: the caller
 * steps its waiter between two evaluations. */
#include "core/core_cmp.h"
#include "core/core_device.h"

#include <stdlib.h>

static uint64_t bias_of(bool is_signed)
{
    return is_signed ? (uint64_t)1 << 63 : 0;
}

/* The key of a variable: see core_cmp.h. */
static uint64_t read_key(const void *p, size_t size, bool is_signed,
                         bool shared)
{
    /* acquire: stores that the writer ordered before its update are visible. */
    int order = shared ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;

    if (size == 8)
        return __atomic_load_n((const uint64_t *)p, order) ^
               bias_of(is_signed);
    if (size == 2 && is_signed)
        return (uint64_t)__atomic_load_n((const int16_t *)p, order) ^
               bias_of(true);
    if (size == 2)
        return __atomic_load_n((const uint16_t *)p, order);
    if (is_signed)
        return (uint64_t)__atomic_load_n((const int32_t *)p, order) ^
               bias_of(true);
    return __atomic_load_n((const uint32_t *)p, order);
}

static uint64_t key_at(const struct core_wait_set *s, const void *base,
                       size_t i, bool shared)
{
    size_t size = (size_t)s->elem_size;

    return read_key((const char *)base + i * size, size, s->is_signed, shared);
}

/* The key of a variable that may be in device-only memory. */
static uint64_t load_key(const struct core_waiter *w)
{
    uint64_t v;

    if (likely(!w->info.device_only))
        return read_key(w->addr, w->bytes, w->info.is_signed, true);
    v = core_device_load(w->addr, w->bytes);
    return read_key(&v, w->bytes, w->info.is_signed, false);
}

uint64_t core_wait_value(const char *call, const void *ivar, size_t size,
                         bool is_signed, int cmp, uint64_t key)
{
    struct core_waiter w = core_wait_begin(ivar, size);
    uint64_t now;

    w.info = (struct core_wait_info){
        .call = call, .what = CORE_FOR_VALUE, .cmp = cmp,
        .is_signed = is_signed, .device_only = core_device_only(ivar),
        .value = key ^ bias_of(is_signed)
    };
    do
        core_wait_step(&w);
    while (!core_cmp_holds(now = load_key(&w), cmp, key));
    core_wait_over(&w);
    return now;
}

void core_wait_set_begin(const char *call, struct core_wait_set *s)
{
    size_t bytes = s->n * (size_t)s->elem_size;

    if (!s->n || !core_device_only(s->ivars))
        return;
    s->here = malloc(bytes);
    if (!s->here)
        core_fatal(ERR_LIMIT, call, "no memory for a copy of %zu bytes from "
                   "the device", bytes);
}

void core_wait_set_end(struct core_wait_set *s)
{
    free(s->here);
}

/* The variables as the processor can read them: each snapshot of device-only
 * variables is a new copy. */
static const void *snapshot(const struct core_wait_set *s)
{
    if (likely(!s->here))
        return s->ivars;
    xport_flush();
    core_device_copy(s->here, s->ivars, s->n * (size_t)s->elem_size);
    return s->here;
}

static bool included(const struct core_wait_set *s, size_t i)
{
    return !s->status || !s->status[i];
}

static bool holds(const struct core_wait_set *s, const void *ivars, size_t i)
{
    return core_cmp_holds(key_at(s, ivars, i, true), s->cmp,
                          key_at(s, s->values, s->each_value ? i : 0, false));
}

int core_wait_set_all(const struct core_wait_set *s)
{
    const void *ivars = snapshot(s);

    for (size_t i = 0; i < s->n; i++)
        if (included(s, i) && !holds(s, ivars, i))
            return 0;
    return 1;
}

/* Searches start at other places, so that an element that stays satisfied
 * cannot hide the others from a caller that asks again and again.  Multiples
 * of the golden ratio reach every place also where calls for several sets take
 * turns, which would each step on the other's memory of a last find. */
static size_t first_index(uint32_t turn, size_t n)
{
    return (size_t)((uint64_t)(turn * 2654435769u) * n >> 32);
}

size_t core_wait_set_any(const struct core_wait_set *s, bool *empty)
{
    static uint32_t finds;
    /* relaxed: threads may start at the same place. */
    uint32_t turn = __atomic_load_n(&finds, __ATOMIC_RELAXED);
    size_t start = first_index(turn, s->n), i;
    const void *ivars = snapshot(s);
    bool none = true;

    for (size_t k = 0; k < s->n; k++) {
        i = start + k < s->n ? start + k : start + k - s->n;
        if (!included(s, i))
            continue;
        none = false;
        if (holds(s, ivars, i)) {
            __atomic_store_n(&finds, turn + 1, __ATOMIC_RELAXED);
            *empty = false;
            return i;
        }
    }
    *empty = none;
    return SIZE_MAX;
}

size_t core_wait_set_some(const struct core_wait_set *s, size_t *indices,
                          bool *empty)
{
    const void *ivars = snapshot(s);
    size_t found = 0;
    bool none = true;

    for (size_t i = 0; i < s->n; i++) {
        if (!included(s, i))
            continue;
        none = false;
        if (holds(s, ivars, i))
            indices[found++] = i;
    }
    *empty = none;
    return found;
}

struct core_waiter core_wait_set_waiter(const char *call,
                                        const struct core_wait_set *s)
{
    struct core_waiter w = core_wait_begin(s->ivars,
                                           s->n * (size_t)s->elem_size);

    w.info.call = call;
    w.info.what = CORE_FOR_SET;
    w.info.device_only = core_device_only(s->ivars);
    w.info.is_signed = s->is_signed;
    w.info.alike = !s->each_value;
    if (w.info.alike)
        w.info.each = key_at(s, s->values, 0, false) ^
                 bias_of(s->is_signed);
    w.info.cmp = s->cmp;
    w.info.value = (uint64_t)s->n;
    return w;
}
