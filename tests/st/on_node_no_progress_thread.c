/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: on one node no thread but the streams' own has a part in what
 * they communicate: no other runs meanwhile.
 * PEs: 1 2
 * Env: SHMEM_DEVICE=software
 * Timeout: 30 */
#define _GNU_SOURCE 1
#include "st.h"
#include <dirent.h>
#include <unistd.h>

enum { THREADS = 64, ROUNDS = 5000 };
#define SLACK_NS 2000000        /* what a thread does of its own accord */

static struct thread {
    int id;
    uint64_t ns;
} before[THREADS];
static int n_before;

static uint64_t ran_ns(int id)
{
    unsigned long long ns = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
    f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%llu", &ns) != 1)
            ns = 0;
        fclose(f);
    }
    return ns;
}

static int threads(struct thread *out)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    int n = 0;

    if (!d)
        exit(77);
    while ((e = readdir(d)) && n < THREADS) {
        if (e->d_name[0] == '.')
            continue;
        out[n].id = atoi(e->d_name);
        out[n].ns = ran_ns(out[n].id);
        n++;
    }
    closedir(d);
    return n;
}

static uint64_t *sig, *word, *in;

/* Every family. */
static void step(shmemx_stream_t s, uint64_t r)
{
    static uint64_t value, was, got[4];
    static uint64_t out[4] = { 1, 2, 3, 4 };

    T_EQ(shmemx_uint64_put_on_stream(in, out, 4, next, s), 0);
    T_EQ(shmemx_uint64_put_nbi_on_stream(in, out, 4, next, s), 0);
    T_EQ(shmemx_uint64_p_on_stream(in, r, next, s), 0);
    T_EQ(shmemx_uint64_iput_on_stream(in, out, 2, 1, 2, next, s), 0);
    T_EQ(shmemx_uint64_get_on_stream(got, in, 4, next, s), 0);
    T_EQ(shmemx_uint64_g_on_stream(&value, in, next, s), 0);
    T_EQ(shmemx_uint64_atomic_add_on_stream(word, 1, next, s), 0);
    T_EQ(shmemx_uint64_atomic_fetch_add_on_stream(&was, word, 1, next, s), 0);
    T_EQ(shmemx_fence_on_stream(s), 0);
    T_EQ(shmemx_uint64_put_signal_on_stream(in, out, 4, sig, 1,
                                            SHMEM_SIGNAL_ADD, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, sig, SHMEM_CMP_GE, r, s), 0);
}

T(streams_of_one_node_need_no_other_thread)
{
    struct thread after[THREADS];
    shmemx_stream_t s = st_make();
    uint64_t most = 0, sum = 0;
    int n, mine = (int)gettid();

    sig = shmem_calloc(1, sizeof *sig);
    word = shmem_calloc(1, sizeof *word);
    in = shmem_calloc(4, sizeof *in);
    shmem_barrier_all();
    n_before = threads(before);
    for (uint64_t r = 1; r <= ROUNDS; r++)
        step(s, r);
    T_EQ(shmemx_barrier_all_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    n = threads(after);
    for (int i = 0; i < n; i++) {
        uint64_t ns = after[i].ns;

        for (int k = 0; k < n_before; k++)
            ns -= before[k].id == after[i].id ? before[k].ns : 0;
        if (after[i].id == mine)
            continue;
        sum += ns;
        most = ns > most ? ns : most;
    }
    T_TRUE(most > 0);           /* the stream's own */
    T_TRUE(sum - most < SLACK_NS);
    T_EQ(*word, 2u * ROUNDS);
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(streams_of_one_node_need_no_other_thread);
    return st_end();
}
