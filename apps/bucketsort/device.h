/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - a job whose keys begin and end in the memory of the device. */
#ifndef BUCKETSORT_DEVICE_H
#define BUCKETSORT_DEVICE_H

#include "order.h"

struct device {
    struct dev dev;
    struct order order;         /* for the local sort */
    shmemx_stream_t stream;
    void *keys, *table;         /* symmetric device memory, room for the
                                 * larger of both in each */
    void *sorted;               /* one of them */
    long long *cursor;          /* the same; NULL: the host's is used */
};

/* Does any variant use the device?  Do those with host buckets get their keys
 * from there? */
bool device_wanted(const struct opts *o);
bool device_stages(const struct job *job);
/* Is there one?  Local. */
bool device_there(void);
/* May its streams wait for other PEs, where several share it?  Local. */
bool device_waits(int pes);
/* Do its kernels communicate?  Local. */
bool device_sends(void);
/* Collective, after the host's table is made; job->device, or NULL and the
 * error is remembered. */
void device_open(struct job *job);
void device_close(struct job *job);
/* The input goes to the device. */
void device_load(struct job *job);
/* Sorts what is in the table: the one where keys came in, of host or device. */
void device_sort(struct job *job);
/* The sorted keys are then in job->table, too. */
void device_fetch(struct job *job);

/* ---- the exchange, as struct variant has it ---- */
void exchange_device_open(struct job *job);
void exchange_device_run(struct job *job);
void exchange_device_close(struct job *job);
void exchange_st_open(struct job *job);
void exchange_st_run(struct job *job);
void exchange_st_close(struct job *job);
/* Bytes of device heap that it takes. */
size_t exchange_st_bytes(const struct job *job);
void exchange_ki_open(struct job *job);
void exchange_kt_open(struct job *job);
void exchange_ki_run(struct job *job);
void exchange_ki_close(struct job *job);
size_t exchange_ki_bytes(const struct job *job);

#endif
