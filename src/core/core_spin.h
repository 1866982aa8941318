/* SPDX-License-Identifier: BSD-3-Clause */
/* core_spin.h - how long a wait of this PE spins before it yields.
 * Threads: any; they share one estimate. */
#ifndef CORE_CORE_SPIN_H
#define CORE_CORE_SPIN_H

#include <stdint.h>

/* After the environment is read: SHMEM_SPIN_US, which is the most. */
void core_spin_open(void);
/* Waits look around at once: there is no quick phase. */
void core_spin_impatient(void);
uint64_t core_spin_ns(void);
uint64_t core_spin_most_ns(void);
/* Yields, and learns from what that costs. */
void core_spin_yield(void);

#endif
