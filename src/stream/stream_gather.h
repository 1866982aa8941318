/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_gather.h - what the device does itself of a start or a wait of
 * messages: gathered, and enqueued as one step. */
#ifndef STREAM_STREAM_GATHER_H
#define STREAM_STREAM_GATHER_H

#include "stream/stream_int.h"

/* Waits come first, whenever they were gathered. */
struct gather {
    struct gtl_flag *waits;
    struct gtl_put *puts;
    size_t n_waits, n_puts;
    size_t room;                /* of each */
    uint64_t ops;               /* so many operations of the program's */
};

/* For n more of each: -ENOMEM. */
int stream_gather_reserve(struct gather *g, size_t n);
void stream_gather_free(struct gather *g);
/* Enqueues all; on error it is empty, too: 0 or -errno, logged. */
int stream_gather_flush(const struct stream_where *w, struct gather *g);
/* Enqueues nothing of it. */
void stream_gather_drop(struct gather *g);

static inline void gather_wait(struct gather *g, uint64_t *word,
                               uint64_t least)
{
    g->waits[g->n_waits++] = (struct gtl_flag){ word, least };
}

/* A message: a copy of n bytes, and the store that tells of it. */
static inline void gather_put(struct gather *g, void *to, const void *from,
                              size_t n, uint64_t *word, uint64_t value)
{
    g->puts[g->n_puts++] = (struct gtl_put){ to, from, n, { word, value } };
}

static inline void gather_store(struct gather *g, uint64_t *word,
                                uint64_t value)
{
    gather_put(g, NULL, NULL, 0, word, value);
}

#endif
