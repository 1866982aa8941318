/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes diag, and prints the statistics.  Called by core, and at
 * finalize by api; asks no object itself. */
#include "diag/diag_int.h"
#include "base/env.h"

void diag_print_statistics(void)
{
    const struct diag_source *s;

    for (unsigned i = 0; env.STATS.on && (s = diag_source(i)); i++)
        if (s->statistics)
            s->statistics();
}

void diag_open(void)
{
    diag_sources_clear();
    diag_watchdog_open();
    diag_report_open();
    diag_file_open();
}

void diag_answer_requests(void)
{
    if (!env.STATE_SIGNAL)
        return;
    diag_status_open();
    /* Without the thread SIGUSR2 itself is still answered. */
    diag_thread_start(diag_report_handles());
}

void diag_stop_thread(void)
{
    diag_thread_stop();
}

void diag_close(void)
{
    diag_watchdog_close();
    diag_thread_stop();
    diag_report_close();
    diag_sources_clear();
}
