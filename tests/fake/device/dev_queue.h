/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_queue.h - what queues and graphs share: the streams and their lock. */
#ifndef FAKE_DEV_QUEUE_H
#define FAKE_DEV_QUEUE_H

#include "dev_graph.h"

#include <pthread.h>

extern pthread_mutex_t dev_lock;
extern struct dev_stream *dev_streams;

/* Ends the program where there is no memory. */
void *dev_must(void *p);
/* Under the lock, of a stream that records. */
void dev_graph_add(struct dev_stream *s, dev_step *step, const void *arg,
                   size_t n);
/* s waits for what `other` has recorded. */
void dev_graph_join(struct dev_stream *s, struct dev_graph *g,
                    struct dev_stream *other);

#endif
