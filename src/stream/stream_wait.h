/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_wait.h - streams that wait for flags: see stream_wait.c. */
#ifndef STREAM_STREAM_WAIT_H
#define STREAM_STREAM_WAIT_H

#include "core/core_activity.h"
#include "gtl/gtl.h"
#include "stream/stream.h"

/* Does the device's wait suffice for data that a NIC stored in its memory? */
static inline bool stream_device_waits(void)
{
    return likely(xport_flusher == NULL) || gtl_device.wait_flushes;
}
/* Where the device waits by itself, and for what number at least; or 0. */
uintptr_t stream_wait_device_address(const struct stream_wait *c,
                                     uint64_t *least);
/* 0, or -errno, logged: no wait like that exists. */
int stream_wait_check(const struct stream_where *w,
                      const struct stream_wait *c);
/* Looks once; results that it asks for are stored when it is over. */
bool stream_wait_satisfied(const struct stream_wait *c);
/* For a line about it. */
struct core_waiter stream_wait_describe(const char *call,
                                        const struct stream_wait *c);
/* The device's waits for those flags follow: where the job has off-node PEs,
 * the software device's thread first waits a while as the program's do. */
int stream_wait_poll_first(const struct stream_where *w,
                           const struct gtl_flag *flags, size_t n);
/* The software device: the stream's own thread polls for the condition. */
int stream_wait_on_thread(const struct stream_where *w,
                          const struct stream_wait *c);
/* A stream's thread polls, from begin to end. */
struct stream_thread_wait {
    const void *of;
    uint64_t turn;              /* another one for each */
    void *stream;
    int pe;                     /* the one that is to end it, or -1 */
    struct core_waiter what;
};
/* Each wait of a thread, under a lock. */
void stream_wait_visit(void (*visit)(const struct stream_thread_wait *t));
/* On the thread of a stream: is such a wait what comes next? */
bool stream_wait_is_next(void);
void stream_wait_open(void);
/* Streams of the software device wait no longer and do nothing more. */
void stream_wait_close(void);
/* No stream runs any more: frees waits that none has come to. */
void stream_wait_free_pending(void);

#endif
