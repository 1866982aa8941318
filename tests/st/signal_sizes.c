/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a signal on a stream comes after the bytes that it is for, of
 * each size, also where the target's processor stores some of them and the
 * provider the signal; a quiet waits for a signal without data.
 * PEs: 2
 * Ppn: 2/1 2/1:SHMEM_OFI_AMO=message 2/1:SHMEM_OFI_AMO=nic 2/1:SHMEM_OFI_PROVIDER=sockets */
#include "st.h"

enum { MOST = 16, ROUNDS = 120 };

static unsigned char dest[2][MOST], source[2][MOST];    /* by round */
static uint64_t signals[2], *seen;

static unsigned char byte_of(int pe, int round, size_t i)
{
    return (unsigned char)(pe * 101 + round * 7 + (int)i + 1);
}

static void one_round(int round, size_t len, bool nbi, shmemx_stream_t s)
{
    int k = round & 1;
    int rc;

    for (size_t i = 0; i < len; i++)
        source[k][i] = byte_of(me, round, i);
    rc = nbi ? shmemx_putmem_signal_nbi_on_stream(dest[k], source[k], len,
                                                  &signals[k], 1,
                                                  SHMEM_SIGNAL_ADD, next, s)
             : shmemx_putmem_signal_on_stream(dest[k], source[k], len,
                                              &signals[k], 1, SHMEM_SIGNAL_ADD,
                                              next, s);
    T_EQ(rc, 0);
    shmem_uint64_wait_until(&signals[k], SHMEM_CMP_GE, (uint64_t)round / 2 + 1);
    for (size_t i = 0; i < len; i++)
        T_EQ(dest[k][i], byte_of(prev, round, i));
    T_EQ(shmemx_stream_sync(s), 0);
}

/* Each PE's next round starts when it has read this one's: the bytes of the
 * round after that are the first to be written over. */
T(signals_come_after_their_bytes)
{
    shmemx_stream_t s = st_make();

    for (int nbi = 0; nbi < 2; nbi++)
        for (size_t len = 1; len <= MOST; len++) {
            signals[0] = signals[1] = 0;
            shmem_barrier_all();
            for (int round = 0; round < ROUNDS; round++)
                one_round(round, len, nbi, s);
            shmem_barrier_all();
        }
    T_EQ(shmemx_stream_destroy(s), 0);
}

T(quiet_waits_for_a_signal_without_bytes)
{
    shmemx_stream_t s = st_make();

    *seen = 0;
    shmem_barrier_all();
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        T_EQ(shmemx_putmem_signal_nbi_on_stream(dest[0], source[0], 0, seen, 1,
                                                SHMEM_SIGNAL_ADD, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_LE(i, shmem_uint64_atomic_fetch(seen, next));
    }
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    seen = shmem_calloc(1, sizeof *seen);
    T_RUN(signals_come_after_their_bytes);
    T_RUN(quiet_waits_for_a_signal_without_bytes);
    shmem_free(seen);
    return st_end();
}
