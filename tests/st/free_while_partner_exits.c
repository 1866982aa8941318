/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE that ends while it says that it has freed its end of a
 * message leaves its partner able to match others.  The argument: so many
 * microseconds between; free_while_partner_exits.sh has several.
 * PEs: 3
 * Launch: --ppn 1
 * Timeout: 40 */
#include "msg.h"

#include <stdlib.h>
#include <unistd.h>

static struct msg_end first, then;

T(what_is_posted_gets_there)
{
    if (me == 0)
        msg_sends(&first, 2, 1, 0);
    else if (me == 2)
        msg_receives(&first, 0, 1, 0);
    if (me != 1)
        T_EQ(shmemx_match(first.r), 0);
    shmem_barrier_all();
}

/* Without PE 0. */
T(others_match)
{
    usleep(100000);
    if (me == 1)
        msg_sends(&then, 2, 2, 0);
    else
        msg_receives(&then, 1, 2, 0);
    T_EQ(shmemx_match(then.r), 0);
}

int main(int argc, char **argv)
{
    st_begin();
    T_RUN(what_is_posted_gets_there);
    if (me == 0) {
        T_EQ(shmemx_req_free(&first.r), 0);
        usleep((useconds_t)(argc > 1 ? atoi(argv[1]) : 50));
    } else {
        T_RUN(others_match);
        msg_free(&then, 1);
    }
    return st_end();
}
