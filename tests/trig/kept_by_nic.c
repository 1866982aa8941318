/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: triggers that are reset with an operation that was not hit stay
 * with the NIC; they leave it room for streams, whose operations go on by it
 * (nic.sh runs it, and reads the statistics).
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_DEVICE=software */
#include "../kernel/kernel.h"
#include <shmemx_trig.h>

enum { CYCLES = 100, PUTS = 50 };

static shmemx_trig_t trig;
static uint64_t signal_here;
static long to[PUTS], from[PUTS];

T(resets_leave_room_for_streams)
{
    shmemx_stream_t s;

    for (int i = 0; i < CYCLES; i++) {
        T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0, &trig), 0);
        T_EQ(shmemx_trig_signal_op(trig, 0, 1, &signal_here, 1,
                                   SHMEM_SIGNAL_ADD, next), 0);
        T_EQ(shmemx_trig_hit(trig, 0, 1), 0);
        T_EQ(shmemx_trig_wait(trig, 0, 1), 0);
        T_EQ(shmemx_trig_signal_op(trig, 0, 2, &signal_here, 1,
                                   SHMEM_SIGNAL_ADD, next), 0);
        T_EQ(shmemx_trig_reset(trig, 0), 0);
        T_EQ(shmemx_trig_free(&trig), 0);
    }
    shmem_barrier_all();
    T_EQ(signal_here, CYCLES);
    T_EQ(shmemx_stream_create(&s), 0);
    for (int i = 0; i < PUTS; i++) {
        from[i] = me + i;
        T_EQ(shmemx_putmem_on_stream(&to[i], &from[i], sizeof *to, next, s), 0);
    }
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    for (int i = 0; i < PUTS; i++)
        T_EQ(to[i], prev + i);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    kernel_begin();
    T_RUN(resets_leave_room_for_streams);
    return kernel_end();
}
