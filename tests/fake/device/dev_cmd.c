/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands do, on the thread of the device. */
#include "dev.h"

#include <errno.h>
#include <string.h>

static int blocks_step(void *arg)
{
    const struct dev_blocks *b = arg;
    void *(*at)(const void *p, size_t n) = b->kernel ? dev_reach : dev_touch;
    const char *from = b->from;
    char *to = b->to;
    void *t, *f;

    for (size_t i = 0; i < b->count; i++) {
        t = at(to, b->len);
        f = at(from, b->len);
        if (!t || !f)
            return -EFAULT;
        memmove(t, f, b->len);
        if (b->kernel)
            dev_stored(t, b->len);
        to += b->to_stride;
        from += b->from_stride;
    }
    return 0;
}

void dev_copy_blocks(struct dev_stream *s, const struct dev_blocks *b)
{
    struct dev_blocks own = *b;

    if (!b->kernel && !s->graph &&
        (dev_pageable(b->to) || dev_pageable(b->from))) {
        dev_sync(s);
        dev_submit(s, blocks_step, &own, sizeof own);
        dev_sync(s);
        return;
    }
    if (b->kernel)
        dev_launch(s, blocks_step, &own, sizeof own);
    else
        dev_submit(s, blocks_step, &own, sizeof own);
}

void dev_copy(struct dev_stream *s, void *to, const void *from, size_t n)
{
    struct dev_blocks b = { .to = to, .from = from, .len = n, .count = 1 };

    dev_copy_blocks(s, &b);
}

struct fill {
    void *to;
    uint32_t value;
    int width;
    size_t n;
};

static int fill_step(void *arg)
{
    const struct fill *f = arg;
    size_t width = (size_t)f->width;
    char *to = dev_reach(f->to, f->n * width);

    if (!to)
        return -EFAULT;
    for (size_t i = 0; i < f->n; i++)
        memcpy(to + i * width, &f->value, width);
    dev_stored(to, f->n * width);
    return 0;
}

void dev_fill(struct dev_stream *s, void *to, uint32_t value, int width,
              size_t n)
{
    struct fill f = { to, value, width, n };

    dev_launch(s, fill_step, &f, sizeof f);
}

#define AMO(T, w, a, was) do {                                             \
    T *p_ = (w), v_ = (T)(a)->value, c_ = (T)(a)->cond;                     \
    switch ((a)->op) {                                                      \
    case DEV_FETCH:                                                         \
        was = __atomic_load_n(p_, __ATOMIC_SEQ_CST);                        \
        break;                                                              \
    case DEV_SET:                                                           \
    case DEV_SWAP:                                                          \
        was = __atomic_exchange_n(p_, v_, __ATOMIC_SEQ_CST);                \
        break;                                                              \
    case DEV_CSWAP:                                                         \
        __atomic_compare_exchange_n(p_, &c_, v_, false, __ATOMIC_SEQ_CST,   \
                                    __ATOMIC_SEQ_CST);                      \
        was = c_;                                                           \
        break;                                                              \
    case DEV_ADD:                                                           \
        was = __atomic_fetch_add(p_, v_, __ATOMIC_SEQ_CST);                 \
        break;                                                              \
    case DEV_AND_WORD:                                                      \
        was = __atomic_fetch_and(p_, v_, __ATOMIC_SEQ_CST);                 \
        break;                                                              \
    case DEV_OR:                                                            \
        was = __atomic_fetch_or(p_, v_, __ATOMIC_SEQ_CST);                  \
        break;                                                              \
    case DEV_XOR:                                                           \
        was = __atomic_fetch_xor(p_, v_, __ATOMIC_SEQ_CST);                 \
        break;                                                              \
    }                                                                       \
} while (0)

static int amo_step(void *arg)
{
    const struct dev_amo *a = arg;
    void *word = dev_reach(a->word, (size_t)a->size);
    void *result = NULL;
    uint64_t was = 0;

    if (a->result)
        result = dev_reach(a->result, (size_t)a->size);
    if (!word || (a->result && !result))
        return -EFAULT;
    if (a->size == 4)
        AMO(uint32_t, word, a, was);
    else
        AMO(uint64_t, word, a, was);
    if (result && a->size == 4)
        __atomic_store_n((uint32_t *)result, (uint32_t)was, __ATOMIC_SEQ_CST);
    else if (result)
        __atomic_store_n((uint64_t *)result, was, __ATOMIC_SEQ_CST);
    dev_stored(word, (size_t)a->size);
    if (result)
        dev_stored(result, (size_t)a->size);
    return 0;
}

static int no_atomics(void *arg)
{
    (void)arg;
    return -EXDEV;
}

void dev_amo(struct dev_stream *s, const struct dev_amo *a)
{
    dev_launch(s, dev_atomic(s->device, a->word) ? amo_step : no_atomics, a,
               sizeof *a);
}

struct word {
    void *at;
    uint64_t value, mask;
    int size;
    enum dev_compare how;
    bool flush;                 /* of what NICs have stored, with each look */
};

static int write_step(void *arg)
{
    const struct word *w = arg;
    void *at = dev_reach(w->at, (size_t)w->size);

    if (!at)
        return -EFAULT;
    if (w->size == 4)
        __atomic_store_n((uint32_t *)at, (uint32_t)w->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)at, w->value, __ATOMIC_RELEASE);
    dev_stored(at, (size_t)w->size);
    return 0;
}

void dev_write(struct dev_stream *s, void *word, uint64_t value, int size)
{
    struct word w = { .at = word, .value = value, .size = size };

    dev_submit(s, write_step, &w, sizeof w);
}

void dev_store(struct dev_stream *s, void *word, uint64_t value)
{
    struct word w = { .at = word, .value = value, .size = 8 };

    dev_launch(s, write_step, &w, sizeof w);
}

static bool holds(const struct word *w, uint64_t is)
{
    switch (w->how) {
    case DEV_GEQ:
        return w->size == 4 ? (int32_t)((uint32_t)is - (uint32_t)w->value) >= 0
                            : (int64_t)(is - w->value) >= 0;
    case DEV_EQ:
        return is == w->value;
    case DEV_AND:
        return is & w->value;
    case DEV_NOR:
        return w->size == 4 ? ~((uint32_t)is | (uint32_t)w->value) != 0
                            : ~(is | w->value) != 0;
    case DEV_GEQ_UNSIGNED:
        return is >= w->value;
    }
    return false;
}

static int wait_step(void *arg)
{
    const struct word *w = arg;
    void *at = dev_reach(w->at, (size_t)w->size);
    uint64_t is;

    if (!at)
        return -EFAULT;
    if (w->flush)
        dev_flush();
    is = w->size == 4 ? __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE)
                      : __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE);
    if (!holds(w, is & w->mask))
        return DEV_AGAIN;
    if (w->flush)
        dev_flush();
    return 0;
}

void dev_wait(struct dev_stream *s, void *word, uint64_t value, uint64_t mask,
              int size, enum dev_compare how)
{
    struct word w = { word, value, mask, size, how, false };

    dev_submit(s, wait_step, &w, sizeof w);
}

void dev_wait_flush(struct dev_stream *s, void *word, uint64_t value,
                    enum dev_compare how)
{
    struct word w = { word, value, ~(uint64_t)0, 8, how, true };

    dev_submit(s, wait_step, &w, sizeof w);
}

struct spin {
    struct word w;
    struct dev_poll poll;
    int device;
    bool began;
};

static bool is_coarse(const void *p)
{
    struct dev_range r;

    return !dev_setup()->coherent && dev_find(p, &r) &&
           (r.flags & DEV_COARSE);
}

static int spin_step(void *arg)
{
    struct spin *s = arg;
    void *at = dev_reach(s->w.at, 8);

    if (!at)
        return -EFAULT;
    if (!s->began) {
        if (!dev_hold(s->device))
            return DEV_AGAIN;
        dev_poll_begin(&s->poll, at, is_coarse(s->w.at));
        s->began = true;
    }
    if (!holds(&s->w, dev_poll(&s->poll) & s->w.mask))
        return DEV_AGAIN;
    dev_poll_end(&s->poll);
    dev_let(s->device);
    return 0;
}

void dev_spin(struct dev_stream *s, const char *call, void *word,
              uint64_t value, uint64_t mask, enum dev_compare how)
{
    struct spin spin = {
        .w = { word, value, mask, 8, how, false }, .device = s->device
    };

    dev_note("spin", call);
    dev_launch(s, spin_step, &spin, sizeof spin);
}

struct host {
    void (*fn)(void *arg);
    void *arg;
};

static int host_step(void *arg)
{
    const struct host *h = arg;

    h->fn(h->arg);
    return 0;
}

void dev_host(struct dev_stream *s, void (*fn)(void *arg), void *arg)
{
    struct host h = { fn, arg };

    dev_submit(s, host_step, &h, sizeof h);
}
