/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - test files: making one, and checking one. */
#include "bucketsort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"

enum { PIECE_KEYS = 1 << 17 };

static void *piece_new(struct job *job)
{
    void *piece = malloc(PIECE_KEYS * sizeof(uint64_t));

    if (!piece)
        job_error(job, E_MEMORY, "buffer: no memory");
    return piece;
}

static void make_keys(const struct job *job, uint64_t first, size_t n,
                      void *piece)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys_dist(job->opts, first + i, job->total, job->width);

        if (job->width == 4)
            ((uint32_t *)piece)[i] = (uint32_t)key;
        else
            ((uint64_t *)piece)[i] = key;
    }
}

int files_generate(struct job *job)
{
    const struct opts *o = job->opts;
    uint64_t at, end;
    struct io_out out;
    void *piece;

    job_set_type(job, o->type);
    job->total = o->count;
    if (!io_out_open(job, o->generate, -1, o->count, &out))
        return 1;
    piece = piece_new(job);
    at = job_share(job, job->pe);
    end = job_share(job, job->pe + 1);
    while (piece && at < end) {
        size_t n = end - at < PIECE_KEYS ? (size_t)(end - at) : PIECE_KEYS;

        make_keys(job, at, n, piece);
        if (!io_out_write(job, &out, at, n, piece))
            break;
        at += n;
        job_progress(job, "generate", at, end);
    }
    free(piece);
    job_progress_end(job);
    if (!io_out_commit(job, &out))
        return 1;
    if (job->pe == 0)
        printf("%s: %" PRIu64 " keys of %s, %s, seed %" PRIu64 "\n",
               o->generate, o->count, job_type_name((int)o->type),
               job_dist_name((int)o->dist), o->seed);
    return 0;
}

/* What one PE finds in its part of a file. */
struct finding {
    struct sums sums;
    uint64_t least, most, first, last;
    uint64_t fall;              /* a key below the one before it, + 1; or 0 */
};

static void scan_piece(struct job *job, const void *piece, uint64_t at,
                       size_t n, struct finding *f)
{
    size_t fall = keys_fall(job->width, piece, n);

    if (f->sums.count == 0) {
        f->first = f->least = f->most = keys_at(job->width, piece, 0);
    } else if (keys_at(job->width, piece, 0) < f->last) {
        fall = 0;
    }
    if (fall < n && !f->fall)
        f->fall = at + fall + 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys_at(job->width, piece, i);

        f->least = key < f->least ? key : f->least;
        f->most = key > f->most ? key : f->most;
    }
    f->last = keys_at(job->width, piece, n - 1);
    keys_add(job->width, piece, n, &f->sums);
}

/* Collective: what the PEs together find in a file; false: printed. */
static bool inspect(struct job *job, const char *path, struct finding *out)
{
    uint64_t words[GATHER_WORDS], at, end;
    const uint64_t (*all)[GATHER_WORDS];
    struct finding mine = { 0 }, sum = { 0 };
    void *piece;
    int fd;

    if (!io_open(job, path, &fd, &job->total))
        return false;
    piece = piece_new(job);
    at = job_share(job, job->pe);
    end = job_share(job, job->pe + 1);
    while (piece && at < end) {
        size_t n = end - at < PIECE_KEYS ? (size_t)(end - at) : PIECE_KEYS;

        if (!io_read(job, fd, path, at, n, piece))
            break;
        scan_piece(job, piece, at, n, &mine);
        at += n;
        job_progress(job, "verify", at, end);
    }
    free(piece);
    close(fd);
    job_progress_end(job);
    if (share_failed(job))
        return false;
    _Static_assert(sizeof(mine) <= sizeof(words), "a finding fits");
    *(struct finding *)words = mine;
    all = share_gather(job, words);
    for (int pe = 0; pe < job->pes; pe++) {
        const struct finding *f = (const struct finding *)all[pe];

        if (f->sums.count == 0)
            continue;
        if (sum.sums.count == 0) {
            sum = *f;
            continue;
        }
        if (!sum.fall && f->first < sum.last)
            sum.fall = job_share(job, pe) + 1;
        if (!sum.fall)
            sum.fall = f->fall;
        sum.last = f->last;
        sum.least = f->least < sum.least ? f->least : sum.least;
        sum.most = f->most > sum.most ? f->most : sum.most;
        sum.sums.count += f->sums.count;
        sum.sums.sum += f->sums.sum;
        sum.sums.squares += f->sums.squares;
        sum.sums.xored ^= f->sums.xored;
    }
    *out = sum;
    return true;
}

int files_verify(struct job *job)
{
    const struct opts *o = job->opts;
    struct finding sorted, other;
    char least[24], most[24];

    job_set_type(job, o->type);
    if (!inspect(job, o->verify, &sorted))
        return 1;
    if (sorted.fall)
        job_error(job, E_ORDER, "%s: not sorted: key %" PRIu64 " of %" PRIu64
                  " is below the one before it", o->verify, sorted.fall - 1,
                  sorted.sums.count);
    else if (o->count != UINT64_MAX && o->count != sorted.sums.count)
        job_error(job, E_SIZE, "%s: has %" PRIu64 " keys, not the %" PRIu64
                  " of --count", o->verify, sorted.sums.count, o->count);
    if (share_failed(job))
        return 1;
    if (o->against) {
        const struct sums *a = &sorted.sums, *b = &other.sums;

        if (!inspect(job, o->against, &other))
            return 1;
        if (a->count != b->count || a->sum != b->sum ||
            a->squares != b->squares || a->xored != b->xored)
            job_error(job, E_VERIFY, "%s does not hold the keys of %s: number "
                      "%" PRIu64 " and %" PRIu64 ", sum %" PRIu64 " and %"
                      PRIu64, o->verify, o->against, a->count, b->count,
                      a->sum, b->sum);
        if (share_failed(job))
            return 1;
    }
    if (job->pe != 0)
        return 0;
    printf("%s: %" PRIu64 " keys of %s, sorted", o->verify, sorted.sums.count,
           job_type_name((int)o->type));
    if (sorted.sums.count)
        printf(", from %s to %s", keys_text(job, sorted.least, least),
               keys_text(job, sorted.most, most));
    if (o->against)
        printf(", the keys of %s", o->against);
    putchar('\n');
    return 0;
}
