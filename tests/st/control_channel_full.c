/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE that frees more ends than another one's ring of notes has
 * places, and ends while that one reads none, leaves nothing unsaid: matches of
 * the other ends come back.  A PE that has no streams at all is no hindrance.
 * PEs: 2 3
 * Ppn: 3/1
 * Timeout: 40 */
#include "msg.h"

#include <unistd.h>

enum { ENDS = 500 };

static long words[ENDS];
static shmemx_req_t reqs[ENDS];

T(all_is_said_at_the_end)
{
    for (int i = 0; i < ENDS; i++)
        if (me == 0)
            T_EQ(shmemx_send_init(&words[i], 8, 1, 7, &reqs[i]), 0);
        else if (me == 1)
            T_EQ(shmemx_recv_init(&words[i], 8, 0, 7, &reqs[i]), 0);
    shmem_barrier_all();
    if (me == 1)
        usleep(300000);
    for (int i = 0; i < ENDS; i++)
        if (me == 0)
            T_EQ(shmemx_req_free(&reqs[i]), 0);
        else if (me == 1)
            T_EQ(shmemx_match(reqs[i]), -ECANCELED);
}

/* To a PE that never looks. */
T(the_end_of_others_is_not_waited_for)
{
    shmemx_req_t r;

    for (int i = 0; i < ENDS && me == 0 && n_pes > 2; i++) {
        T_EQ(shmemx_send_init(&words[i], 8, 2, 7, &r), 0);
        T_EQ(shmemx_req_free(&r), 0);
    }
}

int main(void)
{
    st_begin();
    T_RUN(all_is_said_at_the_end);
    T_RUN(the_end_of_others_is_not_waited_for);
    return st_end();
}
