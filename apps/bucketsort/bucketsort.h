/* SPDX-License-Identifier: BSD-3-Clause */
/* bucketsort.h - what the parts of the program share.
 * A job is one run of the program on one PE.  Keys are unsigned inside, of 4
 * or 8 bytes; signed ones have their sign bit flipped while they are in
 * memory, which keeps their order.  Functions marked collective are called by
 * all PEs in the same order, from the main thread. */
#ifndef BUCKETSORT_H
#define BUCKETSORT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../progress.h"
#include "team.h"

/* The codes of error lines: [B-E-<CODE>]. */
#define JOB_CODES(X) \
    X(USAGE) X(INPUT) X(SIZE) X(OUTPUT) X(HEAP) X(MEMORY) X(THREADS) \
    X(TABLE) X(VERIFY) X(ORDER) X(REPORT) X(DEVICE)
#define JOB_CODE(name) E_##name,
enum code { E_NONE, JOB_CODES(JOB_CODE) };
#undef JOB_CODE

enum task { TASK_MADE, TASK_FILE, TASK_GENERATE, TASK_VERIFY };
enum mode { MODE_STRONG, MODE_WEAK, MODE_WEAK_ISO, MODES };
enum type { TYPE_NONE, TYPE_I32, TYPE_U32, TYPE_I64, TYPE_U64, TYPES };
enum place { PLACE_AUTO, PLACE_HOST, PLACE_DEVICE, PLACES };
enum dist {
    DIST_UNIFORM, DIST_GAUSS, DIST_ZIPF, DIST_SORTED, DIST_REVERSE,
    DIST_EQUAL, DIST_FEW, DIST_EXTREMES, DISTS
};

struct opts {
    enum task task;
    enum mode mode;
    enum type type;
    enum dist dist;
    const char *input, *output, *generate, *verify, *against, *json;
    uint64_t keys;              /* of all PEs if strong, else of each */
    uint64_t count;             /* of the file; UINT64_MAX: not given */
    uint64_t chunk, seed;
    double slack;
    unsigned variants;          /* bit i: variants[i] */
    bool all;                   /* those that there is a device for */
    enum place local;           /* where keys are without a bucket */
    enum place table, counters; /* of variants with device buckets */
    int iterations;             /* 0: the default of the task */
    int threads;                /* 0: as many as there are cores per PE */
    int streams;
    bool verbose, progress, help;
};

/* Sums that show whether two collections hold the same keys. */
struct sums {
    uint64_t count, sum, squares, xored;        /* mod 2^64 */
};

/* ISx's timers, and those of steps it does not have. */
#define JOB_TIMERS(X) \
    X(TOTAL) X(MAKE_INPUT) X(SPLIT) X(COUNT_BUCKET_SIZES) \
    X(COMPUTE_OFFSETS) X(BUCKETIZE) X(STAGE) X(ATA_KEYS) X(EXCHANGE) \
    X(LOCAL_SORT) X(WRITE_OUTPUT)
#define JOB_TIMER(name) T_##name,
enum timer { JOB_TIMERS(JOB_TIMER) TIMERS };
#undef JOB_TIMER

enum {
    GATHER_WORDS = 16,
    STREAMS_MAX = 16,
    ERROR_TEXT = PATH_MAX + 512         /* a path, and what is wrong with it */
};

/* How keys are spread over PEs; see split.h. */
struct split;
/* The symmetric words of share.c. */
struct share;
/* The memory of the device; see device.h. */
struct device;

struct job {
    const struct opts *opts;
    int pe, pes, node_pes;      /* node_pes: those that share this memory */
    int cores;                  /* for this PE alone */
    /* Of the variant that runs: */
    int threads, streams;
    bool on_device;             /* keys begin and end on the device */
    bool bucket_device;         /* and are sent from there */
    enum place table_place;     /* where they come in; the host's or: */
    struct device *device;      /* NULL: no variant uses it */
    bool left_out;              /* variants of `all` that want a device */
    bool no_waits;              /* those whose streams wait: they cannot */
    bool no_sends;              /* those whose kernels communicate: likewise */
    int width;                  /* bytes of a key: 4 or 8 */
    uint64_t flip;              /* the sign bit, or 0 */
    uint64_t total;             /* keys of all PEs */
    size_t n;                   /* keys that this PE brings */
    size_t capacity;            /* keys that its table holds */
    void *table;                /* symmetric; the sorted keys in the end */
    long long *cursor;          /* symmetric; keys appended to the table,
                                 * perhaps in device memory */
    long long *cursor_host;
    void *keys;                 /* private; the input, then scratch space */
    void *exchange;             /* what the variant keeps */
    size_t received;
    uint64_t sent_bytes;        /* to other PEs in the last exchange: keys; */
    uint64_t slot_bytes;        /* put in messages of a fixed size, or 0; */
    uint64_t over_keys;         /* that had no room in these */
    size_t slot_keys;           /* for which they have room */
    double timer[TIMERS];       /* of the iteration that runs, seconds */
    struct share *share;
    struct split *split;
    struct {
        struct progress p;      /* of this step */
        const char *step;
        int iteration, iterations;
        const char *variant;
    } progress;
    enum code code;             /* the first error of this PE */
    bool said;                  /* an error of the job is printed */
    char error[ERROR_TEXT];
};

/* ------------------------------------------------------------- job.c ---- */

double job_now(void);
/* Remembers the first error of this PE; share_failed() makes it known. */
void job_error(struct job *job, enum code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A name may have control characters: an error stays one line. */
void job_one_line(char *text);
const char *job_code_name(enum code code);
const char *job_timer_name(enum timer timer);
/* NULL beyond the last. */
const char *job_type_name(int type);
const char *job_mode_name(int mode);
const char *job_dist_name(int dist);
const char *job_place_name(int place);
int job_type_width(enum type type);
/* Sets width and flip. */
void job_set_type(struct job *job, enum type type);
/* The first of PE pe's keys when all are spread evenly in PE order. */
uint64_t job_share(const struct job *job, int pe);
/* Private memory for large arrays; NULL: the error is remembered. */
void *job_map(struct job *job, size_t bytes, const char *what);
void job_unmap(void *ptr, size_t bytes);
/* Says on PE 0 how far a step is, if wanted. */
void job_progress(struct job *job, const char *step, uint64_t done,
                  uint64_t all);
void job_progress_end(struct job *job);

/* ----------------------------------------------------------- share.c ---- */

/* Collective.  Makes the symmetric words; false: no room for them. */
bool share_open(struct job *job);
void share_close(struct job *job);
/* Bytes of symmetric heap that share_open() takes. */
size_t share_bytes(int pes);
/* Collective: every PE's GATHER_WORDS words, by PE; valid until the call
 * after the next. */
const uint64_t (*share_gather(struct job *job, const uint64_t *words))
    [GATHER_WORDS];
/* Collective: out[i] becomes the sum of all PEs' in[i]; n <= share_room(). */
void share_sum(struct job *job, const uint64_t *in, uint64_t *out, size_t n);
size_t share_room(int pes);
/* Collective: v[i] becomes the sum of lower PEs' v[i]; n < pes or n <= 1. */
void share_scan(struct job *job, uint64_t *v, size_t n);
/* Collective: has any PE an error?  The first such PE prints it, once. */
bool share_failed(struct job *job);

/* --------------------------------------------------------- options.c ---- */

/* False: one line in error. */
bool options_parse(int argc, char **argv, struct opts *out,
                   char error[ERROR_TEXT]);
void options_help(void);

/* ------------------------------------------------------ keys.c, made ---- */

/* Key number i of a file of n keys, as it is in memory. */
uint64_t keys_dist(const struct opts *opts, uint64_t i, uint64_t n, int width);
/* The keys of one PE by ISx's rules: below max, PCG32 seeded by the PE. */
void keys_isx(uint32_t *keys, size_t n, uint32_t max, int pe, uint64_t seed);
void keys_flip(int width, void *keys, size_t n, uint64_t flip);
void keys_add(int width, const void *keys, size_t n, struct sums *sums);
/* The first key below the one before it, or n. */
size_t keys_fall(int width, const void *keys, size_t n);
uint64_t keys_at(int width, const void *keys, size_t i);
/* Text of a key in memory form, with its sign. */
const char *keys_text(const struct job *job, uint64_t key, char text[24]);

/* ------------------------------------------------------------ the rest ---- */

/* One variant of the exchange.  More can be added: variants.c. */
struct variant {
    const char *name;
    const char *about;
    bool threaded, streams;
    bool device;                /* buckets in its memory */
    bool waits;                 /* its stream does, for other PEs */
    bool inside;                /* its kernel communicates */
    /* Errors are remembered.  open() makes job->exchange, or leaves an error;
     * close() follows in either case. */
    void (*open)(struct job *job);
    /* Moves every key of job->keys to the tables, complete on return; adds to
     * the timers and sets sent_bytes. */
    void (*run)(struct job *job);
    void (*close)(struct job *job);
};
extern const struct variant variants[];
extern const int variants_count;

/* The symmetric heap that the task needs, as far as known before it runs. */
size_t sort_heap_mib(const struct job *job);
/* Tasks; collective.  The value is main()'s. */
int sort_main(struct job *job);
int files_generate(struct job *job);
int files_verify(struct job *job);

#endif
