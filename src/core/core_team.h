/* SPDX-License-Identifier: BSD-3-Clause */
/* core_team.h - teams: their members, and where each member keeps its area.
 * A team is a run of world PEs: member i is start + i * stride.
 * Threads: a team may be used by one thread at a time in collectives; the
 * list of teams takes its own lock. */
#ifndef CORE_CORE_TEAM_H
#define CORE_CORE_TEAM_H

#include "base/list.h"
#include "shmem.h"
#include "shmemg.h"
#include "xport/xport.h"

#include <stdbool.h>

enum { CORE_ROUNDS = 32, CORE_PIECE = 1024 };

/* The call that a member makes, to be compared: see coll_check.c. */
struct core_args {
    char call[40];
    uint64_t number;            /* which of the team's compared calls */
    uint64_t value[5];
};

/* The area that a member keeps for the others, in symmetric memory, followed by
 * CORE_PIECE bytes for each round and one more, twice (core_team_scratch).
 * Collectives of a team alternate between two sets, by parity: no member gets
 * two collectives ahead of another, since in each every member waits, directly
 * or not, for every other. */
struct core_team_area {
    /* Synchronisation: a flag for each round, each with one writer. */
    _Alignas(64) uint64_t arrived[CORE_ROUNDS];
    /* Arrivals at member 0, or at the first of a node; and how often that
     * member has released the others of the node. */
    _Alignas(64) uint64_t gathered;
    uint64_t released;
    /* As arrived, for synchronisations in stream order. */
    _Alignas(64) uint64_t streamed[CORE_ROUNDS];
    /* Written by the member itself, read by all. */
    _Alignas(64) uint64_t value[2];
    uint64_t entry;             /* see core_activity_entry */
    struct core_args args[2];
    /* Written by others: step s of a collective is done; how many are. */
    _Alignas(64) uint64_t flag[2][CORE_ROUNDS];
    _Alignas(64) uint64_t count[2];
};

/* Memory of a member of a device team for the others' kernels, behind all that:
 * flags of synchronizations and collectives, and scratch memory.  Its layout is
 * shmemx_dev.h's. */
enum { CORE_KERNEL_AREA = 512 + 8192 };

/* The nodes of a team, where two of its members share one. */
struct core_nodes {
    int n, mine;                /* how many; which is this PE's */
    int n_here, here;           /* members on it; which of them this PE is */
    bool runs;                  /* members of a node follow each other */
    int *members;               /* on this PE's node, rising: behind leaders */
    int leaders[];              /* the lowest member of each node, rising */
};

/* n_pes is 0 while the library is not usable, so that the range check of a PE
 * number also catches calls before init, after finalize and in a child. */
struct core_team {
    int n_pes, my_pe;           /* my_pe: -1 where this PE is no member */
    int start, stride;
    uint64_t id;                /* no other team of the job has or had it */
    /* The members' areas, as offsets in their host segments: the same
     * everywhere, or a table in units of 64 bytes. */
    uint64_t area_at;
    const uint32_t *area_of;
    uint64_t kernel_area;       /* from there to CORE_KERNEL_AREA; 0: none */
    bool mapped;                /* no member is off-node */
    struct core_nodes *nodes;   /* NULL: mapped, or all on different ones */
    uint64_t *published;        /* the members' values, if one is off-node */
    /* How far its collectives have come. */
    uint64_t streamed;          /* synchronisations in stream order */
    uint64_t recorded;          /* not 0: some are in graphs; of this team */
    uint64_t epoch, gatherings; /* synchronisations; those that gathered */
    uint64_t calls, counted[2];
    uint64_t entries;           /* calls; for messages, core_team_call() */
    uint64_t compared;          /* calls whose arguments were compared */
    shmem_team_config_t config;
    struct heap_space *space;   /* that it was made with; NULL: none */
    struct list_link link;      /* of all that were made */
};
/* A bit of all ids: messages of the program have none. */
#define CORE_TEAM_ID ((uint64_t)1 << 63)
extern hidden struct core_team core_world, core_shared;
/* The same PEs once more, for kernels: SHMEM_DEVICE_TEAM_WORLD, _SHARED. */
extern hidden struct core_team core_device_world, core_device_shared;
/* The lowest PE on the node of each PE of the world, if nodes have several. */
extern hidden int32_t *core_node_of;

/* The number that messages give to the present collective call: the program's
 * first is 1, and shmem_init's own does not count. */
static inline uint64_t core_team_call(const struct core_team *t)
{
    return t->entries - (t == &core_world);
}

static inline int core_team_world_pe(const struct core_team *t, int pe)
{
    return t->start + pe * t->stride;
}

/* The member that is this world PE, or -1. */
int core_team_member(const struct core_team *t, int world_pe);

/* Rounds after which each member has news of all, of twice as many in each:
 * log2, rounded up. */
static inline int core_team_rounds(int n_pes)
{
    return n_pes > 1 ? 32 - __builtin_clz((unsigned)n_pes - 1) : 0;
}

static inline size_t core_team_area_size(int n_pes)
{
    return sizeof(struct core_team_area) +
           2 * ((size_t)core_team_rounds(n_pes) + 1) * CORE_PIECE;
}

/* The size with the table of the members' areas behind it, which each member of
 * a created team has. */
static inline size_t core_team_area_room(int n_pes)
{
    return core_team_area_size(n_pes) + ((size_t)n_pes + 15) / 16 * 64;
}

/* The offset of member pe's area in its host segment. */
static inline uint64_t core_team_area_at(const struct core_team *t, int pe)
{
    return t->area_of ? (uint64_t)t->area_of[pe] * 64 : t->area_at;
}

/* The area as mapped here.  Of an off-node member the address is an offset, see
 * coll_int.h. */
static inline struct core_team_area *
core_team_area_of(const struct core_team *t, int pe)
{
    return (struct core_team_area *)(xport_routes[core_team_world_pe(t, pe)]
                                         .map[HEAP_HOST] +
                                     core_team_area_at(t, pe));
}

static inline void *core_team_scratch(const struct core_team *t, int pe,
                                      unsigned parity, int round)
{
    return (char *)(core_team_area_of(t, pe) + 1) +
           ((size_t)parity * ((unsigned)core_team_rounds(t->n_pes) + 1) +
            (unsigned)round) * CORE_PIECE;
}

/* The triplet of members, as member numbers of parent: 0, or -EINVAL. */
int core_team_triplet(const struct core_team *parent, int start, int stride,
                      int size);

/* A team object of that shape, not yet in use: NULL without memory. */
struct core_team *core_team_new(int start, int stride, int size);
/* The table behind this member's own area. */
static inline uint32_t *core_team_table(const struct core_team *t, void *own)
{
    return (uint32_t *)(void *)((char *)own + core_team_area_size(t->n_pes));
}
/* The members' offsets in units of 64 bytes; the team needs them as long as it
 * lives, unless they are all alike. */
void core_team_set_areas(struct core_team *t, const uint32_t *area_of);
/* Frees the object; the area stays where it is. */
void core_team_free(struct core_team *t);
/* Is it one that exists? */
bool core_team_known(const struct core_team *t);
/* Made by the library, not by a split? */
bool core_team_predefined(const struct core_team *t);
/* May kernels use it: device_world, _shared, and what was split from them? */
static inline bool core_team_of_device(const struct core_team *t)
{
    return t->space == &heap_device;
}
/* The first that was made with that space, or a part of it; or NULL. */
struct core_team *core_team_of_space(const struct heap_space *s);
/* In a forked child, before any other call: no team has PEs any more. */
void core_team_fork_child(void);
/* At the end of the library: teams the program left behind. */
void core_team_free_all(void);

/* Handles.  NULL for SHMEM_TEAM_INVALID. */
static inline struct core_team *core_team_get(shmem_team_t team)
{
    if (team == SHMEM_TEAM_WORLD)
        return &core_world;
    if (team == SHMEM_TEAM_SHARED)
        return &core_shared;
    if (team == SHMEM_DEVICE_TEAM_WORLD)
        return &core_device_world;
    if (team == SHMEM_DEVICE_TEAM_SHARED)
        return &core_device_shared;
    return (struct core_team *)team;
}

static inline shmem_team_t core_team_handle(const struct core_team *t)
{
    if (t == &core_world)
        return SHMEM_TEAM_WORLD;
    if (t == &core_shared)
        return SHMEM_TEAM_SHARED;
    if (t == &core_device_world)
        return SHMEM_DEVICE_TEAM_WORLD;
    if (t == &core_device_shared)
        return SHMEM_DEVICE_TEAM_SHARED;
    return (shmem_team_t)t;
}

#endif
