/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what stays in a schedule of the program's, and is combined where
 * it is, is read before the partition of its sender ends, and so before the
 * sender's wait; between nodes the sender does not wait for that.
 * PEs: 2 3
 * Ppn: 2/1 3/2
 * Env: SHMEM_DEVICE=software */
#include "../t.h"
#include <shmem.h>
#include <shmemx_pcoll.h>

enum { PARTS = 2, EACH = 300, LEN = PARTS * EACH };
static long source[LEN], dest[LEN];
static int me;
static shmemx_req_t req;

/* PE 0 sends to PE 1, and nothing depends on what that does with it. */
static void make(void)
{
    int other = !me;
    shmemx_step_t step = { .n_to = !me, .to = &other, .n_from = me,
                           .from = &other, .in = { SHMEMX_DEST, 0 },
                           .reduces = 1, .stays = 1 };
    shmemx_sched_t s;

    T_EQ(shmemx_sched_create(SHMEM_TEAM_WORLD, SHMEMX_SCHED_BLOCKS, 1, 1, 0,
                             &s), 0);
    if (me < 2)
        T_EQ(shmemx_sched_step(s, &step), 0);
    T_EQ(shmemx_pcoll_init(s, dest, source, PARTS, EACH, SHMEMX_INT64,
                           SHMEMX_SUM, &req), 0);
    T_EQ(shmemx_sched_free(&s), 0);
}

static void expect_arrived(int want)
{
    int flag = -1;

    for (int i = 0; i < 20; i++) {
        T_EQ(shmemx_parrived(req, i % PARTS, &flag), 0);
        if (!want)
            T_EQ(flag, 0);
        usleep(1000);
    }
    if (want)
        T_EQ(flag, 1);
}

T(stays_until_it_is_combined)
{
    make();
    for (int r = 1; r <= 3; r++) {
        for (int i = 0; i < LEN; i++) {
            source[i] = (me ? 1 : 1000) * r + i;
            dest[i] = -1;
        }
        shmem_barrier_all();
        T_EQ(shmemx_req_start(req), 0);
        shmem_barrier_all();
        if (me != 1)
            T_EQ(shmemx_pready_range(req, 0, PARTS - 1), 0);
        if (!me)
            expect_arrived(!shmem_ptr(dest, 1));
        shmem_barrier_all();
        if (me == 1)
            T_EQ(shmemx_pready_range(req, 0, PARTS - 1), 0);
        T_EQ(shmemx_req_wait(req), 0);
        for (int i = 0; i < LEN && me == 1; i++)
            T_EQ(dest[i], 1001L * r + 2 * i);
        for (int i = 0; i < LEN; i++)
            source[i] = 0;
    }
    T_EQ(shmemx_req_free(&req), 0);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    T_RUN(stays_until_it_is_combined);
    shmem_finalize();
    return T_DONE();
}
