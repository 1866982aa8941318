/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm when.  The rows for two PEs, and those for more PEs than
 * cores, were measured with scripts/bench-coll (docs/results); the others
 * follow from the number of rounds and of bytes that each PE moves.  The first
 * row that fits serves.  SHMEM_COLL_... overrules it, for tests and for
 * machines unlike the measured ones. */
#include "coll/coll_ranks.h"
#include "base/env.h"

#define ANY SIZE_MAX
#define MANY INT_MAX

/* A core for each PE, or fewer cores than PEs, where each round of messages
 * costs a change of the running process; or members on several nodes. */
enum { DEDICATED, OVERSUBSCRIBED, REMOTE };

static const struct {
    enum coll_kind kind;
    int place;
    int most_pes;
    size_t most_bytes;          /* from or to one member */
    enum coll_alg alg;
} table[] = {
    { COLL_BROADCAST, DEDICATED, 2, 16384, COLL_PUSH },
    { COLL_BROADCAST, DEDICATED, 8, 4096, COLL_PUSH },
    { COLL_BROADCAST, DEDICATED, MANY, 4096, COLL_BINOMIAL },
    { COLL_BROADCAST, DEDICATED, MANY, ANY, COLL_PULL },
    { COLL_BROADCAST, OVERSUBSCRIBED, 4, ANY, COLL_PUSH },
    { COLL_BROADCAST, OVERSUBSCRIBED, MANY, 65536, COLL_PUSH },
    { COLL_BROADCAST, OVERSUBSCRIBED, MANY, ANY, COLL_PULL },
    { COLL_COLLECT, DEDICATED, 2, 16384, COLL_PUSH },
    { COLL_COLLECT, DEDICATED, 2, ANY, COLL_RING },
    { COLL_COLLECT, DEDICATED, MANY, ANY, COLL_PULL },
    { COLL_COLLECT, OVERSUBSCRIBED, MANY, 65536, COLL_PULL },
    { COLL_COLLECT, OVERSUBSCRIBED, MANY, ANY, COLL_PUSH },
    { COLL_FCOLLECT, DEDICATED, 2, ANY, COLL_BRUCK },
    { COLL_FCOLLECT, DEDICATED, MANY, 2048, COLL_BRUCK },
    { COLL_FCOLLECT, DEDICATED, MANY, ANY, COLL_PUSH },
    { COLL_FCOLLECT, OVERSUBSCRIBED, MANY, ANY, COLL_PUSH },
    { COLL_ALLTOALL, DEDICATED, MANY, ANY, COLL_PAIRWISE },
    { COLL_ALLTOALL, OVERSUBSCRIBED, MANY, ANY, COLL_PUSH },
    { COLL_REDUCE, DEDICATED, MANY, 256, COLL_DOUBLING },
    { COLL_REDUCE, DEDICATED, 4, 16384, COLL_PULL },
    { COLL_REDUCE, DEDICATED, MANY, 2048, COLL_PULL },
    { COLL_REDUCE, DEDICATED, MANY, ANY, COLL_SPLIT },
    { COLL_REDUCE, OVERSUBSCRIBED, MANY, 64, COLL_DOUBLING },
    { COLL_REDUCE, OVERSUBSCRIBED, 4, 512, COLL_DOUBLING },
    { COLL_REDUCE, OVERSUBSCRIBED, 4, 4096, COLL_PULL },
    { COLL_REDUCE, OVERSUBSCRIBED, MANY, 256, COLL_PULL },
    { COLL_REDUCE, OVERSUBSCRIBED, MANY, ANY, COLL_SPLIT },
    { COLL_SCAN, DEDICATED, MANY, 256, COLL_DOUBLING },
    { COLL_SCAN, DEDICATED, MANY, ANY, COLL_PULL },
    { COLL_SCAN, OVERSUBSCRIBED, 4, 1024, COLL_DOUBLING },
    { COLL_SCAN, OVERSUBSCRIBED, MANY, ANY, COLL_PULL },
    { COLL_BROADCAST, REMOTE, 4, ANY, COLL_BINOMIAL },
    { COLL_BROADCAST, REMOTE, MANY, 65536, COLL_BINOMIAL },
    { COLL_BROADCAST, REMOTE, MANY, ANY, COLL_SCATTER },
    { COLL_COLLECT, REMOTE, MANY, ANY, COLL_BRUCK },
    { COLL_FCOLLECT, REMOTE, MANY, 65536, COLL_BRUCK },
    { COLL_FCOLLECT, REMOTE, MANY, ANY, COLL_RING },
    { COLL_ALLTOALL, REMOTE, MANY, 64, COLL_BRUCK },
    { COLL_ALLTOALL, REMOTE, MANY, ANY, COLL_PAIRWISE },
    { COLL_REDUCE, REMOTE, MANY, 4096, COLL_DOUBLING },
    { COLL_REDUCE, REMOTE, MANY, ANY, COLL_HALVING },
    { COLL_SCAN, REMOTE, MANY, ANY, COLL_DOUBLING },
};

/* The algorithms of each collective; COLL_ALGS ends a row.  The rows come from
 * COLL_KIND_LIST, so no collective lacks one, and none is too long. */
#define ALG(NAME) COLL_##NAME,
#define ALG_ROW(NAME, ALGS) [COLL_##NAME] = { ALGS COLL_ALGS },
static const enum coll_alg algs_of[COLL_KINDS][COLL_ALGS + 1] = {
    COLL_KIND_LIST(ALG_ROW, ALG)
};
#define ONE(NAME) + 1
#define ROW_FITS(NAME, ALGS)                                                \
    _Static_assert((0 ALGS) <= COLL_ALGS, "COLL_" #NAME " names one twice");
COLL_KIND_LIST(ROW_FITS, ONE)

enum coll_alg coll_alg_at(enum coll_kind kind, int n)
{
    enum coll_alg alg = COLL_ALGS;

    for (int i = 0; i <= n; i++) {
        alg = algs_of[kind][i];
        if (alg == COLL_ALGS)
            break;
    }
    return alg;
}

static enum coll_alg requested[COLL_KINDS];
/* The words of SHMEM_COLL_SYNC that differ; the fourth, nodes, does what auto
 * does. */
enum { SYNC_AUTO, SYNC_DISSEMINATION, SYNC_GATHER };
bool coll_sync_gathers, coll_sync_tree, coll_sync_nodes, coll_oversubscribed;

/* The variables that all PEs must have alike, with the bits that the value
 * takes: members that choose differently would wait for each other for ever,
 * and atomics of a NIC are not atomic with those of a processor. */
struct choice {
    const char *variable;
    uint64_t value;
    int bits;
};
#define COLL_CHOICE(NAME, ALGS) \
    { "SHMEM_COLL_" #NAME, requested[COLL_##NAME], 4 },
#define CHOICES                                                             \
    {                                                                       \
        COLL_KIND_LIST(COLL_CHOICE, COLL_NO_ALG)                            \
        { "SHMEM_COLL_SYNC", (uint64_t)env.COLL_SYNC, 2 },                  \
        { "SHMEM_OFI_AMO", (uint64_t)env.OFI_AMO, 2 },                      \
        { "SHMEM_CHECK_ALLOC", (uint64_t)env.CHECK_ALLOC, 31 },             \
        { "SHMEM_STATS", env.STATS.on, 1 },                                 \
        { "SHMEM_TRACE", env.TRACE[0] != '\0', 1 },                         \
    }
_Static_assert(COLL_ALGS <= 1 << 4, "an algorithm fits its bits");
_Static_assert(COLL_KINDS * 4 + 2 + 2 + 31 + 1 + 1 <= 64,
               "all choices fit one value");

/* All choices of this PE in one value, which the PEs compare. */
static uint64_t choices(void)
{
    const struct choice all[] = CHOICES;
    uint64_t v = 0;

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        v = v << all[k].bits | all[k].value;
    return v;
}

/* odd: the bits of choices() that are not alike, at least one. */
static _Noreturn void refuse_choice(uint64_t odd)
{
    const struct choice all[] = CHOICES;
    size_t k = sizeof all / sizeof *all - 1;

    for (; !(odd & (((uint64_t)1 << all[k].bits) - 1)); k--)
        odd >>= all[k].bits;
    core_fatal(ERR_ENV, "shmem_init", "not all PEs have the same %s; give it "
               "to all of them", all[k].variable);
}

/* Is another PE on this PE's node? */
static bool shares_node(void)
{
    int n = 0;

    for (int i = 0; i < core_world.n_pes && n < 2; i++)
        n += coll_is_mapped(&core_world, i);
    return n > 1;
}

/* Bits that some PE has set: of the choices, of what it did not choose, and of
 * what one PE has or wishes, for all.  The bits that not all choose alike. */
static uint64_t agree_over_network(void)
{
    uint32_t *nodes = heap_pool_alloc((size_t)core_world.n_pes * sizeof *nodes);
    struct coll_ranks all = coll_ranks_all(&core_world);
    uint64_t v[4 + CORE_CPU_SET_LEN] = {
        core_ctl->choices, ~core_ctl->choices, core_status.checks,
        (uint64_t)shares_node() << 1 | core_status.oversubscribed
    };
    struct coll_call c;

    if (!nodes)
        core_fatal(ERR_HEAP, "shmem_init", "no room for the nodes of %d PEs in "
                   "the library's part of the heap; raise "
                   "SHMEM_SYMMETRIC_SIZE", core_world.n_pes);
    c = coll_publish_begin(&core_world,
                           (uintptr_t)nodes - heap_segs[HEAP_HOST].base);
    coll_doubling(&c, &all, (char *)v,
                  4 + (size_t)core_machine_cpus(v + 4), sizeof *v,
                  coll_ops[COLL_OR][COLL_U64]);
    core_status.checks = v[2];
    core_agree_machine(v + 4);
    coll_oversubscribed = v[3] & 1 || core_status.oversubscribed;
    if (v[3] >> 1)
        coll_nodes_open(&c, nodes);
    heap_pool_free(nodes);
    if (coll_nodes_find(&core_world) || coll_nodes_find(&core_device_world))
        core_fatal(ERR_LIMIT, "shmem_init", "no memory for the nodes of %d "
                   "PEs", core_world.n_pes);
    return v[0] & v[1];
}

void coll_check_choices(void)
{
    uint64_t odd = core_peer_ctl(core_team_world_pe(&core_shared, 0))->choices ^
                   core_ctl->choices;

    coll_oversubscribed = core_status.oversubscribed;
    if (!core_world.mapped)
        odd = agree_over_network();
    if (odd)
        refuse_choice(odd);
    coll_sync_gathers =
        env.COLL_SYNC == SYNC_GATHER ||
        (env.COLL_SYNC != SYNC_DISSEMINATION && coll_oversubscribed);
    /* Between machines the rounds' latency counts, not their number. */
    coll_sync_tree = !core_world.mapped && coll_sync_gathers &&
                     (core_status.one_machine || env.COLL_SYNC == SYNC_GATHER);
    coll_sync_nodes = env.COLL_SYNC != SYNC_DISSEMINATION;
}

void coll_open(void)
{
#define REQUESTED(NAME, ALGS) [COLL_##NAME] = env.COLL_##NAME,
    const int word[COLL_KINDS] = { COLL_KIND_LIST(REQUESTED, COLL_NO_ALG) };

    for (int k = 0; k < COLL_KINDS; k++)
        requested[k] = coll_alg_at((enum coll_kind)k, word[k]);
    coll_sync_gathers = coll_sync_tree = false;
    coll_sync_nodes = coll_oversubscribed = false;
    core_ctl->choices = choices();
}

/* Two levels pay wherever bytes for or from several members of a node would
 * cross the network several times, or one after another, but what all bring
 * must come in runs to leave as it lies.  In alltoall every byte has one
 * target, and a leader would only copy them all twice; the members before one
 * in a scan end within a node, so that each node's would need two passes. */
static bool by_nodes(enum coll_kind kind, const struct core_team *t)
{
    switch (kind) {
    case COLL_BROADCAST:
    case COLL_REDUCE:
        return t->nodes;
    case COLL_COLLECT:
    case COLL_FCOLLECT:
        return t->nodes && t->nodes->runs;
    default:
        return false;
    }
}

static bool serves(enum coll_alg alg, enum coll_kind kind,
                   const struct core_team *t)
{
    switch (alg) {
    case COLL_AUTO:
        return false;
    case COLL_PULL:
    case COLL_SPLIT:
        return t->mapped;
    case COLL_NODES:
        return by_nodes(kind, t);
    default:
        return true;
    }
}

bool coll_is_auto(enum coll_kind kind)
{
    return requested[kind] == COLL_AUTO;
}

enum coll_alg coll_requested(enum coll_kind kind)
{
    return requested[kind];
}

enum coll_alg coll_choose(enum coll_kind kind, const struct core_team *t,
                          size_t bytes)
{
    int place = !t->mapped            ? REMOTE
                : coll_oversubscribed ? OVERSUBSCRIBED
                                      : DEDICATED;
    size_t i = 0;

    if (serves(requested[kind], kind, t))
        return requested[kind];
    if (!t->mapped && by_nodes(kind, t))
        return COLL_NODES;
    while (table[i].kind != kind || table[i].place != place ||
           t->n_pes > table[i].most_pes || bytes > table[i].most_bytes)
        i++;
    return table[i].alg;
}
