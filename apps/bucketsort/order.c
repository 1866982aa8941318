/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

#include <shmem.h>
#include <shmem_space.h>

enum {
    ITEMS = 256,                /* of a group on a GPU */
    GPU_EACH = 64,              /* keys of a unit there, at least */
    GPU_BITS = 4,               /* of a digit: a unit has few keys */
    SOFT_BITS = 8,
    PIECES = 128 * ITEMS,
    LINE_WORDS = 8              /* counters of two units share no line */
};

unsigned order_digits(const struct dev *d)
{
    return 1u << (d->gpu ? GPU_BITS : SOFT_BITS);
}

static size_t lines(size_t words)
{
    return (words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
}

static size_t divided(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

/* Counters for n keys: on a GPU about a quarter as many as keys, and enough
 * for one group of units. */
static size_t counters_of(const struct dev *d, size_t n, size_t classes)
{
    size_t few = classes * ITEMS;
    size_t many = order_digits(d) * divided(n, GPU_EACH);

    if (!d->gpu)
        return d->cores * lines(classes);
    return few > many ? few : many;
}

bool order_open(struct dev *d, size_t n, unsigned classes, struct order *out)
{
    struct order o = { .dev = d };
    size_t most = classes > order_digits(d) ? classes : order_digits(d);
    size_t words;

    o.counters = lines(counters_of(d, n, most));
    words = o.counters + PIECES + ITEMS + lines(most);
    o.block = shmem_space_align(SHMEM_SPACE_DEVICE, 64, words * sizeof(word64));
    if (!o.block) {
        job_error(d->job, E_HEAP, "counters need %zu bytes of device heap per "
                  "PE more: raise SHMEM_DEVICE_SYMMETRIC_SIZE, or use a "
                  "smaller --chunk", words * sizeof(word64));
        return false;
    }
    o.counts = o.block;
    o.sums = o.counts + o.counters;
    o.partial = o.sums + PIECES;
    o.edges = o.partial + ITEMS;
    *out = o;
    return true;
}

void order_close(struct order *o)
{
    shmem_free(o->block);
    o->block = NULL;
}

/* Shares w's keys out to units, and the counters to pieces. */
static void plan(const struct order *o, struct work *w)
{
    size_t each = GPU_EACH, all;

    w->counts = o->counts;
    w->sums = o->sums;
    w->partial = o->partial;
    w->edges = o->edges;
    if (o->dev->gpu) {
        while (divided(w->n, each) * w->classes > o->counters)
            each *= 2;
        w->units = (word32)divided(w->n, each);
        w->class_stride = w->units;
        w->unit_stride = 1;
    } else {
        each = divided(w->n, o->dev->cores);
        w->units = (word32)divided(w->n, each);
        w->class_stride = 1;
        w->unit_stride = lines(w->classes);
    }
    w->each = each;
    all = (size_t)w->units * w->classes;
    w->per = divided(all, o->dev->gpu ? PIECES : o->dev->cores);
    w->pieces = divided(all, w->per);
}

static void launch(const struct order *o, shmemx_stream_t s,
                   enum dev_kernel kernel, size_t items, const struct work *w)
{
    unsigned group = o->dev->gpu ? ITEMS : 1;

    dev_launch(o->dev, s, kernel, (unsigned)divided(items, group), group, w);
}

static void note(const struct order *o, shmemx_stream_t s,
                 void (*mark)(void *arg), void *arg)
{
    if (mark && shmemx_stream_call(s, mark, arg))
        job_error(o->dev->job, E_DEVICE, "%s: a host call fails",
                  o->dev->info.name);
}

void order_run(struct order *o, shmemx_stream_t s, struct work *w,
               void (*mark)(void *arg), void *arg)
{
    plan(o, w);
    launch(o, s, K_count, w->units, w);
    note(o, s, mark, arg);
    launch(o, s, K_sum, w->pieces, w);
    launch(o, s, K_scan, 1, w);
    launch(o, s, K_place, w->pieces, w);
    note(o, s, mark, arg);
    launch(o, s, K_scatter, w->units, w);
    note(o, s, mark, arg);
}

/* The bits in which keys are not all the same. */
static word64 differing(struct order *o, shmemx_stream_t s, struct work *w)
{
    word64 bits = 0;

    plan(o, w);
    dev_fill(o->dev, s, o->edges, 0, sizeof(bits));
    launch(o, s, K_differ, w->units, w);
    dev_copy(o->dev, s, &bits, o->edges, sizeof(bits));
    dev_sync(o->dev, s);
    return bits;
}

void *order_sort(struct order *o, shmemx_stream_t s, int width, void *keys,
                 void *tmp, size_t n)
{
    unsigned bits = o->dev->gpu ? GPU_BITS : SOFT_BITS;
    struct work w = {
        .from = keys, .to = tmp, .n = n, .width = (word32)width,
        .how = BY_DIGIT, .classes = 1u << bits
    };
    word64 left;

    if (n < 2)
        return keys;
    left = differing(o, s, &w);
    for (w.shift = 0; left >> w.shift; w.shift += bits) {
        void *other = w.from;

        if (!(left >> w.shift & (w.classes - 1)))
            continue;
        order_run(o, s, &w, NULL, NULL);
        w.from = w.to;
        w.to = other;
        if (w.shift + bits >= 64)
            break;
    }
    dev_sync(o->dev, s);
    return w.from;
}
