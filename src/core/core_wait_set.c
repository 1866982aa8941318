/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of variables that a call waits for or tests: all, any or some of them.
 * Called by the wait and test calls of api.  Does not wait itself: the caller
 * steps its waiter between two evaluations. */
#include "core/core_cmp.h"
#include "core/core_device.h"

#include <stdlib.h>

static uint64_t key_at(const struct core_wait_set *s, const void *base,
                       size_t i, bool shared)
{
    uint64_t bias = s->is_signed ? (uint64_t)1 << 63 : 0;
    /* acquire: what the writer ordered before its update is then visible. */
    int order = shared ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;

    if (s->elem_size == 8)
        return __atomic_load_n((const uint64_t *)base + i, order) ^ bias;
    if (s->elem_size == 2 && s->is_signed)
        return (uint64_t)__atomic_load_n((const int16_t *)base + i, order) ^
               bias;
    if (s->elem_size == 2)
        return __atomic_load_n((const uint16_t *)base + i, order);
    if (s->is_signed)
        return (uint64_t)__atomic_load_n((const int32_t *)base + i, order) ^
               bias;
    return __atomic_load_n((const uint32_t *)base + i, order);
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

    w.call = call;
    w.what = CORE_FOR_SET;
    w.foreign = core_device_only(s->ivars);
    w.is_signed = s->is_signed;
    w.alike = !s->each_value;
    if (w.alike)
        w.each = key_at(s, s->values, 0, false) ^
                 (s->is_signed ? (uint64_t)1 << 63 : 0);
    w.cmp = s->cmp;
    w.value = (uint64_t)s->n;
    return w;
}
