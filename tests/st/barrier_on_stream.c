/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: streams of all members synchronize in barriers, of the world
 * and of
 * teams, and see what was put before them.
 * PEs: 1 2 3 4
 * Ppn: 2/1 4/2 3/1 5/2
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "../t.h"
#include <errno.h>
#include <shmem.h>
#include <shmemx_st.h>
#include <string.h>

enum { ROUNDS = 60, N = 300 };

static int me, n_pes;
static shmemx_stream_t s;

T(a_barrier_shows_what_all_have_put)
{
    long *d = shmem_space_calloc(SHMEM_SPACE_DEVICE, (size_t)n_pes * N,
                                 sizeof *d);
    static long mine[ROUNDS][N];
    long *seen = calloc((size_t)ROUNDS * (size_t)n_pes * N, sizeof *seen);
    size_t all = (size_t)n_pes * N;

    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < N; i++)
            mine[r][i] = 1000000 * r + 1000 * me + i;
        for (int pe = 0; pe < n_pes; pe++)
            T_EQ(shmemx_long_put_nbi_on_stream(&d[me * N], mine[r], N, pe, s),
                 0);
        T_EQ(shmemx_barrier_all_on_stream(s), 0);
        T_EQ(shmemx_stream_copy(s, &seen[(size_t)r * all], d,
                                all * sizeof *d), 0);
        T_EQ(shmemx_sync_all_on_stream(s), 0);
    }
    T_EQ(shmemx_stream_sync(s), 0);
    for (int r = 0; r < ROUNDS; r++)
        for (int pe = 0; pe < n_pes; pe++)
            for (int i = 0; i < N; i++) {
                long is = seen[(size_t)r * all + (size_t)(pe * N + i)];

                if (is != 1000000 * r + 1000 * pe + i) {
                    T_EQ(is, 1000000 * r + 1000 * pe + i);
                    r = ROUNDS;
                    pe = n_pes;
                    break;
                }
            }
    free(seen);
    shmem_barrier_all();
    shmem_free(d);
}

T(teams_synchronize_apart)
{
    shmem_team_t odd_even, teams[2];
    long *word = shmem_calloc(1, sizeof *word), was[ROUNDS];
    int n, first;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n_pes + 1) / 2, NULL, 0,
                             &teams[0]);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1 % n_pes, 2,
                             n_pes > 1 ? n_pes / 2 : 1, NULL, 0, &teams[1]);
    odd_even = teams[me % 2];
    n = shmem_team_n_pes(odd_even);
    first = shmem_team_translate_pe(odd_even, 0, SHMEM_TEAM_WORLD);
    for (int r = 0; r < ROUNDS; r++) {
        T_EQ(shmemx_long_atomic_inc_on_stream(word, first, s), 0);
        T_EQ(shmemx_barrier_on_stream(odd_even, s), 0);
        T_EQ(shmemx_long_g_on_stream(&was[r], word, first, s), 0);
        T_EQ(shmemx_team_sync_on_stream(odd_even, s), 0);
    }
    T_EQ(shmemx_stream_sync(s), 0);
    for (int r = 0; r < ROUNDS; r++)
        T_EQ(was[r], (long)(r + 1) * n);
    shmem_barrier_all();
    shmem_team_destroy(teams[0]);
    shmem_team_destroy(teams[1]);
    shmem_free(word);
}

T(what_is_no_team_is_refused)
{
    T_EQ(shmemx_barrier_on_stream(SHMEM_TEAM_INVALID, s), -EINVAL);
    T_EQ(shmemx_team_sync_on_stream(SHMEM_TEAM_INVALID, s), -EINVAL);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_EQ(shmemx_stream_create(&s), 0);
    T_RUN(a_barrier_shows_what_all_have_put);
    T_RUN(teams_synchronize_apart);
    T_RUN(what_is_no_team_is_refused);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_finalize();
    return T_DONE();
}
