/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_copy_stream.h - streams of the library's own for deferred copies. */
#ifndef GTL_GTL_COPY_STREAM_H
#define GTL_GTL_COPY_STREAM_H

/* acquire() keeps other threads out of a stream until release(), and returns
 * it. wait() waits for all copies that were enqueued before the call; it asks
 * the driver nothing where no copy is left. */
enum { GTL_COPY_STREAMS = 4 };
void *gtl_copy_stream_acquire(unsigned stream);
void gtl_copy_stream_release(unsigned stream);
int gtl_copy_stream_wait(unsigned stream);

#endif
