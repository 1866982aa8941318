/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h - keys in device memory, put in order by class, or sorted. */
#ifndef BUCKETSORT_ORDER_H
#define BUCKETSORT_ORDER_H

#include "dev.h"

/* Room for one order at a time. */
struct order {
    struct dev *dev;
    void *block;                /* symmetric device memory; the rest of it: */
    word64 *counts, *sums, *partial, *edges;
    size_t counters;
};

/* Collective: room for up to n keys of up to `classes` classes; n and classes
 * are the same on all PEs.  False: the error is remembered. */
bool order_open(struct dev *d, size_t n, unsigned classes, struct order *out);
void order_close(struct order *o);

/* Enqueues w's keys in order from w->from to w->to, and each class's begin to
 * o->edges.  w has how, and what belongs to it, n, width and classes.
 * mark, if any, is called with arg on the device after the counts, after the
 * places and after the keys. */
void order_run(struct order *o, shmemx_stream_t s, struct work *w,
               void (*mark)(void *arg), void *arg);
/* Sorts n keys; tmp has room for as many.  Where they are in the end: either.
 * Returns when they are. */
void *order_sort(struct order *o, shmemx_stream_t s, int width, void *keys,
                 void *tmp, size_t n);
/* Classes of a digit of the sort. */
unsigned order_digits(const struct dev *d);

#endif
