/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_watchdog.h - the source by which diag checks and describes streams. */
#ifndef STREAM_STREAM_WATCHDOG_H
#define STREAM_STREAM_WATCHDOG_H

/* With the layer.  From the first wait on, see stream_watch_start(), the
 * watchdog checks. */
void stream_watchdog_open(void);
/* Behind stream_watch_close(): no check runs any more. */
void stream_watchdog_close(void);

#endif
