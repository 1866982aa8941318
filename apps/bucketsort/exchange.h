/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - the exchange with buckets and table in host memory.
 * Keys are taken a chunk at a time.  A chunk is bucketed into local memory;
 * then, for every target, a fetch-add on its cursor reserves room in its table
 * and a put writes the bucket there.  PEs need not meet meanwhile.
 * With several threads each has its own context and a range of targets.
 * The functions are those of struct variant. */
#ifndef BUCKETSORT_EXCHANGE_H
#define BUCKETSORT_EXCHANGE_H

#include "bucketsort.h"

void exchange_host_open(struct job *job);
void exchange_host_run(struct job *job);
void exchange_host_close(struct job *job);

#endif
