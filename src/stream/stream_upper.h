/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_upper.h - what the layer above, messages, has this layer call.
 *
 * Includes go down only (src/LAYERS), so the upper layer registers its calls
 * before the first stream opens. */
#ifndef STREAM_STREAM_UPPER_H
#define STREAM_STREAM_UPPER_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>

struct stream_upper_ops {
    /* When the stream layer opens: 0 or -errno, logged. */
    int (*open)(void);
    /* When no stream runs any more, in shmem_finalize; opened: open() was
     * called. */
    void (*close)(bool opened);
    /* Before a start of requests: reads what partners have sent. */
    void (*progress)(const char *call);
    /* By the progress thread on each pass.  True: again soon. */
    bool (*poll)(void);
    /* Writes the name of what completes with that word, for a line about a
     * wait.  False: it knows none, or not just now. */
    bool (*describe_counter)(const void *word, char *text, size_t size);
};
/* Set before any stream opens, by one thread. */
extern hidden const struct stream_upper_ops *stream_upper;

#endif
