/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.c - the ways to exchange keys, the first of them the reference. */
#include "bucketsort.h"

#include "exchange.h"

const struct variant variants[] = {
    { "HA_HI", "host buckets and table, one host thread", false,
      exchange_host_open, exchange_host_run, exchange_host_close },
    { "HA_HI_OMP", "the same, threads with a range of targets each", true,
      exchange_host_open, exchange_host_run, exchange_host_close },
};
const int variants_count = sizeof(variants) / sizeof(variants[0]);
