/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts, gets, atomics, signals and strided transfers of another
 * PE end while their target computes and makes no call.
 * PEs: 2
 * Ppn: 4/2 2/1:SHMEM_OFI_AMO=message */
#include "budget.h"
#include "off_node.h"

#define COMPUTE_S 2.0           /* at most */

enum { TURNS = 20, LARGE = 1 << 17 };

static uint64_t computing;      /* stored by the target, read by get */
static uint64_t ended;          /* put by the other PE */
static uint64_t word, counter, sig, words[64];
static uint64_t *large, *local;
static int me, n_pes;

/* Does anything keep the target from its calls for so long, it is this. */
static void compute(void)
{
    __atomic_store_n(&computing, 1, __ATOMIC_RELEASE);
    shmem_barrier_all();
    for (double end = now() + COMPUTE_S; now() < end; )
        if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
            break;
    __atomic_store_n(&computing, 0, __ATOMIC_RELEASE);
}

/* One of each, on a PE that computes. */
static void turn(uint64_t r, int target)
{
    uint64_t four[4] = { r, r, r, r };

    shmem_uint64_p(&word, r, target);
    shmem_quiet();
    T_EQ(shmem_uint64_g(&word, target), r);
    T_EQ(shmem_uint64_atomic_fetch_inc(&counter, target), r - 1);
    shmem_putmem_signal(words, four, sizeof four, &sig, r, SHMEM_SIGNAL_SET,
                        target);
    shmem_uint64_iput(&words[8], four, 5, 1, 4, target);
    shmem_uint64_put_nbi(large, local, LARGE, target);
    shmem_quiet();
    T_EQ(shmem_uint64_atomic_fetch(&sig, target), r);
    memset(four, 0, sizeof four);
    shmem_uint64_iget(four, &words[8], 1, 5, 4, target);
    T_EQ(four[3], r);
    shmem_get64(local, large, LARGE, target);
}

/* The last get finds the target still at it. */
static void work_on(int target)
{
    struct timespec pause_ms = { 0, 200000000 };
    double begin;

    shmem_barrier_all();
    nanosleep(&pause_ms, NULL);      /* well into its computing */
    begin = now();
    for (uint64_t r = 1; r <= TURNS; r++)
        turn(r, target);
    T_EQ(shmem_uint64_g(&computing, target), 1);
    shmem_uint64_p(&ended, 1, target);
    printf("PE %d: %.2f ms a turn\n", me, (now() - begin) / TURNS * 1e3);
}

T(operations_end_while_their_target_computes)
{
    if (me < n_pes / 2)
        compute();
    else
        work_on(me - n_pes / 2);
    shmem_barrier_all();
    T_EQ(counter, me < n_pes / 2 ? TURNS : 0);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    large = shmem_calloc(LARGE, sizeof *large);
    local = calloc(LARGE, sizeof *local);
    T_TRUE(local != NULL);
    T_RUN(operations_end_while_their_target_computes);
    free(local);
    shmem_finalize();
    return T_DONE();
}
