/* SPDX-License-Identifier: BSD-3-Clause */
/* trials.h - runs of an array with a halo, of all modes in turn: each begins
 * with the same array, takes so many rounds, and may be compared. */
#ifndef HALO_TRIALS_H
#define HALO_TRIALS_H

#include "../progress.h"
#include "report.h"

struct trials {
    const struct common *o;
    struct halo_what what;      /* all but mode, apart, groups, spoilt_round */
    long rounds;                /* of a run */
    double *block;              /* of this PE, with ghosts: room for */
    size_t points;              /* so many */
    /* The block as it is at first; else with no number in its points.  What is
     * exchanged is no number in both. */
    void (*fill)(bool at_first);
    /* So many rounds, at most those of a run. */
    void (*solve)(struct halo *h, enum halo_mode m, long rounds);
    void (*check)(struct halo *h, enum halo_mode m);
    void (*row)(enum halo_mode m);      /* of the report */
    /* What comes out: seconds of each run until all has run, and until all was
     * enqueued, of the slowest PE; of making the halo. */
    struct times solved[HALO_MODES], enqueued[HALO_MODES];
    double created[HALO_MODES];
    struct halo *halo[HALO_MODES];
    struct progress progress;
    int run;                    /* of all modes' so far */
};

bool trials_have(const struct trials *t, enum halo_mode m);
/* All runs; they are over, and the halos are still there. */
void trials_run(struct trials *t);
/* The rows of the modes. */
void trials_rows(const struct trials *t);
void trials_end(struct trials *t);

#endif
