/* SPDX-License-Identifier: BSD-3-Clause */
/* off_node.h - what a test does where PEs are on different nodes.
 * An operation on a far PE takes a thousand times as long as one on memory,
 * so a test has a number of rounds for either; and what lies there has no
 * pointer. */
#ifndef OFF_NODE_H
#define OFF_NODE_H

#include "../t.h"

#include <shmem.h>

/* Has some PE another one that it reaches by messages only?  All PEs say the
 * same. */
static T_UNUSED bool some_are_off_node(void)
{
    return shmem_team_n_pes(SHMEM_TEAM_SHARED) < shmem_n_pes();
}

/* The rounds to make. */
static T_UNUSED int rounds(int on_node, int off_node)
{
    return some_are_off_node() ? off_node : on_node;
}

#endif
