/* SPDX-License-Identifier: BSD-3-Clause */
/* The public collectives over teams.  They check the arguments, enter the call
 * in the activity record and leave the work to coll. */
#include "api/api_coll.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h.
 *   shmem_alltoallmem shmem_alltoallsmem shmem_broadcastmem
 *   shmem_TYPENAME_alltoall shmem_TYPENAME_alltoalls
 *   shmem_TYPENAME_broadcast shmem_TYPENAME_collect shmem_TYPENAME_fcollect
 *   shmem_TYPENAME_max_reduce shmem_TYPENAME_min_reduce
 *   shmem_TYPENAME_prod_reduce shmem_TYPENAME_sum_exscan
 *   shmem_TYPENAME_sum_inscan shmem_TYPENAME_sum_reduce shmem_collectmem
 *   shmem_fcollectmem shmem_TYPENAME_and_reduce shmem_TYPENAME_or_reduce
 *   shmem_TYPENAME_xor_reduce
 * Their generic names of C11 and C++:
 *   shmem_alltoall shmem_alltoalls shmem_broadcast shmem_collect
 *   shmem_fcollect shmem_max_reduce shmem_min_reduce shmem_prod_reduce
 *   shmem_sum_exscan shmem_sum_inscan shmem_sum_reduce shmem_and_reduce
 *   shmem_or_reduce shmem_xor_reduce */

struct core_team *api_team(const char *call, shmem_team_t team)
{
    struct core_team *t = core_team_get(team);

    core_need_up(call);
    if (CORE_CHECK(!t))
        core_fatal(ERR_TEAM, call, "the team is SHMEM_TEAM_INVALID");
    return api_team_or_null(call, team);
}

struct core_team *api_team_or_null(const char *call, shmem_team_t team)
{
    struct core_team *t = core_team_get(team);

    core_need_up(call);
    if (CORE_CHECK(core_status.checks && t && !core_team_known(t)))
        core_fatal(ERR_TEAM, call, "the handle is no team, or one that was "
                   "destroyed");
    return t;
}

#define SYNC_AND_CHECK(...) API_COLL_ENTER(t, ERR_COLL, call, __VA_ARGS__)
#define BUFFERS                                                             \
    core_position(b->dest), core_position(b->source), b->nelems
#define BUFFER_LABELS "@dest", "@source", "nelems"

static void need_symmetric(const char *call, const char *arg, const void *p,
                           size_t bytes)
{
    if (bytes && heap_find(p, bytes) < 0)
        core_refuse(call, &core_ctx_default, arg, p, bytes,
                    core_world.my_pe);
}

/* Bytes of [p, p + bytes) behind the end of the block that holds p; 0 where p
 * is in none. */
static size_t past_block(const void *p, size_t bytes)
{
    size_t room;

    return heap_block_rest(p, &room) && bytes > room ? bytes - room : 0;
}

_Noreturn static void refuse_overlap(const char *call,
                                     const struct api_buffers *b)
{
    size_t dest = past_block(b->dest, b->dest_bytes);
    size_t source = past_block(b->source, b->source_bytes);

    if (dest && (uintptr_t)b->dest < (uintptr_t)b->source)
        core_fatal(ERR_ARG, call, "dest (%zu bytes at %p) passes the end of "
                   "its block by %zu bytes and overlaps source (%zu bytes at "
                   "%p)", b->dest_bytes, b->dest, dest, b->source_bytes,
                   b->source);
    if (source && (uintptr_t)b->source < (uintptr_t)b->dest)
        core_fatal(ERR_ARG, call, "source (%zu bytes at %p) passes the end of "
                   "its block by %zu bytes and overlaps dest (%zu bytes at %p)",
                   b->source_bytes, b->source, source, b->dest_bytes, b->dest);
    core_fatal(ERR_ARG, call, "dest (%zu bytes at %p) and source (%zu bytes at "
               "%p) overlap", b->dest_bytes, b->dest, b->source_bytes,
               b->source);
}

void api_buffers_check(const char *call, const struct api_buffers *b)
{
    uintptr_t d = (uintptr_t)b->dest, s = (uintptr_t)b->source;

    if (!CORE_CHECK(1))
        return;
    need_symmetric(call, "dest", b->dest, b->dest_bytes);
    need_symmetric(call, "source", b->source, b->source_bytes);
    if (b->dest_bytes == 0 || b->source_bytes == 0 ||
        d + b->dest_bytes <= s || s + b->source_bytes <= d ||
        (b->in_place && d == s))
        return;
    refuse_overlap(call, b);
}

void api_broadcast(const char *call, struct core_team *t,
                   const struct api_block *b, int root, bool root_too)
{
    size_t bytes = core_bytes(call, b->nelems, b->size);

    if (CORE_CHECK(root < 0 || root >= t->n_pes))
        core_fatal(ERR_PE, call, "root %d is outside 0..%d", root,
                   t->n_pes - 1);
    api_buffers_check(call, &(struct api_buffers){ b->dest, b->source, bytes,
                                                   bytes, true });
    SYNC_AND_CHECK({ BUFFER_LABELS, "root" }, { BUFFERS, (uint64_t)root });
    coll_broadcast(t, b->dest, b->source, bytes, root, root_too);
}

/* The members that bring something bring it from the same place; a member that
 * brings nothing needs no source. */
static void check_sources(const char *call, struct core_team *t,
                          const void *source, size_t bytes)
{
    int first = -1;

    if (coll_alike(t, bytes, core_position(source)))
        return;
    for (int i = 0; i < t->n_pes; i++) {
        if (coll_checked_value(t, i, 2) == 0)
            continue;
        if (first < 0)
            first = i;
        if (coll_checked_value(t, i, 1) != coll_checked_value(t, first, 1))
            core_fatal(ERR_COLL, call, "PE %d passed another source than PE %d",
                       core_team_world_pe(t, i), core_team_world_pe(t, first));
    }
}

struct collected {
    const char *call;
    const struct api_block *block;
};

/* The sum of all members' elements is known. */
static void check_total(const void *arg, size_t all)
{
    const struct collected *c = arg;
    const struct api_block *b = c->block;

    api_buffers_check(c->call, &(struct api_buffers){
        b->dest, b->source, all, b->nelems * b->size, false });
}

void api_collect(const char *call, struct core_team *t,
                 const struct api_block *b)
{
    size_t bytes = core_bytes(call, b->nelems, b->size);

    /* The size of dest follows from what all pass, and is at least ours. */
    api_buffers_check(call, &(struct api_buffers){ b->dest, b->source, bytes,
                                                   bytes, false });
    SYNC_AND_CHECK({ "@dest" }, { BUFFERS });
    if (core_status.checks)
        check_sources(call, t, b->source, bytes);
    coll_collect(t, b->dest, b->source, bytes, check_total,
                 &(struct collected){ call, b });
}

/* dest holds a block of each member. */
static size_t check_blocks(const char *call, struct core_team *t,
                           const struct api_block *b, size_t source_blocks)
{
    size_t bytes = core_bytes(call, b->nelems, b->size);
    size_t all = core_bytes(call, (size_t)t->n_pes, bytes);

    api_buffers_check(call, &(struct api_buffers){
        b->dest, b->source, all, source_blocks * bytes, false });
    SYNC_AND_CHECK({ BUFFER_LABELS }, { BUFFERS });
    return bytes;
}

void api_fcollect(const char *call, struct core_team *t,
                  const struct api_block *b)
{
    coll_fcollect(t, b->dest, b->source, check_blocks(call, t, b, 1));
}

void api_alltoall(const char *call, struct core_team *t,
                  const struct api_block *b)
{
    coll_alltoall(t, b->dest, b->source,
                  check_blocks(call, t, b, (size_t)t->n_pes));
}

void api_alltoalls(const char *call, struct core_team *t,
                   const struct api_block *b, ptrdiff_t dst, ptrdiff_t sst)
{
    size_t n = core_bytes(call, (size_t)t->n_pes, b->nelems), span[2];
    const ptrdiff_t stride[2] = { dst, sst };

    for (int i = 0; i < 2; i++) {
        if (CORE_CHECK(stride[i] < 1))
            core_fatal(ERR_ARG, call, "stride %td is less than 1", stride[i]);
        span[i] = n ? core_bytes(call, n - 1, (size_t)stride[i]) + 1 : 0;
        span[i] = core_bytes(call, span[i], b->size);
    }
    api_buffers_check(call, &(struct api_buffers){ b->dest, b->source, span[0],
                                                   span[1], false });
    SYNC_AND_CHECK({ BUFFER_LABELS, "dst", "sst" },
         { BUFFERS, (uint64_t)dst, (uint64_t)sst });
    coll_alltoalls(t, b->dest, b->source, dst, sst, b->nelems, b->size);
}

void api_reduce(const char *call, struct core_team *t,
                const struct api_block *b, coll_op *op)
{
    size_t bytes = core_bytes(call, b->nelems, b->size);

    api_buffers_check(call, &(struct api_buffers){ b->dest, b->source, bytes,
                                                   bytes, true });
    SYNC_AND_CHECK({ BUFFER_LABELS }, { BUFFERS });
    coll_reduce(t, b->dest, b->source, b->nelems, b->size, op);
}

void api_scan(const char *call, struct core_team *t,
              const struct api_block *b, coll_op *op, bool inclusive)
{
    size_t bytes = core_bytes(call, b->nelems, b->size);

    api_buffers_check(call, &(struct api_buffers){ b->dest, b->source, bytes,
                                                   bytes, true });
    SYNC_AND_CHECK({ BUFFER_LABELS }, { BUFFERS });
    coll_scan(t, b->dest, b->source, b->nelems, b->size, op, inclusive);
}

#define BLOCK(SIZE) &(struct api_block){ dest, source, nelems, SIZE }
#define TEAM api_team(__func__, team)

#define API_COLL(PRE, POST, T, SIZE)                                        \
    int pshmem_##PRE##alltoall##POST(shmem_team_t team, T *dest,            \
                                     const T *source, size_t nelems)        \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_alltoall(__func__, TEAM, BLOCK(SIZE));                          \
        return 0;                                                           \
    }                                                                       \
    int pshmem_##PRE##alltoalls##POST(shmem_team_t team, T *dest,           \
                                      const T *source, ptrdiff_t dst,       \
                                      ptrdiff_t sst, size_t nelems)         \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_alltoalls(__func__, TEAM, BLOCK(SIZE), dst, sst);               \
        return 0;                                                           \
    }                                                                       \
    int pshmem_##PRE##broadcast##POST(shmem_team_t team, T *dest,           \
                                      const T *source, size_t nelems,       \
                                      int PE_root)                          \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_broadcast(__func__, TEAM, BLOCK(SIZE), PE_root, true);          \
        return 0;                                                           \
    }                                                                       \
    int pshmem_##PRE##collect##POST(shmem_team_t team, T *dest,             \
                                    const T *source, size_t nelems)         \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_collect(__func__, TEAM, BLOCK(SIZE));                           \
        return 0;                                                           \
    }                                                                       \
    int pshmem_##PRE##fcollect##POST(shmem_team_t team, T *dest,            \
                                     const T *source, size_t nelems)        \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_fcollect(__func__, TEAM, BLOCK(SIZE));                          \
        return 0;                                                           \
    }                                                                       \
    API_ALIAS(shmem_##PRE##alltoall##POST)                                  \
    API_ALIAS(shmem_##PRE##alltoalls##POST)                                 \
    API_ALIAS(shmem_##PRE##broadcast##POST)                                 \
    API_ALIAS(shmem_##PRE##collect##POST)                                   \
    API_ALIAS(shmem_##PRE##fcollect##POST)
#define API_COLL_TYPED(NAME, T) API_COLL(NAME##_, , T, sizeof(T))
SHMEMI_RMA_TYPES(API_COLL_TYPED)
API_COLL(, mem, void, 1)

#define API_REDUCE(NAME, T, FN, OP)                                         \
    int pshmem_##NAME##_##FN(shmem_team_t team, T *dest, const T *source,   \
                             size_t nelems)                                 \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_reduce(__func__, TEAM, BLOCK(sizeof(T)),                        \
                   coll_ops[OP][API_TYPE(T)]);                              \
        return 0;                                                           \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_##FN)
#define API_SCAN(NAME, T, FN, INCLUSIVE)                                    \
    int pshmem_##NAME##_##FN(shmem_team_t team, T *dest, const T *source,   \
                             size_t nelems)                                 \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        api_scan(__func__, TEAM, BLOCK(sizeof(T)),                          \
                 coll_ops[COLL_SUM][API_TYPE(T)], INCLUSIVE);               \
        return 0;                                                           \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_##FN)
#define API_REDUCE_BIT(NAME, T)                                             \
    API_REDUCE(NAME, T, and_reduce, COLL_AND)                               \
    API_REDUCE(NAME, T, or_reduce, COLL_OR)                                 \
    API_REDUCE(NAME, T, xor_reduce, COLL_XOR)
#define API_REDUCE_MINMAX(NAME, T)                                          \
    API_REDUCE(NAME, T, max_reduce, COLL_MAX)                               \
    API_REDUCE(NAME, T, min_reduce, COLL_MIN)
#define API_REDUCE_SUM(NAME, T)                                             \
    API_REDUCE(NAME, T, sum_reduce, COLL_SUM)                               \
    API_REDUCE(NAME, T, prod_reduce, COLL_PROD)                             \
    API_SCAN(NAME, T, sum_inscan, true)                                     \
    API_SCAN(NAME, T, sum_exscan, false)
SHMEMI_REDUCE_BIT_TYPES(API_REDUCE_BIT)
/* Beyond the standard. */
SHMEMI_TO_ALL_BIT_TYPES(API_REDUCE_BIT)
SHMEMI_RMA_TYPES(API_REDUCE_MINMAX)
SHMEMI_REDUCE_SUM_TYPES(API_REDUCE_SUM)
