/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.h - named places that fail on demand, for tests.
 * SHMEM_FAULT=site:rate:seed[,site:rate:seed]: rate is a probability from 0
 * to 1, seed makes the run repeatable.  Any thread may call fault_hit(). */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>

enum fault_site {
#define FAULT(NAME, site, what) FAULT_##NAME,
#include "base/fault_defs.h"
#undef FAULT
    FAULT_SITES
};

extern bool fault_armed;

/* Reads SHMEM_FAULT from the table; logs a bad one and gives -EINVAL. */
int fault_load(void);
bool fault_roll(enum fault_site site);
/* Prints how often each armed site was reached and how often it failed. */
void fault_report(void);

static inline bool fault_hit(enum fault_site site)
{
    return __builtin_expect(fault_armed, false) && fault_roll(site);
}

#endif
