/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what was measured, as a table and as JSON.
 * A row is one variant.  Times of a PE are medians over its rounds. */
#ifndef BUCKETSORT_REPORT_H
#define BUCKETSORT_REPORT_H

#include "bucketsort.h"

struct report {
    struct job *job;
    struct row *rows;
    int count;
    double *times;              /* [TIMERS][rounds] of the row at hand */
    int rounds, made;
    uint64_t checked;           /* sorts that were verified, untimed ones too */
    const char *output;         /* written */
};

/* False: an error, remembered. */
bool report_open(struct job *job, int rounds, struct report *out);
/* One timed round of the row at hand. */
void report_round(struct report *r);
/* Collective: all rounds of a variant are there. */
void report_row(struct report *r, const struct variant *variant);
/* PE 0: prints table and JSON; errors are remembered. */
void report_print(struct report *r);
void report_close(struct report *r);

#endif
