/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_step_batch.h - what the device does itself of a start or a wait of
 * messages: gathered, and enqueued as one step. */
#ifndef STREAM_STREAM_STEP_BATCH_H
#define STREAM_STREAM_STEP_BATCH_H

#include "stream/stream_int.h"

/* Waits come first, whenever they were gathered. */
struct steps {
    struct gtl_flag *waits;
    struct gtl_put *puts;
    size_t n_waits, n_puts;
    size_t room;                /* of each */
    size_t reserved;            /* so many of each may there be */
    uint64_t ops;               /* so many operations of the program's */
};

/* For n more of each: -ENOMEM. */
int stream_step_batch_reserve(struct steps *g, size_t n);
/* For n more than what was reserved last. */
int stream_step_batch_reserve_more(struct steps *g, size_t n);
void stream_step_batch_free(struct steps *g);
/* Enqueues all; on error it is empty, too: 0 or -errno, logged. */
int stream_step_batch_flush(const struct stream_where *w, struct steps *g);
/* Enqueues nothing of it. */
void stream_step_batch_clear(struct steps *g);

static inline void stream_step_batch_wait(struct steps *g, uint64_t *word,
                                          uint64_t least)
{
    g->waits[g->n_waits++] = (struct gtl_flag){ word, least };
}

/* A message: a copy of n bytes, and the store that reports it. */
static inline void stream_step_batch_put(struct steps *g, void *to,
                                         const void *from, size_t n,
                                         uint64_t *word, uint64_t value)
{
    g->puts[g->n_puts++] = (struct gtl_put){ to, from, n, { word, value } };
}

static inline void stream_step_batch_store(struct steps *g, uint64_t *word,
                                           uint64_t value)
{
    stream_step_batch_put(g, NULL, NULL, 0, word, value);
}

#endif
