/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_pcoll_decls.h - the prototypes of partitioned collectives, included by
 * shmemx_pcoll.h with SHMEMI_P(f) as f and as pf.  No include guard.
 *
 * All calls return 0 or a negative errno: -EINVAL, an invalid argument, with a
 * line; -ENODEV, no device; -ENOMEM. */

/* The calls that make a request are collective: all members of the team make
 * them in the same order, with the same partitions, nelems, type, op and root;
 * all members get a request, or none: -EINVAL or -ECANCELED, with a line.
 *
 * dest and source: symmetric memory of host or device, the same objects on all
 * members; they may be the same where both have the same size, and do not
 * overlap otherwise.  A member that needs none of the two may pass NULL.
 * partitions: 1 to 65536.  nelems: elements of type in a partition of each
 * block.  op: as for shmemx_allreduce_init.
 *
 * A member makes each partition ready once in an iteration: its source may be
 * read from then on, and must not change until the wait; its dest may be
 * written from the start on.  A member of which the collective reads nothing,
 * such as a receiver of a broadcast, need not make anything ready. */

/* dest = all sources combined: partitions * nelems elements each, the same bits
 * on all members. */
int SHMEMI_P(shmemx_pallreduce_init)(shmem_team_t team, void *dest,
                                     const void *source, int partitions,
                                     size_t nelems, shmemx_type_t type,
                                     shmemx_op_t op, shmemx_req_t *req);
/* The same on the root alone. */
int SHMEMI_P(shmemx_preduce_init)(shmem_team_t team, void *dest,
                                  const void *source, int partitions,
                                  size_t nelems, shmemx_type_t type,
                                  shmemx_op_t op, int root, shmemx_req_t *req);
/* source: a block for each member; dest: this member's blocks combined. */
int SHMEMI_P(shmemx_preduce_scatter_init)(shmem_team_t team, void *dest,
                                          const void *source, int partitions,
                                          size_t nelems, shmemx_type_t type,
                                          shmemx_op_t op, shmemx_req_t *req);
/* dest: the combined sources of the members up to this one; of those before
 * it, zeros on the first. */
int SHMEMI_P(shmemx_pinscan_init)(shmem_team_t team, void *dest,
                                  const void *source, int partitions,
                                  size_t nelems, shmemx_type_t type,
                                  shmemx_op_t op, shmemx_req_t *req);
int SHMEMI_P(shmemx_pexscan_init)(shmem_team_t team, void *dest,
                                  const void *source, int partitions,
                                  size_t nelems, shmemx_type_t type,
                                  shmemx_op_t op, shmemx_req_t *req);
/* The root's source to all members' dests, the root's too. */
int SHMEMI_P(shmemx_pbroadcast_init)(shmem_team_t team, void *dest,
                                     const void *source, int partitions,
                                     size_t nelems, shmemx_type_t type,
                                     int root, shmemx_req_t *req);
/* dest: a block for each member, its source; on all members, or on the root. */
int SHMEMI_P(shmemx_pallgather_init)(shmem_team_t team, void *dest,
                                     const void *source, int partitions,
                                     size_t nelems, shmemx_type_t type,
                                     shmemx_req_t *req);
int SHMEMI_P(shmemx_pgather_init)(shmem_team_t team, void *dest,
                                  const void *source, int partitions,
                                  size_t nelems, shmemx_type_t type, int root,
                                  shmemx_req_t *req);
/* dest: this member's block of the root's source. */
int SHMEMI_P(shmemx_pscatter_init)(shmem_team_t team, void *dest,
                                   const void *source, int partitions,
                                   size_t nelems, shmemx_type_t type, int root,
                                   shmemx_req_t *req);
/* Both have a block for each member: block j of member i becomes block i of
 * member j. */
int SHMEMI_P(shmemx_palltoall_init)(shmem_team_t team, void *dest,
                                    const void *source, int partitions,
                                    size_t nelems, shmemx_type_t type,
                                    shmemx_req_t *req);
/* A partition has arrived when all members have made it ready. */
int SHMEMI_P(shmemx_pbarrier_init)(shmem_team_t team, int partitions,
                                   shmemx_req_t *req);

/* A schedule of this member's, which is local and empty.  split: how partitions
 * are divided.  pieces of source, dest and scratch memory, 0 where there is no
 * such buffer; with SHMEMX_SCHED_SPLIT, the same number wherever it is not 0.
 */
int SHMEMI_P(shmemx_sched_create)(shmem_team_t team, int split,
                                  int source_pieces, int dest_pieces,
                                  int scratch_pieces, shmemx_sched_t *sched);
/* Appends a step, which is copied.  Members are numbered in the team.  With
 * neither n_to nor n_from, `in` becomes a copy of `out`, or `with` combined with
 * `out`.  What goes from one member to another arrives in the order of both
 * members' steps.
 * A piece may arrive as soon as its receiver has started the iteration: an
 * earlier step of the receiver's does not use it, unless what arrives depends
 * on that step.  What is combined waits for its step. */
int SHMEMI_P(shmemx_sched_step)(shmemx_sched_t sched,
                                const shmemx_step_t *step);
/* At any time: requests have copies.  *sched becomes NULL; -EINVAL if it is, or
 * has been freed. */
int SHMEMI_P(shmemx_sched_free)(shmemx_sched_t *sched);
/* A request, of all members of the schedule's team.  A member whose schedule
 * combines nothing may pass another op and another type, of the same size.
 * -EINVAL on all members: what some of them send is not what others receive. */
int SHMEMI_P(shmemx_pcoll_init)(shmemx_sched_t sched, void *dest,
                                const void *source, int partitions,
                                size_t nelems, shmemx_type_t type,
                                shmemx_op_t op, shmemx_req_t *req);
