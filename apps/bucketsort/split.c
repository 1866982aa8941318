/* SPDX-License-Identifier: BSD-3-Clause */
#include "split.h"

#include <stdlib.h>
#include <string.h>

#include "dev.h"

enum {
    TOP_BITS = 16,              /* of the first counting pass */
    DIGIT_BITS = 8,             /* of each later one */
    DIGIT_BINS = 1 << DIGIT_BITS
};

struct split {
    int pes, width;
    /* Buckets of equal width: bucket = key * reciprocal >> 64. */
    uint32_t bucket_width;      /* 0: cuts at ranks */
    uint64_t reciprocal;
    /* Cuts at ranks. */
    uint64_t *start;            /* [pes + 1] PE i gets ranks from start[i] */
    int values;                 /* distinct keys at the cuts, ascending: */
    uint64_t *value;            /* [pes] */
    uint64_t *first;            /* [pes] rank of the first such key */
    uint64_t *rank;             /* [pes] rank of this PE's next such key */
    uint32_t size;              /* of table: power of two above values */
    void *table;                /* the values again, as keys */
};

#define KEY uint32_t
#define K(name) name##_32
#include "split.inc"
#undef KEY
#undef K

#define KEY uint64_t
#define K(name) name##_64
#include "split.inc"
#undef KEY
#undef K

struct split *split_new(struct job *job)
{
    struct split *s = calloc(1, sizeof(*s));
    size_t n = (size_t)job->pes + 1;

    if (!s)
        goto fail;
    s->pes = job->pes;
    s->width = job->width;
    s->start = calloc(n, sizeof(*s->start));
    s->value = calloc(n, sizeof(*s->value));
    s->first = calloc(n, sizeof(*s->first));
    s->rank = calloc(n, sizeof(*s->rank));
    s->size = 1;
    while (s->size < n)
        s->size *= 2;
    s->table = calloc(s->size, sizeof(uint64_t));
    if (!s->start || !s->value || !s->first || !s->rank || !s->table)
        goto fail;
    for (int pe = 0; pe <= job->pes; pe++)
        s->start[pe] = job_share(job, pe);
    return s;
fail:
    split_free(s);
    job_error(job, E_MEMORY, "splitters of %d PEs: no memory", job->pes);
    return NULL;
}

void split_free(struct split *s)
{
    if (!s)
        return;
    free(s->start);
    free(s->value);
    free(s->first);
    free(s->rank);
    free(s->table);
    free(s);
}

void split_set_width(struct split *s, uint32_t bucket_width)
{
    s->bucket_width = bucket_width;
    /* Rounded up, so the product is exact for all keys below 2^32. */
    s->reciprocal = bucket_width > 1 ? UINT64_MAX / bucket_width + 1 : 0;
}

/* ---------------------------------------------------- cuts at even ranks ---- */

/* The search narrows every cut's key from its high bits down. */
struct search {
    uint64_t *prefix;           /* [pes] bits known of the key at the cut */
    uint64_t *below;            /* [pes] keys with a smaller prefix */
    int *slot;                  /* [pes] index of its prefix among: */
    uint64_t *distinct;         /* [pes] the different prefixes, ascending */
    int count;
    uint64_t *mine, *all;       /* counts of this PE and of all */
    const void *keys;           /* those with one of the prefixes */
    size_t n;
};

/* Each cut's key is in the bin of its slot where the counts pass its rank. */
static void choose(struct split *s, struct search *f, int bits)
{
    size_t bins = (size_t)1 << bits;

    for (int cut = 1; cut < s->pes; cut++) {
        const uint64_t *count = f->all + (size_t)f->slot[cut] * bins;
        size_t bin = 0;

        while (f->below[cut] + count[bin] <= s->start[cut])
            f->below[cut] += count[bin++];
        f->prefix[cut] = f->prefix[cut] << bits | bin;
    }
}

/* Cuts ascend, so equal prefixes are neighbours. */
static void distinguish(struct split *s, struct search *f)
{
    f->count = 0;
    for (int cut = 1; cut < s->pes; cut++) {
        if (cut == 1 || f->prefix[cut] != f->prefix[cut - 1])
            f->distinct[f->count++] = f->prefix[cut];
        f->slot[cut] = f->count - 1;
    }
}

static void refine(struct job *job, struct search *f, int shift)
{
    struct split *s = job->split;
    uint64_t (*bins)[DIGIT_BINS] = (uint64_t (*)[DIGIT_BINS])f->mine;

    memset(f->mine, 0, (size_t)f->count * sizeof(*bins));
    if (s->width == 4) {
        fill_32(s->table, s->size, f->distinct, f->count);
        f->n = refine_32(f->keys, job->table, f->n, s->table, s->size,
                         f->count, shift, bins);
    } else {
        fill_64(s->table, s->size, f->distinct, f->count);
        f->n = refine_64(f->keys, job->table, f->n, s->table, s->size,
                         f->count, shift, bins);
    }
    f->keys = job->table;
    share_sum(job, f->mine, f->all, (size_t)f->count * DIGIT_BINS);
}

/* The last digits have been chosen: prefixes are whole keys. */
static void finish(struct job *job, struct search *f)
{
    struct split *s = job->split;

    s->values = 0;
    for (int cut = 1; cut < s->pes; cut++) {
        uint64_t digit = f->prefix[cut] & (DIGIT_BINS - 1);

        if (cut > 1 && f->prefix[cut] == f->prefix[cut - 1])
            continue;
        s->value[s->values] = f->prefix[cut];
        s->first[s->values] = f->below[cut];
        s->rank[s->values] = f->mine[(size_t)f->slot[cut] * DIGIT_BINS + digit];
        s->values++;
    }
    s->first[s->values] = job->total;
    share_scan(job, s->rank, (size_t)s->values);
    for (int i = 0; i < s->values; i++)
        s->rank[i] += s->first[i];
    if (s->width == 4)
        fill_32(s->table, s->size, s->value, s->values);
    else
        fill_64(s->table, s->size, s->value, s->values);
}

static void search_free(struct search *f)
{
    free(f->prefix);
    free(f->below);
    free(f->slot);
    free(f->distinct);
    free(f->mine);
    free(f->all);
}

static bool search_alloc(struct job *job, struct search *f)
{
    size_t pes = (size_t)job->pes, room = share_room(job->pes);

    f->prefix = calloc(pes, sizeof(*f->prefix));
    f->below = calloc(pes, sizeof(*f->below));
    f->slot = calloc(pes, sizeof(*f->slot));
    f->distinct = calloc(pes, sizeof(*f->distinct));
    f->mine = calloc(room, sizeof(*f->mine));
    f->all = calloc(room, sizeof(*f->all));
    if (f->prefix && f->below && f->slot && f->distinct && f->mine && f->all)
        return true;
    job_error(job, E_MEMORY, "counts of the splitters: no memory");
    return false;
}

bool split_find(struct job *job)
{
    struct split *s = job->split;
    struct search f = { .keys = job->keys, .n = job->n };
    bool ok;

    s->values = 0;
    if (job->pes == 1 || job->total == 0)
        return true;
    search_alloc(job, &f);
    ok = !share_failed(job);
    if (!ok)
        goto out;
    if (s->width == 4)
        count_top_32(job->keys, job->n, f.mine);
    else
        count_top_64(job->keys, job->n, f.mine);
    share_sum(job, f.mine, f.all, (size_t)1 << TOP_BITS);
    choose(s, &f, TOP_BITS);
    for (int shift = s->width * 8 - TOP_BITS; shift > 0; shift -= DIGIT_BITS) {
        distinguish(s, &f);
        refine(job, &f, shift);
        choose(s, &f, DIGIT_BITS);
    }
    finish(job, &f);
out:
    search_free(&f);
    return ok;
}

/* ------------------------------------------------------------ their use ---- */

int split_classes(const struct split *s)
{
    return s->bucket_width ? s->pes : 2 * s->values + 1;
}

static void classify_width(const struct split *s, const uint32_t *keys,
                           size_t n, uint16_t *classes, uint64_t *counts)
{
    uint64_t reciprocal = s->reciprocal;

    for (size_t i = 0; i < n; i++) {
        uint64_t bucket = reciprocal
            ? (uint64_t)((unsigned __int128)reciprocal * keys[i] >> 64)
            : keys[i];

        classes[i] = (uint16_t)bucket;
        counts[bucket]++;
    }
}

void split_classify(const struct split *s, const void *keys, size_t n,
                    uint16_t *classes, uint64_t *counts)
{
    uint32_t values = (uint32_t)s->values, size = 1;

    while (size <= values)
        size *= 2;
    if (s->bucket_width)
        classify_width(s, keys, n, classes, counts);
    else if (s->width == 4)
        classify_32(keys, n, s->table, size, values, classes, counts);
    else
        classify_64(keys, n, s->table, size, values, classes, counts);
}

void split_work(const struct split *s, struct work *w)
{
    w->how = s->bucket_width ? BY_WIDTH : BY_VALUE;
    w->factor = s->reciprocal;
    w->cuts = (word32)s->values;
    for (w->size = 1; w->size <= w->cuts;)
        w->size *= 2;
}

size_t split_cuts_bytes(const struct split *s)
{
    return s->size * (size_t)s->width;
}

void split_load(const struct split *s, struct dev *d, shmemx_stream_t stream,
                void *cuts)
{
    if (s->bucket_width)
        return;
    dev_copy(d, stream, cuts, s->table, split_cuts_bytes(s));
    dev_sync(d, stream);        /* other streams use them, too */
}

size_t split_state_bytes(const struct split *s)
{
    return 3 * (size_t)s->pes * sizeof(word64);
}

void split_load_state(const struct split *s, struct dev *d,
                      shmemx_stream_t stream, word64 *state)
{
    size_t n = (size_t)s->pes, bytes = n * sizeof(*state);

    if (s->bucket_width)
        return;
    dev_copy(d, stream, state, s->start, bytes);
    dev_copy(d, stream, state + n, s->first, bytes);
    dev_copy(d, stream, state + 2 * n, s->rank, bytes);
    dev_sync(d, stream);
}

/* The PE that gets this rank: the last whose ranks start at or below it. */
static int owner(const struct split *s, int from, uint64_t rank)
{
    while (from + 1 < s->pes && s->start[from + 1] <= rank)
        from++;
    return from;
}

/* Ends of lower PEs reach at least as far as what went before. */
static void give(uint64_t *ends, int *pe, int to, uint64_t end)
{
    while (*pe < to) {
        ends[*pe + 1] = ends[*pe];
        ++*pe;
    }
    ends[*pe] = end;
}

void split_cut(struct split *s, const uint64_t *counts, uint64_t *ends)
{
    uint64_t at = 0;
    int pe = 0;

    ends[0] = 0;
    if (s->bucket_width) {
        for (; pe < s->pes; pe++)
            ends[pe] = at += counts[pe];
        return;
    }
    for (int i = 0; i <= s->values; i++) {
        uint64_t left;

        /* Between two values no cut lies: the PE of the lower one's last. */
        at += counts[2 * i];
        give(ends, &pe, i == 0 ? 0 : owner(s, pe, s->first[i] - 1), at);
        if (i == s->values)
            break;
        for (left = counts[2 * i + 1]; left;) {
            int to = owner(s, pe, s->rank[i]);
            uint64_t room = to + 1 < s->pes ? s->start[to + 1] - s->rank[i]
                                            : left;
            uint64_t n = left < room ? left : room;

            at += n;
            give(ends, &pe, to, at);
            s->rank[i] += n;
            left -= n;
        }
    }
    give(ends, &pe, s->pes - 1, at);
}

void split_range(const struct job *job, int pe, uint64_t *low, uint64_t *high)
{
    const struct split *s = job->split;

    *low = 0;
    *high = UINT64_MAX;
    if (s->bucket_width) {
        *low = (uint64_t)s->bucket_width * (unsigned)pe;
        *high = *low + s->bucket_width - 1;
    }
}
