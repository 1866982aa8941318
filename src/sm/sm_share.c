/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_share.c - the PEs of a node get its memory from the launcher.  Two fences
 * of the job: before the first each member publishes whether its static data
 * fit, before the second the leader answers and shares the memory. */
#include "sm/sm_int.h"
#include "base/log.h"
#include "rt/rt.h"

/* Do the static data of all members fit the plan? */
static int gather(bool *out)
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

int sm_share_serve(struct sm_card *card, int memfd)
{
    struct sm_reply reply;
    int rc = rt_fence();
    bool fit = true;

    if (!rc)
        rc = gather(&fit);
    if (rc)
        return rc;
    if (!fit) {
        log_warn(ERR_DATA, "the PEs run programs whose static data differ: "
                 "only heap memory is symmetric");
        heap_plan_drop_data(&card->plan);
    }
    reply.share_data = fit;
    rc = rt_put("share", &reply, sizeof reply);
    if (!rc && rt_job.n_local > 1)
        rc = rt_share(memfd, rt_job.n_local - 1);
    return rc ? rc : rt_fence();
}

int sm_share_join(struct sm_card *card, int *out_memfd)
{
    int32_t fits = heap_plan_fits(&card->plan);
    int leader = rt_job.local_pes[0], rc;
    struct sm_reply reply;

    rc = rt_put("fits", &fits, sizeof fits);
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = rt_get(leader, "share", &reply, sizeof reply);
    if (!rc)
        rc = rt_take(leader, out_memfd);
    if (!rc && reply.share_data != 1)
        heap_plan_drop_data(&card->plan);
    return rc;
}
