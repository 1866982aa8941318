/* SPDX-License-Identifier: BSD-3-Clause */
/* osu.h - what the OSU-style programs share: options, buffers, rows, checks.
 * A program holds its timing loop and main(); all else is in osu.c.  Only
 * OpenSHMEM 1.4 is used, so that the same sources measure other libraries.
 * One thread per PE; every function named osu_row* or osu_open/close is
 * collective over all PEs. */
#ifndef OSU_H
#define OSU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSU_VERSION "7.4"           /* the OSU set whose loops these are */
#define OSU_LARGE 8192              /* beyond it, fewer iterations */
#define OSU_GUARD 64                /* bytes past a message, left alone */
#define OSU_LAT_MAX ((size_t)1 << 20)
#define OSU_LAT_BYTES (OSU_LAT_MAX * 4 + OSU_GUARD)
#define OSU_RATE_MAX ((size_t)1 << 22)
#define OSU_RATE_SLOTS 50
#define OSU_RATE_BYTES (OSU_RATE_MAX * OSU_RATE_SLOTS + OSU_GUARD)
#define OSU_BW_WINDOW 64
#define OSU_BW_BYTES (((size_t)64 << 20) + OSU_GUARD)
#define OSU_ATOMIC_MAX (1 << 20)

enum osu_kind {
    OSU_LATENCY,                    /* exactly 2 PEs, PE 0 measures */
    OSU_BANDWIDTH,                  /* likewise */
    OSU_RATE,                       /* pairs: first half to second half */
    OSU_ATOMIC,                     /* likewise, one row per operation */
    OSU_BARRIER,                    /* all PEs, one row */
    OSU_COLLECTIVE                  /* all PEs, on the heap */
};

/* What a program is; constant. */
struct osu_prog {
    const char *name;               /* "osu_oshm_put" */
    const char *title;              /* "OSU OpenSHMEM Put Test" */
    enum osu_kind kind;
    bool is_get;                    /* data moves from the peer to here */
    char *src, *dst;                /* global buffers; NULL: not used */
    size_t bytes;                   /* of each of them */
};

/* What one run is: its options and its buffers. */
struct osu {
    const struct osu_prog *prog;
    int pe, npes, pairs, peer;
    bool heap, full, check, tail, json;
    int precision;
    size_t min, max;
    int iters_opt, skip_opt;        /* -1: the defaults of the kind */
    int iters, skip;                /* for the size at hand */
    char *src, *dst;
    void *src_heap, *dst_heap;
    int rows;
    int status;                     /* what main() returns */
};

/* One operation of n bytes, complete on return. */
typedef void osu_op(struct osu *o, size_t n);

/* Microseconds of the monotonic clock. */
double osu_now(void);

/* Starts the library, reads the options, makes the buffers, prints the
 * header.  Nonzero: stop and return osu_close(o). */
int osu_open(struct osu *o, const struct osu_prog *prog, int argc, char **argv);
int osu_close(struct osu *o);

/* Sets o->iters and o->skip for messages of n bytes, writes to every page of
 * the buffers and meets the other PEs. */
void osu_begin(struct osu *o, size_t n);

/* Rows; value is what this PE measured, 0 where it measured nothing.  The
 * operation is repeated, apart from the timed loop, for -c, -f and -T. */
void osu_row_latency(struct osu *o, size_t n, double us, osu_op *op);
void osu_row_bandwidth(struct osu *o, size_t n, double us, osu_op *op);
void osu_row_rate(struct osu *o, size_t n, double per_s, osu_op *op);
/* us is per operation; wrong counts failed checks of this PE. */
void osu_row_atomic(struct osu *o, const char *what, double us, int wrong);
/* laps: o->iters single times of this PE. */
void osu_row_barrier(struct osu *o, const double *laps, int wrong);

/* us is the mean of this PE; wrong counts failed checks. */
void osu_row_collective(struct osu *o, size_t n, double us, int wrong);

/* Collectives: a call on o->src (n bytes, a multiple of 4) and o->dst, and
 * what of its result here is wrong. */
typedef void osu_coll_op(struct osu *o, size_t n, long *psync);
typedef int osu_coll_check(const struct osu *o, size_t n);
int osu_collective(const struct osu_prog *prog, osu_coll_op *op,
                  osu_coll_check *wrong, int argc, char **argv);

/* Word i of PE pe in the checks; sums of a few stay exact as floats. */
static inline uint32_t osu_coll_word(int pe, size_t i)
{
    return (uint32_t)pe * 100 + (uint32_t)(i % 97);
}

/* Byte at of message number iter when messages have n bytes. */
static inline unsigned char osu_pattern(size_t n, size_t at, uint32_t iter)
{
    uint64_t x = (n + 1) * 0x9e3779b97f4a7c15u ^ at * 0xbf58476d1ce4e5b9u ^
                 (iter + 1) * (uint64_t)0x94d049bb133111ebu;

    x ^= x >> 31;
    return (unsigned char)((x * 0xd6e8feb86659fd93u) >> 56);
}

/* Bytes that the messages of a rate program go through before they begin
 * anew; OSU's default counts never get there. */
static inline size_t osu_rate_span(const struct osu *o)
{
    size_t least = (size_t)4 << 20, all = o->max * OSU_RATE_SLOTS;

    return all > least ? all : least;
}

/* Sum of a value over all PEs, at PE 0; elsewhere 0. */
double osu_sum(struct osu *o, double value);

#endif
