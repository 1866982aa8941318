/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_int.h - what the osu*.c share. */
#ifndef OSU_INT_H
#define OSU_INT_H

#include "osu.h"

/* Without shmemx_dev.h there are no kernels. */
#ifdef __has_include
#if __has_include(<shmemx_dev.h>)
#define OSU_HAVE_KERNELS 1
#endif
#endif

/* The largest -m, in units of the default. */
enum { OSU_MOST_TIMES = 4 };

/* The defaults of OSU's loops, by kind. */
struct osu_loops {
    size_t max;
    int iters, skip, iters_large, skip_large;
    size_t large;                   /* the first size with the large counts */
};
extern const struct osu_loops osu_loops[];

/* Reads the options.  0; 1 after printing what is wrong; 2 after an option
 * that only prints. */
int osu_arguments(struct osu *o, int argc, char **argv);
/* "name: what text: wanted; try -h" from PE 0; returns 1. */
int osu_bad(const struct osu *o, const char *what, const char *text,
            const char *wanted);

/* On the terminal of PE 0: it goes on with that size and place, of programs whose
 * sizes double. */
void osu_show_progress(struct osu *o, size_t n, int place);

/* Makes the buffers of all places.  0, or on all PEs 1 after a line. */
int osu_buffers(struct osu *o);
/* Bytes of a buffer. */
size_t osu_bytes(const struct osu *o);
void osu_buffers_free(struct osu *o);
bool osu_uses(const struct osu *o, enum osu_space space);

/* "H-D" of the place of that number; static text. */
const char *osu_place_name(const struct osu *o, int place);

/* Whether some PE lacks something; the same answer on all. */
bool osu_anybody(bool lacks);
/* One line from PE 0; returns 1. */
int osu_complain(const struct osu *o, const char *what);
bool osu_in_device(const void *p);
/* n zero bytes of a heap, in that space if there is one; collective.  NULL: no
 * room. */
void *osu_words(struct osu *o, size_t n, enum osu_space space);

/* ---- osu_stream.c: a device's stream, for programs on streams ---- */
/* 0, or on all PEs 1 after a line. */
int osu_stream_open(struct osu *o);
void osu_stream_close(struct osu *o);
/* To or from memory of this PE, in the order of the stream. */
void osu_stream_copy(struct osu *o, void *to, const void *from, size_t n);
/* For the header: "cuda", microseconds of a step of the device alone, and who
 * makes the operations of a place: "copy", "soft", "nic", or NULL: the
 * program. */
const char *osu_stream_driver(const struct osu *o);
double osu_stream_work_us(const struct osu *o);
const char *osu_stream_engine(const struct osu *o, int place);

/* ---- osu_kernel.c: kernels, for programs in kernels ---- */
/* 0, or on all PEs 1 after a line. */
int osu_kernel_open(struct osu *o);
void osu_kernel_close(struct osu *o);
const char *osu_kernel_driver(const struct osu *o);

/* "host", "stream", "thread", "warp", "block". */
extern const char *const osu_exec_names[];

/* Smallest, largest and sum of a value over the PEs that take part. */
struct osu_spread {
    double sum, min, max;
    int count;
};

/* Gathers a value of each PE below count at PE 0. */
struct osu_spread osu_gather(struct osu *o, double value, int count);
void osu_gather_end(void);

/* Of o->iters times, which are sorted: min, max, p50, p99. */
void osu_percentiles(double *laps, int count, struct osu_cell *cell);

void osu_print_header(struct osu *o);
void osu_print_end(struct osu *o);
void osu_print_barrier(struct osu *o);

/* Repeats the operation on known bytes: the first, the last and one other
 * iteration.  Returns the number of wrong bytes over all PEs, at PE 0. */
int osu_check_copy(struct osu *o, size_t n, osu_op *op);
int osu_check_window(struct osu *o, size_t n, osu_op *op);

#endif
