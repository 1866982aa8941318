/* SPDX-License-Identifier: BSD-3-Clause */

/* shmemx_dev_sync.h - order, completion and synchronization of kernels, and
 * their teams.  A part of shmemx_dev.h.
 *
 * fence and quiet: section 9.11 of OpenSHMEM 1.6, for the operations of the
 * threads of the call on the state's context; quiet also completes what
 * earlier kernels left.  sync and barrier: section 9.12, on device teams
 * alone; one thread, warp or block of each member's kernels calls, and a team
 * is in one collective call at a time. */
/* ---- order and completion ---- */

SHMEMI_DEV void shmemi_dev_ring_quiet(const struct shmemx_dev *d,
                                      shmemi_dev_ring *ring)
{
    shmemi_u64 head = shmemi_dev_load_64(&ring->head);
    shmemi_dev_position t;

    if (head == shmemi_dev_load_64(&ring->complete))
        return;
    t.ring = ring;
    t.n = head - 1;
    shmemi_dev_await_done(d, t);
    shmemi_dev_release_64(&ring->complete, head);
}

/* Requests of a ring keep their order.  Stores to a PE of the node, which come
 * after the fence, would overtake requests for it: these complete first. */
SHMEMI_DEV_SLOW void shmemi_dev_far_fence(const struct shmemx_dev *d)
{
    shmemi_dev_ring *ring = shmemi_dev_ring_of(d);

    if (!shmemi_dev_ring_busy(ring))
        return;
    if (shmemi_dev_load_64(&ring->mapped))
        shmemi_dev_ring_quiet(d, ring);
    else
        shmemi_dev_push(d, SHMEMI_DEV_HEAD(SHMEMI_DEV_FENCE, 0,
                                           SHMEMI_DEV_CALL_FENCE, 0),
                        -1, 0, 0, 0, 0, 0, 0);
}

/* The loads of all rings are under way together, and none of them is of the
 * host's memory, before a request is found that may not be complete. */
SHMEMI_DEV_SLOW void shmemi_dev_far_quiet(const struct shmemx_dev *d)
{
    shmemi_u64 used = 0, open = 0, head;
    unsigned i;

    for (i = 0; i < d->n_rings; i++) {
        head = shmemi_dev_load_64(&d->rings[i].head);
        used |= head;
        open |= head ^ shmemi_dev_load_64(&d->rings[i].complete);
    }
    for (i = 0; open && i < d->n_rings; i++)
        shmemi_dev_ring_quiet(d, d->rings + i);
    /* Of those that another thread has seen to be complete. */
    if (used)
        shmemi_dev_acquired();
}

/* May there be requests to order?  An empty state has none, and is refused. */
SHMEMI_DEV int shmemi_dev_has_rings(const struct shmemx_dev *d,
                                    enum shmemi_dev_call call)
{
    if (!d->n_rings && !SHMEMI_DEV_LIKELY(d->magic == SHMEMI_DEV_MAGIC))
        shmemi_dev_no_state(d, call);
    return d->n_rings != 0;
}

#define SHMEMI_DEV_ORDER(SCOPE_NAME, SCOPE)                                 \
    SHMEMI_DEV void shmemx_dev_fence##SCOPE_NAME(const shmemx_dev_t *dev)   \
    {                                                                       \
        if (!shmemi_dev_takes_part(dev, SCOPE))                             \
            return;                                                         \
        shmemi_dev_fence();                                                 \
        shmemi_dev_barrier(SCOPE);                                          \
        if (shmemi_dev_rank(SCOPE) == 0 &&                                  \
            shmemi_dev_has_rings(dev, SHMEMI_DEV_CALL_FENCE))               \
            shmemi_dev_far_fence(dev);                                      \
        shmemi_dev_barrier(SCOPE);                                          \
    }                                                                       \
    SHMEMI_DEV void shmemx_dev_quiet##SCOPE_NAME(const shmemx_dev_t *dev)   \
    {                                                                       \
        if (!shmemi_dev_takes_part(dev, SCOPE))                             \
            return;                                                         \
        shmemi_dev_fence_full();    /* a load behind it comes later */      \
        shmemi_dev_barrier(SCOPE);                                          \
        if (shmemi_dev_rank(SCOPE) == 0 &&                                  \
            shmemi_dev_has_rings(dev, SHMEMI_DEV_CALL_QUIET))               \
            shmemi_dev_far_quiet(dev);                                      \
        shmemi_dev_barrier(SCOPE);                                          \
    }
SHMEMI_DEV_SCOPES(SHMEMI_DEV_ORDER)
#undef SHMEMI_DEV_ORDER

/* The operations on these PEs are complete; so may others be. */
SHMEMI_DEV void shmemx_dev_pe_quiet(const shmemx_dev_t *dev,
                                    const int *target_pes, size_t npes)
{
    (void)target_pes;
    if (npes)
        shmemx_dev_quiet(dev);
}

/* ---- teams ---- */

/* NULL: no device team has this handle. */
SHMEMI_DEV shmemi_dev_team *shmemi_dev_team_of(const struct shmemx_dev *d,
                                               shmem_team_t team)
{
    shmemi_u64 handle = (shmemi_u64)team;
    shmemi_dev_team *t;
    int i;

    if (!d->table || !handle)
        return 0;
    if (handle == 3 || handle == 4)
        return d->table->team[handle - 3];
    for (i = 2; i < SHMEMI_DEV_OBJECTS; i++) {
        t = d->table->team[i];
        if (t && t->handle == handle)
            return t;
    }
    return 0;
}

/* -1: not a member, or no device team. */
SHMEMI_DEV int shmemx_dev_team_my_pe(const shmemx_dev_t *dev,
                                     shmem_team_t team)
{
    const shmemi_dev_team *t = shmemi_dev_team_of(dev, team);

    return t ? t->my_pe : -1;
}

SHMEMI_DEV int shmemx_dev_team_n_pes(const shmemx_dev_t *dev,
                                     shmem_team_t team)
{
    const shmemi_dev_team *t = shmemi_dev_team_of(dev, team);

    return t ? t->n_pes : -1;
}

/* The number of member pe of `from` in `to`, or -1. */
SHMEMI_DEV int shmemx_dev_team_translate_pe(const shmemx_dev_t *dev,
                                            shmem_team_t from, int pe,
                                            shmem_team_t to)
{
    const shmemi_dev_team *f = shmemi_dev_team_of(dev, from);
    const shmemi_dev_team *t = shmemi_dev_team_of(dev, to);
    int off;

    if (!f || !t || pe < 0 || pe >= f->n_pes)
        return -1;
    off = f->start + pe * f->stride - t->start;
    if (off == 0)
        return 0;
    if (t->stride == 0 || off % t->stride || off / t->stride < 0 ||
        off / t->stride >= t->n_pes)
        return -1;
    return off / t->stride;
}

/* -1, and the first of a job is a warning; with SHMEM_CHECK=1 the end of the
 * job.  SHMEM_TEAM_INVALID may be meant. */
SHMEMI_DEV_SLOW int shmemi_dev_refuse(const struct shmemx_dev *d, int wrong,
                                      enum shmemi_dev_call call, shmemi_u64 a,
                                      shmemi_u64 b)
{
    if (d->flags & SHMEMI_DEV_CHECK || a || wrong != SHMEMI_DEV_WRONG_TEAM)
        shmemi_dev_await_done(d, shmemi_dev_push(
            d, SHMEMI_DEV_HEAD(SHMEMI_DEV_REFUSE, wrong, call, 0), 0, 0, 0, 0,
            a, b, 0));
    return -1;
}

/* ---- synchronization ---- */

/* The address, as this PE has it, of a word `at` bytes into the area that a
 * member keeps for the team. */
SHMEMI_DEV void *shmemi_dev_area(const struct shmemx_dev *d,
                                 const shmemi_dev_team *t, int member,
                                 shmemi_u64 at)
{
    shmemi_u64 off = t->area_at + (t->area_of ? (shmemi_u64)t->area_of[member]
                                                    * 64 : 0);

    return (void *)(d->base[SHMEMI_DEV_HOST] + off + at);
}

/* A copy of the state whose PEs are those of the world. */
SHMEMI_DEV shmemx_dev_t shmemi_dev_world(const shmemx_dev_t *d, int members)
{
    shmemx_dev_t w = *d;

    w.start = 0;
    w.stride = 1;
    w.n_pes = members;
    return w;
}

/* Dissemination: in round r each member reports to the one 2^r after it.  The
 * flags of a round are counted up, so none is ever reset. */
SHMEMI_DEV_SLOW void shmemi_dev_team_sync(const struct shmemx_dev *d,
                                          shmemi_dev_team *t)
{
    shmemx_dev_t w = shmemi_dev_world(d, 0x7fffffff);
    shmemi_u64 n = shmemi_dev_load_64(&t->syncs) + 1;
    int dist, to, from, r = 0;
    shmemi_dev_for f;

    f.size = 8;
    f.is_signed = 0;
    f.cmp = SHMEM_CMP_GE;
    f.value = n;
    f.call = SHMEMI_DEV_CALL_SYNC;
    shmemi_dev_store_64(&t->syncs, n);
    for (dist = 1; dist < t->n_pes; dist *= 2, r++) {
        to = t->my_pe + dist;
        to = to < t->n_pes ? to : to - t->n_pes;
        shmemi_dev_raise(&w, shmemi_dev_area(d, t, to, (shmemi_u64)r * 8), n,
                         t->start + to * t->stride);
        from = t->my_pe - dist;
        from = from < 0 ? from + t->n_pes : from;
        f.raiser = (unsigned)(t->start + from * t->stride) + 1;
        shmemi_dev_wait_for(&w, shmemi_dev_area(d, t, t->my_pe,
                                                (shmemi_u64)r * 8),
                            f, SHMEMI_DEV_THREAD);
    }
}

SHMEMI_DEV int shmemi_dev_sync(const struct shmemx_dev *d, shmem_team_t team,
                               int quiet, enum shmemi_dev_scope scope)
{
    shmemi_dev_team *t;
    int part = shmemi_dev_takes_part(d, scope);

    if (d->magic != SHMEMI_DEV_MAGIC)
        shmemi_dev_no_state(d, SHMEMI_DEV_CALL_SYNC);
    t = shmemi_dev_team_of(d, team);
    if (!t)
        return shmemi_dev_refuse(d, SHMEMI_DEV_WRONG_TEAM, SHMEMI_DEV_CALL_SYNC,
                                 (shmemi_u64)team, 0);
    if (!part)
        return 0;
    shmemi_dev_fence();
    shmemi_dev_barrier(scope);
    if (shmemi_dev_rank(scope) == 0) {
        if (quiet && d->n_rings)
            shmemi_dev_far_quiet(d);
        shmemi_dev_team_sync(d, t);
    }
    shmemi_dev_barrier(scope);
    shmemi_dev_acquired();
    return 0;
}

/* shmemx_dev_team_sync, shmemx_dev_sync_all, shmemx_dev_barrier,
 * shmemx_dev_barrier_all, each also with _warp and _block behind it.  A barrier
 * is a quiet of the state's context and a sync.  0, or -1: no device team. */
#define SHMEMI_DEV_SYNC(SCOPE_NAME, SCOPE)                                  \
    SHMEMI_DEV int shmemx_dev_team_sync##SCOPE_NAME(                        \
        const shmemx_dev_t *dev, shmem_team_t team)                         \
    {                                                                       \
        return shmemi_dev_sync(dev, team, 0, SCOPE);                        \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_sync_all##SCOPE_NAME(const shmemx_dev_t *dev) \
    {                                                                       \
        return shmemi_dev_sync(dev, SHMEM_DEVICE_TEAM_WORLD, 0, SCOPE);     \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_barrier##SCOPE_NAME(const shmemx_dev_t *dev,  \
                                                  shmem_team_t team)        \
    {                                                                       \
        return shmemi_dev_sync(dev, team, 1, SCOPE);                        \
    }                                                                       \
    SHMEMI_DEV int shmemx_dev_barrier_all##SCOPE_NAME(                      \
        const shmemx_dev_t *dev)                                            \
    {                                                                       \
        return shmemi_dev_sync(dev, SHMEM_DEVICE_TEAM_WORLD, 1, SCOPE);     \
    }
SHMEMI_DEV_SCOPES(SHMEMI_DEV_SYNC)
#undef SHMEMI_DEV_SYNC
