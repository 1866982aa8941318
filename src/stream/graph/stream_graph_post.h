/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_graph_post.h - operations that streams post to the progress thread,
 * which enqueues them on a proxy stream each time.  Used by stream_graph.c. */
#ifndef STREAM_STREAM_GRAPH_POST_H
#define STREAM_STREAM_GRAPH_POST_H

#include "base/list.h"
#include "stream/graph/stream_graph.h"
#include "stream/ring/stream_ring.h"

struct stream_proxy;

/* The slots of one owner, a graph or a stream: these are a list of struct
 * post_slot.  flags: frees their flags, too: no stream reads these. */
void stream_posts_free(struct list_link *posts, bool flags);
/* Is one of them posted, and not replayed yet? */
bool stream_posts_pending(const struct list_link *posts);

struct post_slot {
    struct list_link link;      /* of its owner's slots */
    struct post_slot *next;     /* posted */
    struct stream_proxy *proxy;
    stream_replay *repeat;
    const char *call;
    uint64_t *flag, number;     /* raised to number when the op is enqueued */
    uint64_t opened;            /* by which opening of this layer */
    unsigned pending;           /* posts that are not replayed yet */
    bool once;
    bool dead;                  /* atomic: no stream waits for it */
    _Alignas(16) unsigned char args[];
};
/* NULL, logged: no memory. */
struct post_slot *stream_post_slot_new(const struct stream_where *w,
                                       stream_replay *repeat, const void *args,
                                       size_t size);
int stream_post_flag_alloc(const struct stream_where *w,
                           enum stream_flag_use use, uint64_t **out);
/* The owner has the slot from now on, and frees it unless it is one-shot. */
void stream_post_slot_add(struct list_link *posts, struct post_slot *s);
/* Enqueues the two operations of the stream: it posts, and waits for the flag.
 * If the device refuses the wait in a graph, what its launches post is not
 * done; a one-shot slot is freed after an error. */
int stream_post_enqueue(const struct stream_where *w, struct post_slot *s);

/* Replays what is posted, or some of it, in its order.  Was there any? */
bool stream_posts_advance(void);
/* stream_posts_advance() or its caller has something to do. */
void stream_posts_notify(void);
bool stream_posts_notified(void);
/* The generation: the number of this opening of the layer. */
uint64_t stream_posts_generation(void);
/* -EIO once, if a replay was refused since. */
int stream_posts_failed(void);
void stream_posts_fail(void);
/* When it returns no stream posts any more, and nothing is being replayed;
 * streams that wait go on. */
void stream_posts_close(void);

#endif
