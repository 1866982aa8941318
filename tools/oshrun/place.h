/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h - which cores a PE may use.
 *
 * A core that PEs are bound to is claimed for the life of the supervisor, by a
 * name of the user and the core, so that jobs of one user do not get the same
 * core.
 * The name belongs to a socket that does not listen: it ends with the process
 * and leaves no file.  Another user who takes such names costs a job no more
 * than its binding. */
#ifndef OSHRUN_PLACE_H
#define OSHRUN_PLACE_H

#include "oshrun.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct place {
    cpu_set_t *set;                 /* sets of them, for the PEs in turn */
    size_t size;                    /* bytes of each */
    int sets;
};

/* Logical processors that this process may use. */
int place_cpus(void);
/* --bind-to core, socket, numa: one of these for each of n PEs, in turn, of the
 * processors that this process may use.  0, or -1 with the reason said. */
int place_open(struct place *out, int n, enum bind bind);
/* An equal share of the cores that no other job of this user has claimed for
 * each of n PEs; false: they are too few, or there is one PE, whose share is
 * all of them. */
bool place_share(struct place *out, int n);
/* The set for the given PE. */
const cpu_set_t *place_of(const struct place *p, int pe);
/* "0-3,8" for the processors of the PE, or of this process where p is NULL. */
void place_text(const struct place *p, int pe, char *out, size_t size);

#endif
