/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams, copies, writes and waits of words.  Queries of streams, events and
 * graphs are rows of gpu_calls.inc. */
#include "hip.h"
#include "gpu_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those before 7 take 1 for a pointer. */
static void read_handle(const void *s)
{
    if ((uintptr_t)s == 1 && hip_major() < 7) {
        fprintf(stderr, "fake HIP %d: a stream at address 1 is read\n",
                hip_major());
        abort();
    }
}

struct dev_stream *hip_stream_of(const void *s)
{
    hip_use();
    read_handle(s);
    if ((uintptr_t)s <= 1)
        return dev_default(hip_current());
    if ((uintptr_t)s == 2)
        return dev_per_thread(hip_current(), NULL);
    return dev_stream_find(s);
}

/* Leaves the call where the handle is no stream. */
#define STREAM(d, s) \
    struct dev_stream *d = hip_stream_of(s); \
    if (!d) \
        return hip_result(HIP_CONTEXT_IS_DESTROYED)

/* The runtime has no captures of a stream's own writes and waits in mind. */
static struct dev_graph *not_recorded(struct dev_stream *d)
{
    struct dev_graph *g = d->graph;

    d->graph = NULL;
    return g;
}

unsigned hipStreamCreateWithPriority(struct hip_stream **out, unsigned flags,
                                     int priority)
{
    WORK(StreamCreateWithPriority);
    if (flags > HIP_STREAM_NON_BLOCKING)
        return hip_result(HIP_INVALID_VALUE);
    hip_use();
    *out = (void *)dev_stream_create(hip_current(), !flags, priority);
    return hip_result(HIP_OK);
}

/* Waits for what the stream holds, as documented. */
unsigned hipStreamDestroy(struct hip_stream *s)
{
    struct dev_stream *d = dev_stream_find(s);

    CALL(StreamDestroy);
    if (!d)
        return hip_result(HIP_INVALID_HANDLE);
    dev_sync(d);
    dev_stream_destroy(d);
    return hip_result(HIP_OK);
}

unsigned hipStreamGetFlags(struct hip_stream *s, unsigned *out)
{
    CALL(StreamGetFlags);
    STREAM(d, s);
    *out = !d->fenced;
    return hip_result(HIP_OK);
}

unsigned hipStreamWaitEvent(struct hip_stream *s, struct hip_event *event,
                            unsigned flags)
{
    const struct gpu_event *e = (const struct gpu_event *)event;

    WORK(StreamWaitEvent);
    STREAM(d, s);
    if (flags || !event)
        return hip_result(HIP_INVALID_VALUE);
    if (e->magic != GPU_EVENT)
        return hip_result(HIP_INVALID_HANDLE);
    if (e->mark.stream)
        dev_await(d, e->mark);
    return hip_result(HIP_OK);
}

/* Leaves the call where the device does not reach memory of another one. */
#define MAPPED(d, p) do { \
    if (!hip_mapped((d)->device, p)) \
        return hip_result(HIP_ILLEGAL_ADDRESS); \
} while (0)

static void *last_written;

/* Words are in memory that the runtime knows. */
static bool known(const void *word)
{
    struct dev_range r;

    return (uintptr_t)word % 8 == 0 && dev_find(word, &r);
}

unsigned hipStreamWriteValue64(struct hip_stream *s, void *word,
                               uint64_t value, unsigned flags)
{
    struct dev_graph *g;

    WORK(StreamWriteValue64);
    STREAM(d, s);
    if (dev_setup()->is == DEV_BARE)
        return hip_result(HIP_NOT_SUPPORTED);
    if (flags || !known(hip_here(word)))
        return hip_result(HIP_INVALID_VALUE);
    MAPPED(d, word);
    g = not_recorded(d);
    if (dev_setup()->waits)
        dev_write(d, hip_here(word), value, 8);
    else
        dev_store(d, hip_here(word), value);
    d->graph = g;
    __atomic_store_n(&last_written, hip_here(word), __ATOMIC_RELEASE);
    return hip_result(HIP_OK);
}

/* Ends with the next stream write to the word, or never. */
struct deaf {
    void *word;
};

static int not_hearing(void *arg)
{
    struct deaf *w = arg;

    return w->word && w->word == __atomic_load_n(&last_written,
                                                 __ATOMIC_ACQUIRE)
        ? 0 : DEV_AGAIN;
}

/* The command processor waits where a variable says so, and for signals only. */
static bool by_processor(void)
{
    const char *text = getenv("GPU_STREAMOPS_CP_WAIT");

    return text && *text && strcmp(text, "0");
}

static bool is_signal(const void *word)
{
    struct dev_range r;

    return dev_find(word, &r) && (r.flags & SIGNAL_MEMORY);
}

static void wait_word(struct dev_stream *d, void *word, uint64_t value,
                      unsigned flags, uint64_t mask)
{
    enum dev_compare how = flags == HIP_WAIT_GTE ? DEV_GEQ_UNSIGNED
                                                 : (enum dev_compare)flags;

    if (dev_setup()->waits || by_processor())
        dev_wait(d, word, value, mask, 8, how);
    else
        dev_spin(d, "hipStreamWaitValue64", word, value, mask, how);
}

unsigned hipStreamWaitValue64(struct hip_stream *s, void *word,
                              uint64_t value, unsigned flags, uint64_t mask)
{
    const char *text = getenv("FAKE_HIP_WAIT");
    struct dev_graph *g;

    WORK(StreamWaitValue64);
    STREAM(d, s);
    if (dev_setup()->is == DEV_BARE)
        return hip_result(HIP_NOT_SUPPORTED);
    if (flags > 3 || !known(hip_here(word)) ||
        (by_processor() && !dev_setup()->waits && !is_signal(word)))
        return hip_result(HIP_INVALID_VALUE);
    MAPPED(d, word);
    g = not_recorded(d);
    if (text) {
        struct deaf w = { strcmp(text, "deaf") ? NULL : hip_here(word) };

        __atomic_store_n(&last_written, NULL, __ATOMIC_RELEASE);
        dev_submit(d, not_hearing, &w, sizeof w);
    } else {
        wait_word(d, hip_here(word), value, flags, mask);
    }
    d->graph = g;
    return hip_result(HIP_OK);
}

struct callback {
    void (*fn)(struct hip_stream *s, unsigned error, void *arg);
    struct hip_stream *s;
    void *arg;
};

static int run_callback(void *arg)
{
    struct callback *t = arg;

    t->fn(t->s, HIP_OK, t->arg);
    return 0;
}

unsigned hipStreamAddCallback(struct hip_stream *s,
                              void (*fn)(struct hip_stream *s,
                                         unsigned error, void *arg),
                              void *arg, unsigned flags)
{
    struct callback t = { fn, s, arg };

    WORK(StreamAddCallback);
    STREAM(d, s);
    if (flags || !fn)
        return hip_result(HIP_INVALID_VALUE);
    dev_submit(d, run_callback, &t, sizeof t);
    return hip_result(HIP_OK);
}

unsigned hipMemcpyAsync(void *to, const void *from, size_t n, unsigned kind,
                        struct hip_stream *s)
{
    WORK(MemcpyAsync);
    STREAM(d, s);
    if (kind > HIP_COPY_DEFAULT || !to || !from)
        return hip_result(HIP_INVALID_VALUE);
    MAPPED(d, to);
    MAPPED(d, from);
    dev_copy(d, hip_here(to), hip_here(from), n);
    return hip_result(HIP_OK);
}

unsigned hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                          size_t from_pitch, size_t width, size_t height,
                          unsigned kind, struct hip_stream *s)
{
    struct dev_blocks b = {
        .to = hip_here(to), .from = hip_here(from), .len = width,
        .count = height, .to_stride = (ptrdiff_t)to_pitch,
        .from_stride = (ptrdiff_t)from_pitch
    };

    WORK(Memcpy2DAsync);
    STREAM(d, s);
    if (kind > HIP_COPY_DEFAULT || width > to_pitch || width > from_pitch)
        return hip_result(HIP_INVALID_VALUE);
    MAPPED(d, to);
    MAPPED(d, from);
    dev_copy_blocks(d, &b);
    return hip_result(HIP_OK);
}

unsigned hipMemsetAsync(void *to, int byte, size_t n, struct hip_stream *s)
{
    struct dev_range r;

    WORK(MemsetAsync);
    STREAM(d, s);
    if (!dev_find(hip_here(to), &r))
        return hip_result(HIP_INVALID_VALUE);
    MAPPED(d, to);
    dev_fill(d, hip_here(to), (unsigned char)byte, 1, n);
    return hip_result(HIP_OK);
}
