/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.h - oshrun's side of the channels of its PEs, see rt/rt_wire.h.
 *
 * Only the processes of a PE hold its channel, no socket listens, and the
 * supervisor's loop serves all channels.  Values that a PE publishes live as
 * long as its session. */
#ifndef OSHRUN_CHANNEL_H
#define OSHRUN_CHANNEL_H

#include "job.h"

/* Of a job of n PEs.  0, or -1 with the reason said. */
int channel_open(int n);
/* Makes the channel of a PE and adds the PE's variables to its environment.
 * Returns the PE's end, the same number for all of them, or -1 with the reason
 * said. */
int channel_make(const struct job *j, int pe, char ***env);
/* The PE has been forked: the supervisor closes its copy of the
 * PE's end. */
void channel_made(void);
/* The descriptors to wait on, -1 for none: channel and session. */
void channel_fds(int pe, int out[2]);
/* Does what has come from a PE; news go to job_note_server(). */
void channel_read(struct job *j, int pe);
/* The process of that PE that used the library last, or 0. */
pid_t channel_owner(int pe);
/* Has the process that had the PE's session ended its program, but not yet
 * been waited for? */
bool channel_owner_is_ending(const struct job *j, int pe);
/* Does a PE wait for others in a fence? */
bool channel_fence_waits(void);

#endif
