/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a collective request that was given up has sent reaches no
 * request of another team: not of one that takes the place of its team, nor of
 * one of other parents.
 * PEs: 2 3
 * Ppn: 2/1 3/2
 * Env: SHMEM_SYMMETRIC_SIZE=128M
 * Timeout: 30 */
#include "msg.h"

#include <shmemx_pcoll.h>

/* All make a request of that team, or, if one fails, none does. */
static void makes(shmem_team_t team, bool fails, bool parts)
{
    static long d[2][1 << 14];
    char *source = (char *)d[0] + (fails && me == 0);
    shmemx_req_t r = NULL;
    int rc;

    rc = parts ? shmemx_pallreduce_init(team, d[1], source, 2, 1 << 13,
                                        SHMEMX_INT64, SHMEMX_SUM, &r)
               : shmemx_allreduce_init(team, d[1], source, 1 << 14,
                                       SHMEMX_INT64, SHMEMX_SUM, &r);
    T_EQ(rc, !fails ? 0 : me == 0 ? -EINVAL : -ECANCELED);
    if (!rc)
        T_EQ(shmemx_req_free(&r), 0);
    shmem_barrier_all();
}

static shmem_team_t team_of(shmem_team_t parent)
{
    shmem_team_t team;

    T_EQ(shmem_team_split_strided(parent, 0, 1, shmem_team_n_pes(parent), NULL,
                                  0, &team), 0);
    return team;
}

/* The messages of those that gave up are not for a team that takes the place of
 * theirs, nor for another one. */
T(a_team_gets_no_message_of_another_one)
{
    enum { TEAMS = 100 };
    shmem_team_t team, of_world[TEAMS], others[TEAMS];

    for (int i = 0; i < 4; i++) {
        team = team_of(SHMEM_TEAM_WORLD);
        makes(team, i % 2 == 0, i >= 2);
        shmem_team_destroy(team);
        shmem_barrier_all();
    }
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) < n_pes)
        return;
    for (int i = 0; i < TEAMS; i++) {
        of_world[i] = team_of(SHMEM_TEAM_WORLD);
        others[i] = team_of(SHMEM_TEAM_SHARED);
    }
    for (int i = 0; i < TEAMS; i++)
        makes(of_world[i], true, false);
    for (int i = 0; i < TEAMS; i++) {
        makes(others[i], false, false);
        shmem_team_destroy(others[i]);
        shmem_team_destroy(of_world[i]);
    }
}

int main(void)
{
    st_begin();
    T_RUN(a_team_gets_no_message_of_another_one);
    return st_end();
}
