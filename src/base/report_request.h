/* SPDX-License-Identifier: BSD-3-Clause */
/* report_request.h - a PE reports its state, and none of its program's threads
 * notices.
 *
 * A handler interrupts sleep(3), pause(2) and the like in the thread that runs
 * it, whatever its flags, so the report is a thread's of the library, which
 * waits for a signal that is sent to this thread alone.  Other processes find
 * the thread by its name.  The signal asks for the report; queued, as by
 * sigqueue(3), it makes the thread turn to other work, such as the status
 * page. */
#ifndef BASE_REPORT_REQUEST_H
#define BASE_REPORT_REQUEST_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define REPORT_THREAD "sluice-state"
/* Its name while it answers no requests for reports. */
#define WATCHDOG_THREAD "sluice-watchdog"
#define REPORT_SIGNAL (SIGRTMAX - 5)

/* Asks process pid for the report.  False: it has no such thread, or is another
 * user's. */
bool report_request_process(pid_t pid);
/* Wakes that thread of it alone. */
bool report_wake_process(pid_t pid);

#endif
