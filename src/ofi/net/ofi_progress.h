/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_progress.h - the network's poller on the progress thread, which advances
 * operations while the program computes.  Any thread may call these, but for
 * the first two. */
#ifndef OFI_NET_OFI_PROGRESS_H
#define OFI_NET_OFI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* 0, or -errno, logged. */
int ofi_progress_open(void);
void ofi_progress_close(void);
/* The calling thread goes to sleep (true) or is awake again: the poller works
 * in its place.  Returns the number of events so far.  Slot set_asleep of
 * xport_progress_ops. */
uint64_t ofi_progress_program_sleeps(bool asleep);
/* Something of this PE's is under way that wants polls; counted before. */
void ofi_progress_request(void);
/* A thread polls the completion queues: called for each poll. */
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
