/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - every process that descends from this one, and whether one runs.
 *
 * The caller is a child subreaper, so a descendant cannot leave: not by a
 * session of its own, nor by losing its parent. */
#ifndef OSHRUN_TREE_H
#define OSHRUN_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Send sig to all descendants; returns how many are alive. */
int tree_signal(int sig);
/* SIGKILL all and reap them, for at most ms milliseconds; returns how many
 * could not be ended. */
int tree_kill(int ms);

/* When a process was started, in the system's units, or -1. */
int64_t tree_started(pid_t pid);
/* Does the process that was started then still run its program?  Not when it
 * has ended, nor when it is about to: a signal has ended it, but the system
 * has not yet closed what it had open. */
bool tree_process_runs(pid_t pid, int64_t started);
/* Has a signal or an exit ended its program, but is the system still at it, as
 * where it writes a core file? */
bool tree_process_is_ending(pid_t pid);
/* Does the process handle or ignore that signal? */
bool tree_process_takes(pid_t pid, int sig);
/* Has a signal or a debugger stopped it? */
bool tree_process_is_stopped(pid_t pid);

#endif
