/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_progress.h - the progress thread: lets operations advance while the
 * program computes.  Any thread may call these, but for the first two. */
#ifndef OFI_NET_OFI_PROGRESS_H
#define OFI_NET_OFI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

int ofi_progress_open(void);
void ofi_progress_close(void);
uint64_t ofi_progress_owner_sleeps(bool asleep);
/* Something of this PE's is under way that needs looks, counted before. */
void ofi_progress_request(void);
/* How often it has slept. */
uint64_t ofi_progress_sleeps(void);
/* The owner looks after the queues itself. */
static inline void ofi_progress_note_poll(void);
extern uint64_t ofi_progress_polls;        /* atomic */
static inline void ofi_progress_note_poll(void)
{
    /* Not exact when threads race: only its change counts. */
    __atomic_store_n(&ofi_progress_polls,
                     __atomic_load_n(&ofi_progress_polls, __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
}

#endif
