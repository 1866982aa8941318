/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of what a call on a stream is given: a wrong argument is refused with
 * one line and -EINVAL, and the program goes on.  Called by all files of the
 * layer before anything is enqueued. */
#include "stream/stream_int.h"
#include "core/core_misuse.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

__thread bool stream_in_graph_launch;

/* The end of the line: the effect that is lost.  Calls that make a request
 * enqueue nothing anyway. */
static const char *lost(const char *call)
{
    size_t n = strlen(call);

    if (stream_in_graph_launch)
        return ": not done in this launch of a graph; launch graphs that share "
               "requests, queues or teams on one stream";
    if (strstr(call, "match"))
        return "";
    if (strstr(call, "_trig_"))
        return ": not posted";
    if (strstr(call, "shmemx_req_start"))
        return ": not started";
    return n > 5 && !strcmp(call + n - 5, "_init") ? ": no request is made"
                                                   : ": not enqueued";
}

int stream_refuse(enum err_code code, const char *call, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    core_misuse_end(code, call, lost(call), fmt, ap);
    va_end(ap);
    return -EINVAL;
}

int stream_no_memory(const char *call)
{
    stream_refuse(ERR_STREAM, call, "out of memory");
    return -ENOMEM;
}

int stream_need_symmetric(const struct stream_where *w, const char *arg,
                          const void *sym, size_t len, int pe, int *world_pe)
{
    char text[CORE_REASON_SIZE];
    enum err_code code;

    if (!w->ctx)
        return stream_refuse(ERR_CTX, w->call, "an invalid context");
    if (unlikely(heap_find(sym, len) < 0 || pe < 0 ||
                 pe >= core_team_of(w->ctx)->n_pes)) {
        code = core_misuse_reason(w->ctx, arg, sym, len, pe, text);
        if (code != ERR_CODES)
            return stream_refuse(code, w->call, "%s", text);
    }
    *world_pe = core_world_pe(w->ctx, pe);
    return 0;
}

int stream_need_local(const struct stream_where *w, const char *arg,
                      const void *p, size_t len)
{
    if (unlikely(!p && len))
        return stream_refuse(ERR_NULL, w->call, "%s is a null pointer, with %zu "
                             "bytes", arg, len);
    if (unlikely(core_unaware) && len && core_is_private(p))
        return stream_refuse(ERR_DEVICE, w->call, "%s %p is memory of the "
                             "device that is not symmetric, and "
                             "SHMEM_ENABLE_DEVICE_AWARENESS=0 excludes such "
                             "buffers", arg, p);
    return 0;
}

int stream_need_mapped(const struct stream_where *w, const void *p, size_t len)
{
    char ends[2];
    struct iovec here = { ends, sizeof ends }, there[2] = {
        { (void *)p, 1 }, { (void *)((uintptr_t)p + len - 1), 1 }
    };
    ssize_t n;

    if (!len || !gtl_device.host_streams)
        return 0;
    n = process_vm_readv(getpid(), &here, 1, there, 2, 0);
    /* Where that is forbidden the memory counts as mapped. */
    if (n == sizeof ends || (n < 0 && errno != EFAULT))
        return 0;
    return stream_refuse(ERR_ADDR, w->call, "%zu bytes at %p are not all "
                         "memory of this process", len, p);
}

int stream_need_aligned(const struct stream_where *w, const void *p,
                        size_t size)
{
    if (unlikely((uintptr_t)p & (size - 1)))
        return stream_refuse(ERR_ALIGN, w->call, "%p is not aligned to the "
                             "%zu bytes of its type", p, size);
    return 0;
}

int stream_need_stream(const struct stream_where *w)
{
    return stream_device_rc(w, gtl->stream_known(w->stream));
}

int stream_device_rc(const struct stream_where *w, int rc)
{
    if (likely(!rc))
        return 0;
    if (rc == -EBUSY) {
        stream_refuse(ERR_STREAM, w->call, "the stream records a graph, which "
                      "cannot replay this operation");
        return -ENOTSUP;
    }
    stream_refuse(ERR_STREAM, w->call, "stream %p: %s", w->stream,
                  gtl_error());
    return rc;
}

int stream_need_live(const struct stream_where *w)
{
    uint64_t id;

    return stream_device_rc(w, gtl->stream_check(w->stream, &id));
}

bool stream_waits_allowed(void)
{
    return gtl_device.memops || gtl_device.pes < 2;
}

int stream_refuse_wait(const struct stream_where *w)
{
    stream_refuse(ERR_STREAM, w->call, "this device's streams wait by a kernel "
                  "that spins, and %d PEs share the device: run one PE on it",
                  gtl_device.pes);
    return -ENOTSUP;
}
