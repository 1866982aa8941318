/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c - values other than keys that PEs exchange, with puts and barriers.
 * Each area is written by its senders, then there is a barrier, then it is
 * read.  It may be written again after the next barrier of all, which no PE
 * enters before having read it. */
#include "bucketsort.h"

#include "../cores.h"

#include <inttypes.h>
#include <shmem.h>
#include <shmem_space.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_WORDS = 8,             /* the cursor has a cache line of its own */
    FIRST_BINS = 1 << 16,       /* split.c sums so many counts at first, */
    MORE_BINS = 1 << 8          /* then so many for every boundary */
};

struct share {
    uint64_t *block;            /* symmetric; the rest lies in it */
    uint64_t (*gather[2])[GATHER_WORDS];
    int turn;                   /* the gather area that comes next */
    size_t slice;               /* words of a sum that one PE adds up */
    uint64_t *part;             /* [pes][slice] */
    uint64_t *total;            /* [pes][slice] */
    uint64_t *scan_in, *scan_out;
};

size_t share_room(int pes)
{
    size_t more = (size_t)(pes - 1) * MORE_BINS;

    return more > FIRST_BINS ? more : FIRST_BINS;
}

static size_t slice_words(int pes, size_t n)
{
    return (n + (size_t)pes - 1) / (size_t)pes;
}

size_t share_bytes(int pes)
{
    size_t n = (size_t)pes;

    return sizeof(uint64_t) * (LINE_WORDS + n * (2 * GATHER_WORDS +
           2 * slice_words(pes, share_room(pes)) + 2));
}

bool share_open(struct job *job)
{
    struct share *s = calloc(1, sizeof(*s));
    size_t n = (size_t)job->pes;
    uint64_t *at;

    if (!s)
        return false;
    s->block = shmem_space_align(SHMEM_SPACE_CPU, 64,
                                 share_bytes(job->pes));
    if (!s->block) {
        free(s);
        return false;
    }
    s->slice = slice_words(job->pes, share_room(job->pes));
    at = s->block;
    job->cursor = job->cursor_host = (long long *)at;
    at += LINE_WORDS;
    for (int i = 0; i < 2; i++, at += n * GATHER_WORDS)
        s->gather[i] = (uint64_t (*)[GATHER_WORDS])at;
    s->part = at;
    s->total = at + n * s->slice;
    s->scan_in = s->total + n * s->slice;
    s->scan_out = s->scan_in + n;
    job->share = s;
    *job->cursor_host = 0;
    job->node_pes = 0;
    for (int pe = 0; pe < job->pes; pe++)
        job->node_pes += shmem_ptr(s->block, pe) != NULL;
    if (job->node_pes == 0)
        job->node_pes = 1;
    job->cores = cores_of_pe();
    shmem_barrier_all();
    return true;
}

void share_close(struct job *job)
{
    if (job->share)
        shmem_free(job->share->block);
    free(job->share);
    job->share = NULL;
}

const uint64_t (*share_gather(struct job *job, const uint64_t *words))
    [GATHER_WORDS]
{
    struct share *s = job->share;
    uint64_t (*area)[GATHER_WORDS] = s->gather[s->turn];

    s->turn = !s->turn;
    for (int i = 0; i < job->pes; i++)
        shmem_putmem(area[job->pe], words, sizeof(*area),
                     (job->pe + i) % job->pes);
    shmem_barrier_all();
    return (const uint64_t (*)[GATHER_WORDS])area;
}

void share_sum(struct job *job, const uint64_t *in, uint64_t *out, size_t n)
{
    struct share *s = job->share;
    size_t slice = slice_words(job->pes, n), mine;

    for (int i = 0; i < job->pes; i++) {
        size_t pe = (size_t)((job->pe + i) % job->pes);
        size_t from = pe * slice, words;

        words = from >= n ? 0 : n - from < slice ? n - from : slice;
        shmem_putmem(s->part + (size_t)job->pe * slice, in + from,
                     words * sizeof(*in), (int)pe);
    }
    shmem_barrier_all();
    mine = (size_t)job->pe * slice;
    for (int pe = 1; pe < job->pes; pe++)
        for (size_t w = 0; w < slice; w++)
            s->part[w] += s->part[(size_t)pe * slice + w];
    for (int i = 0; i < job->pes; i++)
        shmem_putmem(s->total + mine, s->part, slice * sizeof(*in),
                     (job->pe + i) % job->pes);
    shmem_barrier_all();
    memcpy(out, s->total, n * sizeof(*out));
}

void share_scan(struct job *job, uint64_t *v, size_t n)
{
    struct share *s = job->share;
    uint64_t sum = 0;

    /* PE i adds up number i. */
    for (size_t i = 0; i < n; i++)
        shmem_putmem(s->scan_in + job->pe, v + i, sizeof(*v), (int)i);
    shmem_barrier_all();
    if ((size_t)job->pe < n)
        for (int pe = 0; pe < job->pes; pe++) {
            shmem_putmem(s->scan_out + job->pe, &sum, sizeof(sum), pe);
            sum += s->scan_in[pe];
        }
    shmem_barrier_all();
    memcpy(v, s->scan_out, n * sizeof(*v));
}

bool share_failed(struct job *job)
{
    const uint64_t (*all)[GATHER_WORDS];
    uint64_t words[GATHER_WORDS] = { job->code };

    all = share_gather(job, words);
    for (int pe = 0; pe < job->pes; pe++) {
        if (all[pe][0] == E_NONE)
            continue;
        if (pe == job->pe && !job->said) {
            job_progress_end(job);
            fprintf(stderr, "bucketsort: PE %d: %s [B-E-%s]\n", pe, job->error,
                    job_code_name(job->code));
        }
        job->said = true;
        job->code = (enum code)all[pe][0];
        return true;
    }
    return false;
}
