/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.c - the ways to exchange keys, the first of them the reference. */
#include "bucketsort.h"

#include "device.h"
#include "exchange.h"

/* Keys that are on the device come to the host's buckets through copies. */
static void host_open(struct job *job)
{
    (job->on_device ? exchange_device_open : exchange_host_open)(job);
}

static void host_run(struct job *job)
{
    (job->on_device ? exchange_device_run : exchange_host_run)(job);
}

static void host_close(struct job *job)
{
    (job->on_device ? exchange_device_close : exchange_host_close)(job);
}

#define HOST host_open, host_run, host_close
#define DEVICE_OWN \
    exchange_device_open, exchange_device_run, exchange_device_close

const struct variant variants[] = {
    { "HA_HI", "host buckets and table, one host thread", false, false, false,
      false, false, HOST },
    { "HA_HI_OMP", "the same, threads with a range of targets each", true,
      false, false, false, false, HOST },
    { "GA_HI", "device buckets and table, one host thread", false, false, true,
      false, false, DEVICE_OWN },
    { "GA_HI_Stream", "the same, chunks on several streams", false, true, true,
      false, false, DEVICE_OWN },
    { "GA_HI_OMP", "the same, threads with a range of targets each", true,
      false, true, false, false, DEVICE_OWN },
    { "GA_ST", "device buckets in slots that a stream sends and awaits", false,
      false, true, true, false, exchange_st_open, exchange_st_run,
      exchange_st_close },
    { "GA_KI", "a kernel sends keys as it finds them", false, false, true,
      false, true, exchange_ki_open, exchange_ki_run, exchange_ki_close },
    { "GA_KT", "the same, by puts that the kernel triggers", false, false,
      true, false, true, exchange_kt_open, exchange_ki_run,
      exchange_ki_close },
};
const int variants_count = sizeof(variants) / sizeof(variants[0]);
