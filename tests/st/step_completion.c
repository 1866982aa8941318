/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the step of a put ends when its source is free, that of a get
 * or of an atomic that fetches when the result is there; a nonblocking put
 * needs a quiet for that.
 * PEs: 1 2
 * Ppn: 2/1
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=32M */
#include "st.h"

enum { N = 200000, ROUNDS = 8 };

static long want[N], got[N];
static shmemx_stream_t s;

/* All of p, in any memory, is that value. */
static void all_are(const long *p, long value)
{
    T_EQ(shmemx_stream_copy(s, got, p, sizeof got), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    for (int i = 0; i < N; i++)
        if (got[i] != value) {
            T_EQ(got[i], value);
            break;
        }
}

static void fill(long *p, int byte)
{
    T_EQ(shmemx_stream_fill(s, p, byte, N * sizeof *p), 0);
}

T(sources_are_free_and_results_are_there)
{
    for (int device = 0; device < 2; device++) {
        long *out = st_room(device, sizeof want), *in = st_room(device,
                                                                sizeof want);
        long *back = st_room(device, sizeof want);
        long *word = st_room(device, 2 * sizeof *word);

        for (int r = 0; r < ROUNDS; r++) {
            size_t n = r & 1 ? N : 300;

            shmem_barrier_all();
            fill(in, 0x22);
            T_EQ(shmemx_stream_sync(s), 0);
            shmem_barrier_all();
            fill(out, 0x11);
            fill(back, 0);
            if (r & 2) {
                T_EQ(shmemx_long_put_nbi_on_stream(in, out, n, next, s), 0);
                T_EQ(shmemx_quiet_on_stream(s), 0);
            } else {
                T_EQ(shmemx_long_put_on_stream(in, out, n, next, s), 0);
            }
            fill(out, 0x33);
            T_EQ(shmemx_quiet_on_stream(s), 0);
            T_EQ(shmemx_long_get_on_stream(back, in, n, next, s), 0);
            T_EQ(shmemx_stream_copy(s, want, back, n * sizeof *want), 0);
            fill(back, 0);
            T_EQ(shmemx_stream_sync(s), 0);
            for (size_t i = 0; i < n; i += 101)
                T_EQ(want[i], 0x1111111111111111);
            all_are(out, 0x3333333333333333);
        }
        for (long r = 0; r < 50; r++) {
            long seen[2] = { -1, -1 };

            T_EQ(shmemx_long_atomic_fetch_add_on_stream(word + 1, word, 0,
                                                        next, s), 0);
            T_EQ(shmemx_stream_copy(s, &seen[0], word + 1, sizeof seen[0]),
                 0);
            T_EQ(shmemx_long_atomic_fetch_inc_on_stream(&seen[1], word, next,
                                                        s), 0);
            T_EQ(shmemx_stream_fill(s, word + 1, 0x44, sizeof *word), 0);
            T_EQ(shmemx_stream_sync(s), 0);
            T_EQ(seen[0], r);
            T_EQ(seen[1], r);
        }
        shmem_barrier_all();
        shmem_free(out);
        shmem_free(in);
        shmem_free(back);
        shmem_free(word);
    }
}

int main(void)
{
    st_begin();
    s = st_make();
    T_RUN(sources_are_free_and_results_are_there);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}
