/* SPDX-License-Identifier: BSD-3-Clause */
/* t_seed.h - T_SEED() and T_RAND() of t.h, which includes this. */
#ifndef T_SEED_H
#define T_SEED_H

#include "t.h"

/* When the launcher was started, in clock ticks: PEs plan alike what each of
 * them does, so their seeds must not differ. */
static T_UNUSED uint64_t t_launched(void)
{
    unsigned long long ticks = 0;
    char path[40], text[1024];
    const char *at;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    f = fopen(path, "r");
    at = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        ticks = strtoull(at, NULL, 10);
    if (f)
        fclose(f);
    return ticks << 20 ^ (uint64_t)getppid();
}

static T_UNUSED uint64_t t_seed(void)
{
    const char *text = getenv("T_SEED");

    if (!t_state.seeded) {
        t_state.seed = text ? strtoull(text, NULL, 0)
                       : t_state.pe >= 0 ? t_launched()
                       : (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
        t_state.seeded = true;
        t_state.random = t_state.seed;
        if (t_state.pe <= 0)
            fprintf(stderr, "T_SEED=%" PRIu64 " replays this run\n",
                    t_state.seed);
    }
    return t_state.seed;
}

static T_UNUSED uint64_t t_rand(void)
{
    uint64_t z;                 /* splitmix64: a Weyl sequence, then a mix */

    t_seed();
    z = t_state.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
