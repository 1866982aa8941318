/* SPDX-License-Identifier: BSD-3-Clause */
/* sm.h - the PEs of one node, joined by one mapping.
 * The lowest PE of the node makes a memfd with a slot for each and passes it
 * over a local socket; everybody maps all of it.  No name is left behind and
 * nothing is to clean up, however a PE ends.  Collective over the node, one
 * thread.  Errors: 0 or -errno, logged here. */
#ifndef SM_SM_H
#define SM_SM_H

/* Opens the heap in this PE's slot and fills the routes to the node's PEs. */
int sm_open(void);
void sm_close(void);
/* In a forked child: what it stores there no longer reaches any PE. */
void sm_fork_child(void);

#endif
