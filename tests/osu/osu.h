/* SPDX-License-Identifier: BSD-3-Clause */
/* osu.h - what the OSU-style programs share: options, buffers, rows, checks.
 * A program holds its timing loop; all else is in osu*.c.  OpenSHMEM 1.4 is
 * enough, so that the same sources measure other libraries; where there is
 * shmem_space.h, buffers may lie in device memory, which the programs never
 * touch but by puts and gets.
 * One thread per PE; every function named osu_row*, osu_measured* or
 * osu_open/close is collective over all PEs. */
#ifndef OSU_H
#define OSU_H

#include "../../apps/progress.h"

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
    OSU_OVERLAP,                    /* likewise */
    OSU_BANDWIDTH,                  /* likewise */
    OSU_RATE,                       /* pairs: first half to second half */
    OSU_ATOMIC,                     /* likewise, one row per operation */
    OSU_BARRIER,                    /* all PEs, one row */
    OSU_COLLECTIVE                  /* all PEs, on the heap */
};

struct osu;
/* One operation of n bytes, complete on return. */
typedef void osu_op(struct osu *o, size_t n);

/* What a program is; constant. */
struct osu_prog {
    const char *name;               /* "osu_oshm_put" */
    const char *title;              /* "OSU OpenSHMEM Put Test" */
    enum osu_kind kind;
    bool is_get;                    /* data moves from the peer to here */
    char *src, *dst;                /* global buffers; NULL: not used */
    size_t bytes;                   /* of each of them */
    bool on_stream;                 /* what a device does is in its loop */
    unsigned callers;               /* of programs in kernels: bits of enum
                                     * osu_exec, who makes the calls */
    bool echo;                      /* PE 1 answers: half a round trip */
    osu_op *step;                   /* osu_stream.h */
};

/* Where a buffer is: the host's memory, the device's. */
enum osu_space { OSU_HOST, OSU_DEVICE, OSU_SPACES };

/* Who makes the operations between what the device does: the program, which
 * waits for the device, or its stream.  Who makes the calls of a program in
 * kernels: the program, or a thread, a warp, a block of a kernel. */
enum osu_exec {
    OSU_BY_HOST, OSU_BY_STREAM, OSU_BY_THREAD, OSU_BY_WARP, OSU_BY_BLOCK,
    OSU_EXECS
};

/* Where the data comes from and where it goes to, on whichever PE. */
struct osu_place {
    enum osu_space src, dst;
    enum osu_exec exec;
};
#define OSU_PLACES (OSU_SPACES * OSU_SPACES * OSU_EXECS)

/* What one row shows of one placement. */
struct osu_cell {
    double value;                   /* us, MB/s, messages/s, percent */
    double rate;                    /* of atomics: million/s */
    double compute, init, wait, pure;   /* us, of OSU_OVERLAP */
    double min, max;                /* -f */
    double p50, p99;                /* -T */
    int wrong;                      /* -c */
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
    const char *src_opt, *dst_opt;  /* -s, -d; NULL: not given */
    const char *exec_opt;           /* -x of programs on streams, in kernels */
    bool wait_each;                 /* -w each */
    struct osu_stream *stream;      /* of programs on streams */
    struct osu_kernel *kernel;      /* of programs in kernels, */
    double kernel_us;               /* whose last loop took so long */
    struct osu_place places[OSU_PLACES];
    int n_places, place;            /* how many, the one at hand */
    struct osu_cell cells[OSU_PLACES];  /* of the row at hand */
    char *src, *dst;                /* at the place at hand */
    char *src_in[OSU_SPACES], *dst_in[OSU_SPACES];
    void *blocks[4 * OSU_SPACES];   /* to be freed */
    int n_blocks;
    struct progress progress;       /* on a terminal */
    int rows;
    int status;                     /* what main() returns */
};

/* The timing loop for messages of n bytes: microseconds per operation, those
 * of all windows of a bandwidth, messages per second, or percent of overlap,
 * with the times in o->cells[o->place]. */
typedef double osu_measure(struct osu *o, size_t n);

/* All of a program of puts or gets: each size, at each place in turn.  The
 * operation is repeated, apart from the timed loop, for -c, -f and -T. */
int osu_copies(const struct osu_prog *prog, osu_measure *measure, osu_op *op,
               int argc, char **argv);

/* Microseconds of the monotonic clock. */
double osu_now(void);

/* Starts the library, reads the options, makes the buffers, prints the
 * header.  Nonzero: stop and return osu_close(o). */
int osu_open(struct osu *o, const struct osu_prog *prog, int argc, char **argv);
int osu_close(struct osu *o);

/* Sets o->src and o->dst for o->places[place] and clears its cell. */
void osu_place(struct osu *o, int place);

/* Sets o->iters and o->skip for messages of n bytes, writes to every page that
 * these use and meets the other PEs. */
void osu_begin(struct osu *o, size_t n);

/* From and to buffers of this PE, wherever they are; store and set are seen
 * by other PEs after a barrier. */
void osu_store(void *to, const void *from, size_t n);
void osu_load(void *to, const void *from, size_t n);
void osu_set(void *to, int byte, size_t n);

/* malloc, or one line and the end of the job. */
void *osu_host_buffer(const struct osu *o, size_t bytes);

/* What was measured at the place at hand.  value is this PE's, 0 where it
 * measured nothing; us is per operation; wrong counts this PE's failed
 * checks.  The row follows when all places have been measured. */
void osu_measured(struct osu *o, size_t n, double value, osu_op *op);
void osu_measured_atomic(struct osu *o, double us, int wrong);
void osu_measured_collective(struct osu *o, double us, int wrong);

void osu_row_size(struct osu *o, size_t n);
void osu_row_atomic(struct osu *o, const char *what);
/* laps: o->iters single times of this PE. */
void osu_row_barrier(struct osu *o, const double *laps, int wrong);

/* Collectives: a call on o->src (n bytes, a multiple of 4) and o->dst, and
 * how many words of dst, what is then there, are wrong here. */
typedef void osu_coll_op(struct osu *o, size_t n, long *psync);
typedef int osu_coll_check(const struct osu *o, const uint32_t *dst, size_t n);
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
