/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a job that is stopped for longer than SHMEM_TIMEOUT while one PE
 * has a note under way to another goes on afterwards.
 * Light: PEs wait for each other
 * PEs: 2
 * Launch: --ppn 1
 * Env: SHMEM_STALL=0 SHMEM_TIMEOUT=2
 * Timeout: 40 */
#include "msg.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Stops its parent, and wakes it. */
static void stop_after(pid_t pe, useconds_t after, useconds_t until)
{
    if (fork())
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    usleep(after);
    kill(pe, SIGSTOP);
    usleep(until - after);
    kill(pe, SIGCONT);
    _exit(0);
}

T(a_stopped_job_goes_on)
{
    struct msg_end e;

    if (me == 0)
        msg_sends(&e, 1, 1, 0);
    else
        msg_receives(&e, 0, 1, 0);
    T_EQ(shmemx_match(e.r), 0);
    shmem_barrier_all();
    /* PE 1 first: the note of PE 0 finds nothing that answers. */
    stop_after(getpid(), me ? 100000 : 600000, 4000000);
    usleep(300000);
    msg_free(&e, 1);
    usleep(600000);
    shmem_barrier_all();
}

int main(void)
{
    st_begin();
    T_RUN(a_stopped_job_goes_on);
    return st_end();
}
