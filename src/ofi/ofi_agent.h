/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_agent.h - the progress thread: lets operations advance while the program
 * computes.  Any thread may call these, but for the first two. */
#ifndef OFI_OFI_AGENT_H
#define OFI_OFI_AGENT_H

#include <stdbool.h>
#include <stdint.h>

int ofi_agent_open(void);
void ofi_agent_close(void);
uint64_t ofi_agent_doze(bool asleep);
/* Something of this PE's is under way that needs looks, counted before. */
void ofi_agent_need(void);
/* How often it has slept. */
uint64_t ofi_agent_wakes(void);
/* The owner looks after the queues itself. */
static inline void ofi_agent_seen(void);
extern uint64_t ofi_agent_looks;        /* atomic */
static inline void ofi_agent_seen(void)
{
    /* Not exact when threads race: only its change counts. */
    __atomic_store_n(&ofi_agent_looks,
                     __atomic_load_n(&ofi_agent_looks, __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
}

#endif
