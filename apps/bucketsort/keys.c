/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.c - making keys, and sums over them. */
#include "bucketsort.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ------------------------------------------------------ ISx's generator ---- */

struct pcg { uint64_t state, step; };

static uint32_t pcg_next(struct pcg *g)
{
    uint64_t old = g->state;
    uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27);
    unsigned turn = (unsigned)(old >> 59);

    g->state = old * UINT64_C(6364136223846793005) + g->step;
    return mixed >> turn | mixed << (-turn & 31);
}

static void pcg_seed(struct pcg *g, uint64_t state, uint64_t stream)
{
    g->state = 0;
    g->step = stream << 1 | 1;
    pcg_next(g);
    g->state += state;
    pcg_next(g);
}

void keys_isx(uint32_t *keys, size_t n, uint32_t max, int pe, uint64_t seed)
{
    /* Draws below 2^32 mod max would favour small keys: rejected. */
    uint32_t least = -max % max;
    struct pcg g;

    pcg_seed(&g, (uint64_t)pe + seed, (uint64_t)pe);
    for (size_t i = 0; i < n; i++) {
        uint32_t draw;

        do
            draw = pcg_next(&g);
        while (draw < least);
        keys[i] = draw % max;
    }
}

/* ---------------------------------------------------- keys of test files ---- */

/* A hash of (seed, i): any PE can make any part of the file. */
static uint64_t hash(uint64_t seed, uint64_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                 seed * UINT64_C(0xd1342543de82ef95);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Near normal about the middle of the range, which is 12 deviations wide. */
static double gauss(uint64_t seed, uint64_t i)
{
    double sum = 0;

    for (uint64_t part = 0; part < 3; part++) {
        uint64_t h = hash(seed + part * UINT64_C(0x51ed270b), i);

        for (int k = 0; k < 4; k++, h >>= 16)
            sum += ((double)(h & 0xffff) + 0.5) / 65536;
    }
    return sum / 12;
}

/* Ranks of words in a text: rank r comes with a frequency like 1/r. */
static uint64_t zipf(uint64_t h)
{
    const double words = 1 << 20;

    return (uint64_t)exp((double)(h >> 11) * 0x1p-53 * log(words));
}

uint64_t keys_dist(const struct opts *opts, uint64_t i, uint64_t n, int width)
{
    int bits = width * 8;
    uint64_t most = UINT64_MAX >> (64 - bits);
    uint64_t step = most / (n ? n : 1);
    uint64_t h = hash(opts->seed, i);
    bool is_signed = opts->type == TYPE_I32 || opts->type == TYPE_I64;
    uint64_t zero = is_signed ? UINT64_C(1) << (bits - 1) : 0;

    switch (opts->dist) {
    case DIST_GAUSS:    return (uint64_t)ldexp(gauss(opts->seed, i), bits);
    case DIST_ZIPF:     return zero + zipf(h);
    case DIST_SORTED:   return i * step;
    case DIST_REVERSE:  return most - i * step;
    case DIST_EQUAL:    return zero + 42;
    case DIST_FEW:      return h % 7 * (most / 6);
    case DIST_EXTREMES: return h & 1 ? most : 0;
    default:            return h >> (64 - bits);
    }
}

/* --------------------------------------------------------- whole arrays ---- */

#define KEY uint32_t
#define K(name) name##_32
#include "keys.inc"
#undef KEY
#undef K

#define KEY uint64_t
#define K(name) name##_64
#include "keys.inc"
#undef KEY
#undef K

void keys_flip(int width, void *keys, size_t n, uint64_t flip)
{
    if (!flip)
        return;
    if (width == 4)
        flip_32(keys, n, (uint32_t)flip);
    else
        flip_64(keys, n, flip);
}

void keys_add(int width, const void *keys, size_t n, struct sums *sums)
{
    if (width == 4)
        add_32(keys, n, sums);
    else
        add_64(keys, n, sums);
}

size_t keys_fall(int width, const void *keys, size_t n)
{
    return width == 4 ? fall_32(keys, n) : fall_64(keys, n);
}

uint64_t keys_at(int width, const void *keys, size_t i)
{
    return width == 4 ? ((const uint32_t *)keys)[i]
                      : ((const uint64_t *)keys)[i];
}

const char *keys_text(const struct job *job, uint64_t key, char text[24])
{
    key ^= job->flip;
    if (!job->flip)
        snprintf(text, 24, "%" PRIu64, key);
    else if (job->width == 4)
        snprintf(text, 24, "%" PRId32, (int32_t)(uint32_t)key);
    else
        snprintf(text, 24, "%" PRId64, (int64_t)key);
    return text;
}
