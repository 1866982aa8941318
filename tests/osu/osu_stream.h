/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_stream.h - what the programs on streams share.  What they time is a
 * device that works in steps, and an operation between two of these: either
 * the stream makes it, or the program does, which waits for the device before
 * and gives it the next step after.  A small fill stands for a kernel, since
 * it runs on any device. */
#ifndef OSU_STREAM_H
#define OSU_STREAM_H

#include "osu.h"

#include <shmemx_st.h>

#define OSU_WORK 8                  /* bytes that a step writes */

struct osu_stream {
    shmemx_stream_t at;
    shmemx_device_info_t device;
    char *word;                     /* what the steps write */
    uint64_t *signal;               /* for the programs that echo */
    uint64_t rounds;                /* how often they have */
    unsigned works;
    double work_us;                 /* a step that is alone */
};

/* A call on a stream that was refused ends the job, with one line. */
void osu_refused(const struct osu *o, int rc);
static inline void osu_notified(const struct osu *o, int rc)
{
    if (rc)
        osu_refused(o, rc);
}

/* A step of the device. */
static inline void osu_work(struct osu *o)
{
    struct osu_stream *st = o->stream;

    osu_notified(o, shmemx_stream_fill(st->at, st->word, st->works++ & 0xff,
                                   OSU_WORK));
}

void osu_stream_sync(struct osu *o);

/* Does the program make the operations? */
static inline bool osu_by_host(const struct osu *o)
{
    return o->places[o->place].exec == OSU_BY_HOST;
}

/* Steps of o->prog->step, o->iters of them, which the host waits for in the
 * end: microseconds as osu_measure. */
double osu_steps_us(struct osu *o, size_t n);
/* One, which it waits for. */
void osu_step_once(struct osu *o, size_t n);

#endif
