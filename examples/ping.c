/* SPDX-License-Identifier: BSD-3-Clause */
/* ping.c - two PEs send a number to and fro in the order of a stream.
 *
 * Shows: a put with a signal, and a wait for one, as steps between kernels.
 * The host enqueues all round trips at once and has no part in them: each PE's
 * kernel adds 1 when the number has come, and the put behind it sends what the
 * kernel wrote. */
#include "example.h"

enum { TRIPS = 50 };

struct work {
    long *number;
};

KERNEL(add_one, struct work)
{
    if (i == 0)
        *arg->number += 1;
}

int main(void)
{
    struct work work;
    shmemx_stream_t s;
    uint64_t *come;
    long got = 0;
    int me, other;

    begin();
    me = shmem_my_pe();
    other = me ^ 1;                     /* of 4 PEs: 0 and 1, 2 and 3 */
    work.number = (long *)device_calloc(1, sizeof *work.number);
    come = (uint64_t *)device_calloc(1, sizeof *come);
    TRY(shmemx_stream_create(&s));

    for (uint64_t trip = 1; trip <= TRIPS && other < shmem_n_pes(); trip++) {
        if (me % 2)
            TRY(shmemx_signal_wait_until_on_stream(NULL, come, SHMEM_CMP_GE,
                                                   trip, s));
        LAUNCH(s, add_one, 1, &work);
        /* The signal arrives behind the number. */
        TRY(shmemx_long_put_signal_on_stream(work.number, work.number, 1, come,
                                             1, SHMEM_SIGNAL_ADD, other, s));
        if (me % 2 == 0)
            TRY(shmemx_signal_wait_until_on_stream(NULL, come, SHMEM_CMP_GE,
                                                   trip, s));
    }
    TRY(shmemx_stream_copy(s, &got, work.number, sizeof got));
    TRY(shmemx_quiet_on_stream(s));
    TRY(shmemx_stream_sync(s));         /* the host waits once */

    TRY(shmemx_stream_destroy(s));
    return finish("ping: 50 round trips in stream order",
                  other < shmem_n_pes() && got != 2 * TRIPS);
}
