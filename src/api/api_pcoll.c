/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned collectives, as shmemx_pcoll.h declares them.  Called by programs;
 * the rest is that of src/msg/pcoll. */
#include "api/api_stream.h"
#include "core/core_misuse.h"
#include "msg/pcoll/pcoll.h"

#include <errno.h>
#include <stdlib.h>

/* ---- what all have ---- */

/* blocks: the most that a buffer of this member has. */
static int check_sizes(const char *call, const struct pcoll_args *a,
                       size_t blocks)
{
    size_t all;

    if (a->partitions < 1 || a->partitions > PARTITIONS_MOST)
        return core_misuse(ERR_ARG, call, "%d partitions: between 1 and %d",
                           a->partitions, PARTITIONS_MOST);
    if (__builtin_mul_overflow(a->nelems, a->size * (size_t)a->partitions,
                               &all) ||
        __builtin_mul_overflow(all, blocks, &all) || all > PTRDIFF_MAX)
        return core_misuse(ERR_SIZE, call, "%d partitions of %zu elements "
                           "exceed the address space (blocks: %zu)",
                           a->partitions, a->nelems, blocks);
    if (a->root < 0 || a->root >= a->team->n_pes)
        return core_misuse(ERR_PE, call, "root %d is outside 0..%d", a->root,
                           a->team->n_pes - 1);
    return 0;
}

/* 0, or -errno: then the team is not known, or there is no device. */
static int find_team(const char *call, shmem_team_t team,
                     struct core_team **out)
{
    int rc = api_stream_need(call);

    rc = rc ? rc : api_kernel_open(call);
    return rc ? rc : api_need_team(call, team, out);
}

/* Completes a. */
static int check_args(struct pcoll_args *a, int type, int op, size_t blocks)
{
    int rc = a->reduces ? api_check_reduction(a->call, type, op)
                        : api_check_type(a->call, type);

    if (rc)
        return rc;
    a->type = (enum gtl_type)type;
    a->op = (enum gtl_reduction)op;
    a->size = api_type_sizes[type];
    return check_sizes(a->call, a, blocks);
}

static int make(shmem_team_t team, enum pcoll_usual what, bool reduces,
                struct pcoll_args *a, int type, int op, shmemx_req_t *req)
{
    struct pcoll_sched s = { .team = team };
    int rc = find_team(a->call, team, &a->team);

    if (rc)
        return rc;
    a->reduces = reduces;
    rc = check_args(a, type, op, (size_t)a->team->n_pes);
    rc = rc ? rc : pcoll_sched_usual(&s, what, a);
    rc = pcoll_create(a, &s, rc, req);
    free(s.actions);
    return rc;
}

/* ---- the usual ones ---- */

#define ARGS(root_)                                                         \
    { .call = __func__, .dest = dest, .source = source,                     \
      .partitions = partitions, .nelems = nelems, .root = root_ }

int pshmemx_pallreduce_init(shmem_team_t team, void *dest, const void *source,
                            int partitions, size_t nelems, shmemx_type_t type,
                            shmemx_op_t op, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);

    return make(team, PCOLL_ALLREDUCE, true, &a, (int)type, (int)op, req);
}
API_ALIAS(shmemx_pallreduce_init)

int pshmemx_preduce_init(shmem_team_t team, void *dest, const void *source,
                         int partitions, size_t nelems, shmemx_type_t type,
                         shmemx_op_t op, int root, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(root);

    return make(team, PCOLL_REDUCE, true, &a, (int)type, (int)op, req);
}
API_ALIAS(shmemx_preduce_init)

int pshmemx_preduce_scatter_init(shmem_team_t team, void *dest,
                                 const void *source, int partitions,
                                 size_t nelems, shmemx_type_t type,
                                 shmemx_op_t op, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);

    return make(team, PCOLL_REDUCE_SCATTER, true, &a, (int)type, (int)op, req);
}
API_ALIAS(shmemx_preduce_scatter_init)

int pshmemx_pinscan_init(shmem_team_t team, void *dest, const void *source,
                         int partitions, size_t nelems, shmemx_type_t type,
                         shmemx_op_t op, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);

    return make(team, PCOLL_INSCAN, true, &a, (int)type, (int)op, req);
}
API_ALIAS(shmemx_pinscan_init)

int pshmemx_pexscan_init(shmem_team_t team, void *dest, const void *source,
                         int partitions, size_t nelems, shmemx_type_t type,
                         shmemx_op_t op, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);

    return make(team, PCOLL_EXSCAN, true, &a, (int)type, (int)op, req);
}
API_ALIAS(shmemx_pexscan_init)

int pshmemx_pbroadcast_init(shmem_team_t team, void *dest, const void *source,
                            int partitions, size_t nelems, shmemx_type_t type,
                            int root, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(root);

    return make(team, PCOLL_BROADCAST, false, &a, (int)type, 0, req);
}
API_ALIAS(shmemx_pbroadcast_init)

int pshmemx_pallgather_init(shmem_team_t team, void *dest, const void *source,
                            int partitions, size_t nelems, shmemx_type_t type,
                            shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);

    return make(team, PCOLL_ALLGATHER, false, &a, (int)type, 0, req);
}
API_ALIAS(shmemx_pallgather_init)

int pshmemx_pgather_init(shmem_team_t team, void *dest, const void *source,
                         int partitions, size_t nelems, shmemx_type_t type,
                         int root, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(root);

    return make(team, PCOLL_GATHER, false, &a, (int)type, 0, req);
}
API_ALIAS(shmemx_pgather_init)

int pshmemx_pscatter_init(shmem_team_t team, void *dest, const void *source,
                          int partitions, size_t nelems, shmemx_type_t type,
                          int root, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(root);

    return make(team, PCOLL_SCATTER, false, &a, (int)type, 0, req);
}
API_ALIAS(shmemx_pscatter_init)

int pshmemx_palltoall_init(shmem_team_t team, void *dest, const void *source,
                           int partitions, size_t nelems, shmemx_type_t type,
                           shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);

    return make(team, PCOLL_ALLTOALL, false, &a, (int)type, 0, req);
}
API_ALIAS(shmemx_palltoall_init)

int pshmemx_pbarrier_init(shmem_team_t team, int partitions, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = { .call = __func__, .partitions = partitions };

    return make(team, PCOLL_BARRIER, false, &a, SHMEMX_INT8, 0, req);
}
API_ALIAS(shmemx_pbarrier_init)

/* ---- schedules ---- */

int pshmemx_sched_create(shmem_team_t team, int split, int source_pieces,
                         int dest_pieces, int scratch_pieces,
                         shmemx_sched_t *sched)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_sched s = {
        .team = team, .blocks = split == SHMEMX_SCHED_BLOCKS,
        .pieces = { source_pieces, dest_pieces, scratch_pieces }
    };
    struct core_team *t;
    int rc = find_team(__func__, team, &t);

    if (rc)
        return rc;
    if (!sched)
        return core_misuse(ERR_NULL, __func__, "no place for the schedule");
    if (split != SHMEMX_SCHED_SPLIT && split != SHMEMX_SCHED_BLOCKS)
        return core_misuse(ERR_ARG, __func__, "%d is neither "
                           "SHMEMX_SCHED_SPLIT nor SHMEMX_SCHED_BLOCKS", split);
    s.n_pes = t->n_pes;
    s.me = t->my_pe;
    return pcoll_sched_create(__func__, &s, sched);
}
API_ALIAS(shmemx_sched_create)

int pshmemx_sched_step(shmemx_sched_t sched, const shmemx_step_t *step)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_sched *s;

    core_need_up(__func__);
    s = pcoll_sched_find(__func__, sched);
    if (!s)
        return -EINVAL;
    return step ? pcoll_sched_step(__func__, s, step)
                : core_misuse(ERR_NULL, __func__, "step is a null pointer");
}
API_ALIAS(shmemx_sched_step)

int pshmemx_sched_free(shmemx_sched_t *sched)
{
    CORE_TRACE_CALL(__func__);
    int rc;

    core_need_up(__func__);
    if (!sched)
        return core_misuse(ERR_NULL, __func__, "sched is a null pointer");
    rc = pcoll_sched_free(__func__, *sched);
    if (!rc)
        *sched = NULL;
    return rc;
}
API_ALIAS(shmemx_sched_free)

static bool combines(const struct pcoll_sched *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->actions[i].reduces)
            return true;
    return false;
}

/* Of a buffer, the largest. */
static size_t blocks_of(const struct pcoll_sched *s)
{
    int most = 1;

    for (int i = 0; i < PCOLL_BUFFERS && s->blocks; i++)
        most = s->pieces[i] > most ? s->pieces[i] : most;
    return (size_t)most;
}

int pshmemx_pcoll_init(shmemx_sched_t sched, void *dest, const void *source,
                       int partitions, size_t nelems, shmemx_type_t type,
                       shmemx_op_t op, shmemx_req_t *req)
{
    CORE_TRACE_CALL(__func__);
    struct pcoll_args a = ARGS(0);
    struct pcoll_sched *s;
    int rc;

    core_need_up(__func__);
    s = pcoll_sched_find(__func__, sched);
    if (!s)
        return -EINVAL;
    rc = find_team(__func__, s->team, &a.team);
    if (rc)
        return rc;
    a.reduces = combines(s);
    a.moves = !a.reduces;
    rc = check_args(&a, (int)type, (int)op, blocks_of(s));
    return pcoll_create(&a, s, rc, req);
}
API_ALIAS(shmemx_pcoll_init)
