/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a kernel wrote before a put on its stream is what arrives,
 * and a kernel behind a wait or a get sees what they brought.
 * PEs: 1 2 3
 * Ppn: 2/1 3/1 */
#include "st.h"

enum { N = 2000, ROUNDS = 20 };

struct work {
    long *from, *to, add;
};

/* Slow at first, so that who does not wait for it is found. */
static void write_all(const shmemx_item_t *item, void *arg)
{
    struct work *w = arg;

    if (item->item == 0)
        usleep(1000);
    for (int i = 0; i < N; i++)
        w->to[i] = w->from ? w->from[i] + w->add : w->add + i;
}

T(kernels_and_operations_take_turns)
{
    shmemx_grid_t one = { .groups = 1, .items = 1, .phases = 1 };
    static struct work make[ROUNDS], take[ROUNDS], again[ROUNDS];
    shmemx_stream_t s = st_make();

    for (int device = 0; device < 2; device++) {
        long *out = st_room(device, N * sizeof *out);
        long *in = st_room(device, N * sizeof *in), *seen = malloc(2 * N * 8);
        long *got = st_room(device, N * sizeof *got);
        uint64_t *sig = st_room(device, 2 * sizeof *sig);

        shmem_barrier_all();
        for (int r = 0; r < ROUNDS; r++) {
            uint64_t count = (uint64_t)r + 1;

            make[r] = (struct work){ NULL, out, 1000 * me + r };
            take[r] = (struct work){ in, seen, 0 };
            again[r] = (struct work){ got, seen + N, 0 };
            T_EQ(shmemx_stream_launch(s, &one, write_all, &make[r]), 0);
            T_EQ(shmemx_long_put_signal_on_stream(
                     in, out, N, &sig[0], 1, SHMEM_SIGNAL_ADD, next, s), 0);
            T_EQ(shmemx_signal_wait_until_on_stream(NULL, &sig[0],
                                                    SHMEM_CMP_GE, count, s),
                 0);
            T_EQ(shmemx_stream_launch(s, &one, write_all, &take[r]), 0);
            T_EQ(shmemx_long_get_on_stream(got, out, N, prev, s), 0);
            T_EQ(shmemx_stream_launch(s, &one, write_all, &again[r]), 0);
            T_EQ(shmemx_stream_sync(s), 0);
            for (int i = 0; i < 2 * N; i += 97)
                T_EQ(seen[i], 1000 * prev + r + i % N);
            shmem_barrier_all();
        }
        free(seen);
        shmem_free(out);
        shmem_free(in);
        shmem_free(got);
        shmem_free(sig);
    }
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    if (!st_kernels())
        return 77;
    T_RUN(kernels_and_operations_take_turns);
    return st_end();
}
