/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - every process that descends from this one.
 *
 * The caller is a child subreaper, so a descendant cannot leave: not by a
 * session of its own, nor by losing its parent. */
#ifndef OSHRUN_TREE_H
#define OSHRUN_TREE_H

/* Send sig to all descendants; returns how many are alive. */
int tree_signal(int sig);
/* SIGKILL all and reap them, for at most ms milliseconds; returns how many
 * could not be ended. */
int tree_kill(int ms);

#endif
