/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.c - a row of cells, a part on each PE, is relaxed step by step; each
 * PE needs its neighbours' outermost cells.
 *
 * Shows: requests that are made once and started in each step, with one store
 * of the device for both neighbours.  Two rows take turns, so that no PE
 * writes into a row that its neighbour still reads: a cell of step t + 2 is
 * sent by who has got mine of step t + 1, and that I sent when step t was done.
 * For the same reason each side has a count of its own: one may be a step
 * ahead. */
#include "example.h"

enum { CELLS = 256, STEPS = 40 };       /* of a PE, and a halo on each side */

struct work {
    const double *from;
    double *to;
};

/* A cell becomes the mean of its neighbours. */
KERNEL(relax, struct work)
{
    arg->to[i + 1] = 0.5 * (arg->from[i] + arg->from[i + 2]);
}

/* The same on the host, for the row as a whole, which ends in zeros. */
static double *alone(int cells)
{
    double *rows = (double *)calloc(2 * (cells + 2), sizeof *rows);
    double *from = rows, *to = rows + cells + 2;

    if (!rows)
        shmem_global_exit(1);
    for (int i = 1; i <= cells; i++)
        from[i] = i % 7;
    for (int t = 0; t < STEPS; t++) {
        double *was = from;

        for (int i = 1; i <= cells; i++)
            to[i] = 0.5 * (from[i - 1] + from[i + 1]);
        from = to;
        to = was;
    }
    return rows;                        /* STEPS is even */
}

int main(void)
{
    double *row[2], cells[CELLS + 2] = { 0 }, *right;
    shmemx_req_t side[2][2] = { { NULL } };
    struct work work[2];
    shmemx_stream_t s;
    shmemx_queue_t q;
    uint64_t *come;                     /* from the left, from the right */
    int me, n, count = 0, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    row[0] = (double *)device_calloc(CELLS + 2, sizeof **row);
    row[1] = (double *)device_calloc(CELLS + 2, sizeof **row);
    come = (uint64_t *)device_calloc(2, sizeof *come);
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_queue_create(s, NULL, 0, &q));

    for (int r = 0; r < 2; r++) {       /* requests for this row's ends */
        count = 0;
        if (me > 0)
            TRY(shmemx_put_signal_init(&row[r][CELLS + 1], &row[r][1],
                                       sizeof **row, &come[1], 1,
                                       SHMEM_SIGNAL_ADD, me - 1,
                                       &side[r][count++]));
        if (me < n - 1)
            TRY(shmemx_put_signal_init(&row[r][0], &row[r][CELLS],
                                       sizeof **row, &come[0], 1,
                                       SHMEM_SIGNAL_ADD, me + 1,
                                       &side[r][count++]));
        work[r].from = row[r];
        work[r].to = row[!r];
    }
    for (int i = 1; i <= CELLS; i++)
        cells[i] = (me * CELLS + i) % 7;
    TRY(shmemx_stream_copy(s, row[0] + 1, cells + 1, CELLS * sizeof *cells));

    for (int t = 0; t < STEPS; t++) {
        if (count)
            TRY(shmemx_enqueue_startall(q, count, side[t % 2]));
        if (me > 0)
            TRY(shmemx_signal_wait_until_on_stream(NULL, &come[0], SHMEM_CMP_GE,
                                                   t + 1, s));
        if (me < n - 1)
            TRY(shmemx_signal_wait_until_on_stream(NULL, &come[1], SHMEM_CMP_GE,
                                                   t + 1, s));
        if (count)
            TRY(shmemx_enqueue_waitall(q, count, side[t % 2]));
        LAUNCH(s, relax, CELLS, &work[t % 2]);
    }
    TRY(shmemx_stream_copy(s, cells + 1, row[0] + 1, CELLS * sizeof *cells));
    TRY(shmemx_stream_sync(s));

    right = alone(n * CELLS);
    for (int i = 1; i <= CELLS; i++)
        wrong |= cells[i] != right[me * CELLS + i];
    free(right);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < count; i++)
            TRY(shmemx_req_free(&side[r][i]));
    TRY(shmemx_queue_destroy(q));
    TRY(shmemx_stream_destroy(s));
    return finish("halo: 40 steps with persistent requests", wrong);
}
