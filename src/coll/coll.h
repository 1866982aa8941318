/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - operations that all PEs of a team make together.
 * At most one at a time in a team; the program orders its threads' calls. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

/* Every PE of the world arrives before any leaves; what a PE stored before is
 * visible to all afterwards. */
void coll_sync_world(void);
/* With the quiet of the default context before. */
void coll_barrier_world(void);
/* Before the first synchronisation after each init. */
void coll_open(void);

#endif
