/* SPDX-License-Identifier: BSD-3-Clause */
/* split.h - which key goes to which PE.
 * Made keys go by buckets of equal width, as in ISx.  The keys of a file are
 * split at exact ranks, so PE i gets those of ranks [i * N / P, (i + 1) * N /
 * P) whatever they are: the keys at the cuts are found by counting passes,
 * and keys equal to one are shared out by rank.
 * A key's class is one of split_classes(): classes ascend with keys, and all
 * keys of a class of one PE go to one PE, or, equal ones, to several by their
 * numbers.  split_classify() may run on several threads at once. */
#ifndef BUCKETSORT_SPLIT_H
#define BUCKETSORT_SPLIT_H

#include "bucketsort.h"

#include <shmemx_st.h>

struct dev;
struct work;

/* NULL: the error is remembered. */
struct split *split_new(struct job *job);
void split_free(struct split *split);
/* Buckets of equal width, at least 1. */
void split_set_width(struct split *split, uint32_t bucket_width);
/* Collective: cuts at even ranks of job->keys.  job->table is scratch.
 * False: an error, already printed. */
bool split_find(struct job *job);

int split_classes(const struct split *split);
/* Writes each key's class, and adds to counts, one number per class. */
void split_classify(const struct split *split, const void *keys, size_t n,
                    uint16_t *classes, uint64_t *counts);
/* The same on the device: what its kernels need to know, and the keys at the
 * cuts, which are to lie in split_cuts_bytes() of its memory. */
void split_work(const struct split *split, struct work *work);
size_t split_cuts_bytes(const struct split *split);
void split_load(const struct split *split, struct dev *dev, shmemx_stream_t s,
                void *cuts);
/* What split_cut() has, for the kernel `cut`: split_state_bytes() of the
 * device's memory. */
size_t split_state_bytes(const struct split *split);
void split_load_state(const struct split *split, struct dev *dev,
                      shmemx_stream_t s, unsigned long long *state);
/* For keys in the order of their classes, counts of each: ends[pe] becomes
 * the end of those for PE pe.  Keys of later calls take later ranks. */
void split_cut(struct split *split, const uint64_t *counts, uint64_t *ends);
/* Least and largest key that PE pe may get. */
void split_range(const struct job *job, int pe, uint64_t *low, uint64_t *high);

#endif
