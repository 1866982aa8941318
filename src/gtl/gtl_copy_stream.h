/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_copy_stream.h - streams of the library's own for copies that are left
 * behind. */
#ifndef GTL_GTL_COPY_STREAM_H
#define GTL_GTL_COPY_STREAM_H

/* Lanes are streams for what is left behind: begin() keeps other threads out
 * until end(), and finish() waits for all that was enqueued before it was
 * called.  finish() asks nothing of the driver where nothing is left. */
enum { GTL_COPY_STREAMS = 4 };
void *gtl_copy_stream_acquire(unsigned lane);
void gtl_copy_stream_release(unsigned lane);
int gtl_copy_stream_wait(unsigned lane);

#endif
