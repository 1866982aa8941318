/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: no PE leaves a barrier between nodes before all have come to it,
 * also where the numbers of the barriers need one byte more.
 * PEs: 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>

enum { ROUNDS = 66000, CLOSE = 8, SELDOM = 1024 };

static uint64_t came;           /* to so many barriers */

/* Around numbers whose low bytes are all ones, and now and then. */
static bool checks(uint64_t round)
{
    return (round + CLOSE) % 256 < 2 * CLOSE || round % SELDOM == 0;
}

T(a_barrier_is_left_when_all_have_come)
{
    int other = 1 - shmem_my_pe();
    uint64_t theirs, wrong = 0;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        __atomic_store_n(&came, round, __ATOMIC_RELEASE);
        shmem_barrier_all();
        if (!checks(round))
            continue;
        theirs = shmem_uint64_g(&came, other);
        wrong += theirs != round && theirs != round + 1;
    }
    T_EQ(wrong, 0);
}

int main(void)
{
    shmem_init();
    T_RUN(a_barrier_is_left_when_all_have_come);
    shmem_finalize();
    return T_DONE();
}
