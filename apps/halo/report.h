/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - times of trials and their output: lines of a table or an
 * object of JSON, both from the same list of columns.  PE 0 calls. */
#ifndef HALO_REPORT_H
#define HALO_REPORT_H

#include <stdbool.h>

#include "options.h"

struct times {
    double of[TRIALS_MAX];
    int n;
};
void times_add(struct times *t, double value);
double times_mean(const struct times *t);
/* Half of the 95 % interval of the mean. */
double times_interval(const struct times *t);
double times_median(const struct times *t);
double times_least(const struct times *t);
double times_most(const struct times *t);
/* The median of the quotients of the same trials. */
double times_ratio(const struct times *a, const struct times *b);

struct column {
    const char *head, *key;     /* of the table, of the object */
    int width, digits;          /* digits -1: a text; to the left if width is
                                 * below 0 */
    const char *text;
    double value;               /* NAN: there is none, or it is not known */
};
/* A run has been compared, and was right. */
void report_verified(void);
/* The rows of one report begin with what describes it; the fields of the
 * object that are alike for all rows are in head, up to one without a key. */
void report_begin(bool json, struct device *d,
                  const struct column *head);
void report_row(bool json, const struct column *row);
/* what: was compared in each of the runs that were. */
void report_end(bool json, const char *what);

#endif
