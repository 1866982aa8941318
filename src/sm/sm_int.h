/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_int.h - the meeting of a node's PEs, apart from what they map. */
#ifndef SM_SM_INT_H
#define SM_SM_INT_H

#include "heap/heap.h"

#include <stdint.h>

/* What the leader publishes through the launcher: only the job can read it,
 * so knowing the token proves membership. */
struct sm_card {
    char name[32];              /* abstract socket, without its leading 0 */
    uint8_t token[16];
    struct heap_plan plan;
};

/* Leader, before the fence: fills the card and listens. */
int sm_meet_listen(struct sm_card *card, int *out_fd);
/* Leader, after the fence: gives memfd to every other PE of the node.  Drops
 * static data from the plan if a PE's layout differs.  Closes listen_fd. */
int sm_meet_serve(int listen_fd, struct sm_card *card, int memfd);
/* The others: fetch memfd from the leader; may drop data from the plan. */
int sm_meet_join(struct sm_card *card, int *out_memfd);

#endif
