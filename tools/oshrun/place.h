/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h - --bind-to core. */
#ifndef OSHRUN_PLACE_H
#define OSHRUN_PLACE_H

#include <sched.h>
#include <stddef.h>

struct place {
    cpu_set_t *set;                 /* one for each core, cores of them */
    size_t size;                    /* bytes of each */
    int cores;
};

/* The cores this process may use.  0, or -1 with the reason said. */
int place_open(struct place *out);
/* The set of the core for the given PE. */
const cpu_set_t *place_of(const struct place *p, int pe);

#endif
