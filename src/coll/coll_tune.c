/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm when.  The table was measured (docs/results); the first row
 * that fits serves.  SHMEM_COLL_... overrules it, for tests and for machines
 * unlike the measured ones. */
#include "coll/coll_int.h"
#include "base/env.h"

#define ANY SIZE_MAX

static const struct {
    enum coll_kind kind;
    size_t most_bytes;          /* from or to one member */
    int most_pes;
    enum coll_alg alg;
} table[] = {
    { COLL_BROADCAST, 4096, 8, COLL_PUSH },
    { COLL_BROADCAST, ANY, INT_MAX, COLL_PULL },
    { COLL_COLLECT, ANY, INT_MAX, COLL_PUSH },
    { COLL_FCOLLECT, ANY, INT_MAX, COLL_PUSH },
    { COLL_ALLTOALL, ANY, INT_MAX, COLL_PUSH },
    { COLL_REDUCE, 2048, INT_MAX, COLL_PULL },
    { COLL_REDUCE, ANY, INT_MAX, COLL_SPLIT },
    { COLL_SCAN, ANY, INT_MAX, COLL_PULL },
};

/* In the order of the words of each variable in env_defs.h. */
static const enum coll_alg words[COLL_KINDS][6] = {
    [COLL_BROADCAST] = { COLL_AUTO, COLL_PUSH, COLL_PULL, COLL_BINOMIAL,
                         COLL_PIPELINE },
    [COLL_COLLECT] = { COLL_AUTO, COLL_PUSH, COLL_PULL, COLL_RING },
    [COLL_FCOLLECT] = { COLL_AUTO, COLL_PUSH, COLL_PULL, COLL_BRUCK,
                        COLL_RING },
    [COLL_ALLTOALL] = { COLL_AUTO, COLL_PUSH, COLL_PULL, COLL_BRUCK,
                        COLL_PAIRWISE },
    [COLL_REDUCE] = { COLL_AUTO, COLL_PULL, COLL_SPLIT, COLL_DOUBLING,
                      COLL_RING },
    [COLL_SCAN] = { COLL_AUTO, COLL_PULL, COLL_DOUBLING },
};

static enum coll_alg asked[COLL_KINDS];

void coll_open(void)
{
    const int word[COLL_KINDS] = {
        [COLL_BROADCAST] = env.COLL_BROADCAST,
        [COLL_COLLECT] = env.COLL_COLLECT,
        [COLL_FCOLLECT] = env.COLL_FCOLLECT,
        [COLL_ALLTOALL] = env.COLL_ALLTOALL,
        [COLL_REDUCE] = env.COLL_REDUCE,
        [COLL_SCAN] = env.COLL_SCAN,
    };

    for (int k = 0; k < COLL_KINDS; k++)
        asked[k] = words[k][word[k]];
}

enum coll_alg coll_choose(enum coll_kind kind, const struct core_team *t,
                          size_t bytes)
{
    size_t i = 0;

    if (asked[kind] != COLL_AUTO)
        return asked[kind];
    while (table[i].kind != kind || bytes > table[i].most_bytes ||
           t->n_pes > table[i].most_pes)
        i++;
    return table[i].alg;
}
