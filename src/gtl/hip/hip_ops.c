/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_ops.c - copies, fills, atomics, writes and waits in the order of a
 * stream of AMD's GPUs.
 *
 * Stream memory operations are used where a trial at open has shown that they
 * work: the runtime's own attributes have been wrong. Elsewhere, and on
 * memory that the runtime refuses, kernels of the library do the same. The
 * runtime's own operations are kernels, too: its command processor waits where
 * GPU_STREAMOPS_CP_WAIT says so, and then for signals of the runtime's making
 * alone, which no symmetric flag can be; the trial shows whether there is a
 * runtime that goes further. A wait, in any form, holds the hardware queue of
 * its stream, which other streams may share: only a processor, a network, or a
 * stream that was given its work before may end it. */
#include "gtl/hip/hip_int.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PROBE_MS = 2000 };

static uint64_t opened;         /* atomic: another after each close */
/* Recording it writes back what the caches of the device hold. */
static struct hip_event *fence;

int gtl_hip_release_open(void)
{
    return HIP(EventCreateWithFlags, &fence, HIP_EVENT_DISABLE_TIMING |
               HIP_EVENT_RELEASE_TO_SYSTEM);
}

void gtl_hip_release_close(void)
{
    __atomic_fetch_add(&opened, 1, __ATOMIC_RELEASE);
    HIP(EventDestroy, fence);
}

int gtl_hip_wait_stream(void *s, int ms)
{
    const struct timespec pause = { 0, 100000 };
    int was = gtl_hip_enter_relaxed(), rc = HIP(StreamQuery, s);

    for (int i = 0; rc == -EAGAIN && i < ms * 10; i++) {
        nanosleep(&pause, NULL);
        rc = HIP(StreamQuery, s);
    }
    gtl_hip_leave_relaxed(was);
    return rc;
}

static int try_write(uint64_t *word, volatile uint64_t *here, void *s)
{
    int rc = HIP(StreamWriteValue64, s, word, 7, 0);

    if (!rc)
        rc = gtl_hip_wait_stream(s, PROBE_MS);
    return !rc && *here != 7 ? -EIO : rc;
}

/* It must hold until the processor ends it, and end then. */
static int try_wait(uint64_t *word, volatile uint64_t *here, void *s)
{
    int rc = HIP(StreamWaitValue64, s, word, 9, HIP_WAIT_GTE, ~(uint64_t)0);

    if (rc)
        return rc;
    rc = gtl_hip_wait_stream(s, 1);
    if (rc != -EAGAIN)
        return rc ? rc : -EIO;
    __atomic_store_n(here, 9, __ATOMIC_SEQ_CST);
    return gtl_hip_wait_stream(s, PROBE_MS);
}

/* Ends a wait that does not see the processor's store: a stream that hangs
 * would hang each free() after it. */
static int revive(uint64_t *word, void *s)
{
    void *t;
    int rc = gtl_hip_stream_create(GTL_URGENT, &t);

    if (rc)
        return rc;
    rc = HIP(StreamWriteValue64, t, word, 9, 0);
    if (!rc)
        rc = gtl_hip_wait_stream(s, PROBE_MS);
    if (!rc)
        gtl_hip_stream_destroy(t);
    return rc;
}

/* As the runtime reads it. */
static bool asks_for_cp(void)
{
    const char *text = env_foreign("GPU_STREAMOPS_CP_WAIT");

    return text && (atoi(text) || !strcasecmp(text, "true"));
}

/* -EAGAIN: the stream hangs. */
static int probe_on(uint64_t *here, uint64_t *seen, void *s)
{
    int rc_write = try_write(seen, here, s), rc_wait = -EIO;
    const char *why = gtl_error();

    if (rc_write == -EAGAIN)
        return rc_write;
    if (!rc_write)
        rc_wait = try_wait(seen, here, s);
    gtl_hip_state.writes = !rc_write;
    gtl_hip_state.waits = !rc_wait;
    gtl_hip_state.cp_waits = !rc_wait && asks_for_cp();
    if (rc_wait == -EAGAIN)
        why = "a wait does not see the processor's store";
    if (rc_write || rc_wait)
        log_info(LOG_GTL, "stream memory operations do not work: %s", why);
    return rc_wait == -EAGAIN ? revive(seen, s) : 0;
}

int gtl_hip_work_probe(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    int can = 0, rc;
    void *here, *seen, *s;

    gtl_hip_state.writes = gtl_hip_state.waits = false;
    gtl_hip_state.cp_waits = false;
    if (!gtl_hip_rt.StreamWriteValue64 || !gtl_hip_rt.StreamWaitValue64 ||
        HIP(DeviceGetAttribute, &can, HIP_ATTR_WAIT_VALUE,
            gtl_hip_state.device) || !can)
        return 0;
    here = mem_pages(size);
    if (!here)
        return gtl_fail(-ENOMEM, "mmap", strerror(errno), errno);
    rc = gtl_hip_pin(here, size, GTL_PIN_MEMORY, &seen);
    if (rc)
        goto unmap;
    rc = gtl_hip_stream_create(GTL_NORMAL, &s);
    if (!rc) {
        rc = probe_on(here, seen, s);
        /* The hung stream still reads the page, and cannot be destroyed. */
        if (rc == -EAGAIN)
            return gtl_fail(-EIO, "hipStreamWaitValue64",
                            "a wait that was ended goes on", 0);
        gtl_hip_stream_destroy(s);
    }
    gtl_hip_unpin(here);
unmap:
    munmap(here, size);
    return rc;
}

static int copy(void *to, const void *from, size_t n, void *s)
{
    return n ? HIP(MemcpyAsync, to, from, n, HIP_COPY_DEFAULT, s) : 0;
}

int gtl_hip_copy(void *to, const void *from, size_t n, void *s)
{
    int was = gtl_hip_enter(), rc = copy(to, from, n, s);

    gtl_hip_leave(was);
    return rc;
}

static bool reached(const void *p)
{
    struct gtl_range r;

    return !gtl_hip_classify(p, &r) && r.kind != GTL_PRIVATE;
}

/* The runtime's copy of lines wants them in order and apart; a kernel wants
 * memory that the device reaches. */
static int copy_blocks(char *to, const char *from, const struct gtl_blocks *b,
                       void *s)
{
    ptrdiff_t len = (ptrdiff_t)b->len;
    int rc = 0;

    if (!b->len || !b->count)
        return 0;
    if (b->count == 1 || (b->to_stride == len && b->from_stride == len))
        return copy(to, from, b->len * b->count, s);
    if (b->to_stride >= len && b->from_stride >= len)
        return HIP(Memcpy2DAsync, to, (size_t)b->to_stride, from,
                   (size_t)b->from_stride, b->len, b->count,
                   HIP_COPY_DEFAULT, s);
    if (gtl_hip_state.kernels && reached(to) && reached(from))
        return gtl_hip_kernel_blocks(to, from, b, s);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)b->count && !rc; i++)
        rc = copy(to + i * b->to_stride, from + i * b->from_stride, b->len,
                  s);
    return rc;
}

int gtl_hip_copy_blocks(void *to, const void *from,
                        const struct gtl_blocks *b, void *s)
{
    int was = gtl_hip_enter(), rc = copy_blocks(to, from, b, s);

    gtl_hip_leave(was);
    return rc;
}

/* Work of the processor in the stream's turn.  Each launch of a graph does it
 * again, so there it belongs to the graph. */
struct work {
    bool again;                 /* of a graph, which frees it */
    uint64_t opened;            /* by which opening */
    union {
        struct gtl_amo amo;
        struct {
            void *to;
            int byte;
            size_t n;
        } fill;
    };
};

/* A graph may outlive the library, whose memory is then gone. */
static bool is_open(const struct work *w)
{
    return w->opened == __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
}

static void done(struct work *w)
{
    if (!w->again)
        free(w);
}

/* A copy of it is fn's. */
static int enqueue_work(void (*fn)(void *arg), const struct work *what, void *s)
{
    struct work *w = malloc(sizeof *w);
    int rc = 0;

    if (!w)
        return gtl_fail(-ENOMEM, "malloc", "no memory", ENOMEM);
    *w = *what;
    w->again = gtl_hip_is_capturing(s);
    w->opened = __atomic_load_n(&opened, __ATOMIC_RELAXED);
    if (w->again)
        rc = gtl_hip_graph_own(s, free, w);
    if (rc) {
        free(w);
        return rc;
    }
    rc = gtl_hip_host_call(fn, w, s);
    if (rc)
        done(w);
    return rc;
}

static void fill_now(void *arg)
{
    struct work *w = arg;

    if (is_open(w))
        memset(w->fill.to, w->fill.byte, w->fill.n);
    done(w);
}

/* Of memory that the device does not reach: the processor, in turn. */
static int fill_private(void *to, int byte, size_t n, void *s)
{
    const struct work w = { .fill = { to, byte, n } };

    return enqueue_work(fill_now, &w, s);
}

int gtl_hip_fill(void *to, int byte, size_t n, void *s)
{
    int was = gtl_hip_enter(), rc = 0;

    if (n)
        rc = HIP(MemsetAsync, to, byte, n, s);
    if (rc == -EINVAL && !reached(to))
        rc = fill_private(to, byte, n, s);
    gtl_hip_leave(was);
    return rc;
}

/* The runtime's own writes are not recorded but done at once. */
int gtl_hip_write64(uint64_t *word, uint64_t value, void *s)
{
    int was = gtl_hip_enter(), rc = -EINVAL;

    if (gtl_hip_state.writes && gtl_hip_is_capturing(s))
        rc = gtl_hip_state.kernels ? gtl_hip_kernel_write(word, value, s)
             : gtl_fail(-EBUSY, "hipStreamWriteValue64", "is not recorded, and "
                        "there are no kernels of ours", 0);
    else if (gtl_hip_state.writes)
        rc = HIP(StreamWriteValue64, s, word, value, 0);
    else if (!gtl_hip_state.kernels)
        rc = gtl_fail(-ENOSYS, "hipStreamWriteValue64",
                      "does not work here, nor do kernels of ours", 0);
    if (rc == -EINVAL && gtl_hip_state.kernels)
        rc = gtl_hip_kernel_write(word, value, s);
    gtl_hip_leave(was);
    return rc;
}

/* In a graph it is a kernel, also where the command processor waits. */
int gtl_hip_wait64(uint64_t *word, uint64_t least, void *s)
{
    if (!least)
        return 0;
    return gtl_device.pes > 1 &&
           (!gtl_hip_state.cp_waits || gtl_hip_is_capturing(s))
        ? gtl_fail_spin("hipStreamWaitValue64")
        : gtl_hip_wait_shortly(word, least, s);
}

int gtl_hip_wait_shortly(uint64_t *word, uint64_t least, void *s)
{
    int was = gtl_hip_enter(), rc = -EINVAL;

    if (gtl_hip_state.waits && gtl_hip_is_capturing(s))
        rc = gtl_hip_state.kernels ? gtl_hip_kernel_wait(word, least, s)
             : gtl_fail(-EBUSY, "hipStreamWaitValue64", "is not recorded, and "
                        "there are no kernels of ours", 0);
    else if (gtl_hip_state.waits)
        rc = HIP(StreamWaitValue64, s, word, least, HIP_WAIT_GTE,
                 ~(uint64_t)0);
    else if (!gtl_hip_state.kernels)
        rc = gtl_fail(-ENOSYS, "hipStreamWaitValue64",
                      "does not work here, nor do kernels of ours", 0);
    if (rc == -EINVAL && gtl_hip_state.kernels)
        rc = gtl_hip_kernel_wait(word, least, s);
    gtl_hip_leave(was);
    return rc;
}

static void amo_now(void *arg)
{
    struct work *w = arg;
    const struct gtl_amo *a = &w->amo;
    uint64_t was;

    if (is_open(w)) {
        was = gtl_amo_apply(a);
        /* release: a reader of the result sees the atomic. */
        if (a->result && a->size == 8)
            __atomic_store_n((uint64_t *)a->result, was, __ATOMIC_RELEASE);
        else if (a->result)
            __atomic_store_n((uint32_t *)a->result, (uint32_t)was,
                             __ATOMIC_RELEASE);
    }
    done(w);
}

/* Without kernels the processor does it, in the stream's order, where it may
 * access the words; the program's own kernels must not change these. */
static int amo_by_processor(const struct gtl_amo *a, void *s)
{
    const struct work w = { .amo = *a };

    if (!gtl_hip_host_accessible(a->word) ||
        (a->result && !gtl_hip_host_accessible(a->result)))
        return gtl_fail(-ENOSYS, "hiprtcCompileProgram",
                        "atomics in device memory need libhiprtc", 0);
    return enqueue_work(amo_now, &w, s);
}

int gtl_hip_amo(const struct gtl_amo *a, void *s)
{
    int was = gtl_hip_enter();
    int rc = gtl_hip_state.kernels ? gtl_hip_kernel_amo(a, s)
                                   : amo_by_processor(a, s);

    gtl_hip_leave(was);
    return rc;
}

int gtl_hip_reduce(const struct gtl_reduce *r, void *s)
{
    int was, rc;

    if (!gtl_hip_state.kernels)
        return gtl_fail(-ENOSYS, "hiprtcCompileProgram",
                        "reductions on the device need libhiprtc", 0);
    was = gtl_hip_enter();
    rc = gtl_hip_kernel_reduce(r, s);
    gtl_hip_leave(was);
    return rc;
}

int gtl_hip_peer_copy(const struct gtl_peer_copy *p, void *s)
{
    int was, rc;

    if (!gtl_hip_state.kernels)
        return gtl_fail(-ENOSYS, "hiprtcCompileProgram",
                        "the second stream to arrive is known to "
                        "kernels alone, and libhiprtc is missing", 0);
    was = gtl_hip_enter();
    rc = gtl_hip_kernel_peer_copy(p, s);
    gtl_hip_leave(was);
    return rc;
}

/* Data that the end of a kernel leaves in the device's caches, when no
 * processor asks, go to memory with the event.  A kernel's fence would not do:
 * each die of a device has a cache of its own, and one group is on one die. */
int gtl_hip_release(void *s)
{
    int was = gtl_hip_enter();
    int rc = HIP(EventRecord, fence, s);

    gtl_hip_leave(was);
    return rc;
}
