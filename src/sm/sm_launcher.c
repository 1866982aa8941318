/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_launcher.c - the PEs of a node get its memory from the launcher; sm.c
 * calls it in place of sm_socket.c where the launcher passes descriptors.
 * There are two fences of the job: before the first each member publishes
 * whether its static data fit the plan, before the second the leader publishes
 * its reply and shares the memory. */
#include "sm/sm_int.h"
#include "base/log.h"
#include "rt/rt.h"

/* Do the static data of all members fit the plan? */
static int all_members_fit(bool *out)
{
    bool all_fit = true;
    int32_t fits;
    int rc = 0;

    for (int i = 1; i < rt_job.n_local && !rc; i++) {
        rc = rt_get(rt_job.local_pes[i], "fits", &fits, sizeof fits);
        all_fit = all_fit && !rc && fits == 1;
    }
    *out = all_fit;
    return rc;
}

/* The launcher holds one descriptor of a PE at a time.  All PEs of the job ask
 * for huge pages or none does, so all make the same fences. */
static int distribute_second(const struct heap_plan *plan, int fd)
{
    int rc = rt_fence();

    if (!rc && sm_two_files(plan) && rt_job.n_local > 1)
        rc = rt_share(fd, rt_job.n_local - 1);
    return rc ? rc : rt_fence();
}

static int join_second(const struct heap_plan *plan, int *out)
{
    int rc = rt_fence();

    if (!rc)
        rc = rt_fence();
    if (!rc && sm_two_files(plan))
        rc = rt_take(rt_job.local_pes[0], out);
    return rc;
}

int sm_launcher_distribute(struct sm_address *address, const int fds[2])
{
    struct sm_reply reply;
    int rc = rt_fence();
    bool fit = true;

    if (!rc)
        rc = all_members_fit(&fit);
    if (rc)
        return rc;
    if (!fit) {
        log_warn(ERR_DATA, "the PEs run programs whose static data differ: "
                 "only heap memory is symmetric");
        heap_plan_without_data(&address->plan);
    }
    reply.share_data = fit;
    rc = rt_put_on_node("share", &reply, sizeof reply);
    if (!rc && rt_job.n_local > 1)
        rc = rt_share(fds[0], rt_job.n_local - 1);
    if (!rc)
        rc = rt_fence();
    if (!rc && address->plan.huge_requested)
        rc = distribute_second(&address->plan, fds[1]);
    return rc;
}

int sm_launcher_join(struct sm_address *address, int fds[2])
{
    int32_t fits = heap_plan_matches(&address->plan);
    int leader = rt_job.local_pes[0], rc;
    struct sm_reply reply;

    rc = rt_put_on_node("fits", &fits, sizeof fits);
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = rt_get(leader, "share", &reply, sizeof reply);
    if (!rc)
        rc = rt_take(leader, &fds[0]);
    if (!rc && reply.share_data != 1)
        heap_plan_without_data(&address->plan);
    if (!rc && address->plan.huge_requested)
        rc = join_second(&address->plan, &fds[1]);
    return rc;
}
