/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - a program's options from a table of them. */
#ifndef HALO_OPTIONS_H
#define HALO_OPTIONS_H

#include <stdbool.h>

#include "halo.h"

enum option_kind {
    OPTION_FLAG,                /* bool */
    OPTION_NUMBER,              /* long, least to most */
    OPTION_REAL,                /* double above 0 */
    OPTION_WORD,                /* int: which of words */
    OPTION_WORDS,               /* unsigned: a set of modes, with commas */
    OPTION_SIZES                /* long[most], least or more: as in 4x2 */
};

struct option_row {
    const char *name;
    char letter;                /* or 0 */
    enum option_kind kind;
    void *at;
    long least, most;
    const char *const *words;   /* up to a NULL */
    const char *value, *about;  /* for the help; \n goes on in a new line */
};

/* What all programs take. */
enum verify { VERIFY_ALL, VERIFY_LAST, VERIFY_NONE };
enum { TRIALS_MAX = 100 };
struct common {
    unsigned modes, all;        /* sets of enum halo_mode; all: that there are */
    long warmup, trials, spoil, seed;
    int verify;
    long groups;                /* of calling kernels; 0: as there are cores */
    bool apart, json, help;
};

/* 0, or main's status: PE 0 has said what is wrong, or printed about, the
 * options and columns.  Of the program's table the last row has no name. */
enum { OPTIONS_DONE = -1 };     /* status 0, but there is nothing to do */
struct about {
    const char *text;           /* the first lines */
    const char *columns;        /* what those of the table mean */
};
int options_read(int argc, char **argv, const struct about *about,
                 const struct option_row *rows, struct common *out);
/* The same for options that do not go together. */
int options_refuse(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));
/* Opens the kernels that call the library.  Modes that do not run on this device:
 * takes them out of all modes, and prints why; refuses a list that has them.  By
 * all PEs. */
int options_fit(struct common *o, struct device *d,
                const struct persistent *kernels);
/* After all runs: --spoil has not ended the job, which is an error.  The first
 * run that is compared has rounds first to last; none if last is less. */
void options_spoilt(const struct common *o, long first, long last);

#endif
