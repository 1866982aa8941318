/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_proxy.h - proxy streams: the library's own streams, on which the
 * progress thread enqueues the operations that streams of the program have
 * posted. */
#ifndef STREAM_STREAM_PROXY_H
#define STREAM_STREAM_PROXY_H

#include "base/list.h"
#include "stream/stream.h"

struct stream_proxy {
    struct list_link link;      /* of its owner's */
    struct list_link all;
    const void *graph;          /* its owner; NULL: a stream owns it */
    void *handle;               /* of the program's stream */
    uint64_t owner;             /* as gtl_stream_owner(handle) */
    void *stream;
    struct stream_ring *ring;   /* the op ring of `stream` */
    /* Of the operation that the program's stream came to last (atomic): below
     * number, the flag says that the stream waits for it; and what the NIC had
     * been given then. */
    uint64_t *flag, number, before;
};

int stream_proxy_new(const struct stream_where *w, const void *graph,
                     struct stream_proxy **out);
/* The program's stream has come to an operation, and waits until the flag has
 * that number. */
void stream_proxy_reached(struct stream_proxy *p, uint64_t *flag,
                          uint64_t number);
/* Has all of it completed, on the device and in the network?  By the progress
 * thread. */
bool stream_proxy_idle(const struct stream_proxy *p);
/* True: an operation failed there that no call has returned. */
bool stream_proxy_close(struct stream_proxy *p);
/* -EIO, logged: operations there have failed. */
int stream_proxies_failed(const char *call);

#endif
