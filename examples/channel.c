/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c - a ring of cells, a part on each PE, is relaxed step by step;
 * neighbours exchange their outermost cells by messages.
 *
 * Shows: sends and receives that are matched once and started in each step,
 * all four with one call.  A message waits for its receive, so no PE counts
 * steps, and nothing takes turns: what a kernel still reads is not written,
 * since the next receive is started behind it.  Tags distinguish the
 * two messages where both neighbours are the same PE, or this one. */
#include "example.h"

enum { CELLS = 256, STEPS = 40 };       /* of a PE */
enum { TO_LEFT, TO_RIGHT };             /* tags */

struct work {
    const double *from, *in;            /* in: of the neighbours */
    double *to, *out;                   /* out: for them */
};

/* A cell becomes the mean of its neighbours. */
KERNEL(smooth, struct work)
{
    double left = i ? arg->from[i - 1] : arg->in[0];
    double right = i < CELLS - 1 ? arg->from[i + 1] : arg->in[1];

    arg->to[i] = 0.5 * (left + right);
    if (i == 0)
        arg->out[0] = arg->to[i];
    if (i == CELLS - 1)
        arg->out[1] = arg->to[i];
}

/* The same on the host, for the ring as a whole. */
static double *alone(int cells)
{
    double *rows = (double *)calloc(2 * cells, sizeof *rows);
    double *from = rows, *to = rows + cells;

    if (!rows)
        shmem_global_exit(1);
    for (int i = 0; i < cells; i++)
        from[i] = i % 7;
    for (int t = 0; t < STEPS; t++) {
        double *was = from;

        for (int i = 0; i < cells; i++)
            to[i] = 0.5 * (from[(i + cells - 1) % cells] +
                           from[(i + 1) % cells]);
        from = to;
        to = was;
    }
    return rows;                        /* STEPS is even */
}

int main(void)
{
    double *row[2], *in, *out, cells[CELLS], *right;
    shmemx_req_t all[4];
    struct work work[2];
    shmemx_stream_t s;
    shmemx_queue_t q;
    int me, before, after, wrong = 0;

    begin();
    me = shmem_my_pe();
    before = (me + shmem_n_pes() - 1) % shmem_n_pes();
    after = (me + 1) % shmem_n_pes();
    row[0] = (double *)device_calloc(CELLS, sizeof **row);
    row[1] = (double *)device_calloc(CELLS, sizeof **row);
    in = (double *)device_calloc(2, sizeof *in);
    out = (double *)device_calloc(2, sizeof *out);
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_queue_create(s, NULL, 0, &q));

    TRY(shmemx_recv_init(&in[0], sizeof *in, before, TO_RIGHT, &all[0]));
    TRY(shmemx_recv_init(&in[1], sizeof *in, after, TO_LEFT, &all[1]));
    TRY(shmemx_send_init(&out[0], sizeof *out, before, TO_LEFT, &all[2]));
    TRY(shmemx_send_init(&out[1], sizeof *out, after, TO_RIGHT, &all[3]));
    TRY(shmemx_matchall(4, all));       /* waits for the neighbours, once */

    for (int i = 0; i < CELLS; i++)
        cells[i] = (me * CELLS + i) % 7;
    TRY(shmemx_stream_copy(s, row[0], cells, sizeof cells));
    TRY(shmemx_stream_copy(s, &out[0], &cells[0], sizeof *out));
    TRY(shmemx_stream_copy(s, &out[1], &cells[CELLS - 1], sizeof *out));

    for (int r = 0; r < 2; r++) {
        work[r].from = row[r];
        work[r].to = row[!r];
        work[r].in = in;
        work[r].out = out;
    }
    for (int t = 0; t < STEPS; t++) {
        TRY(shmemx_enqueue_startall(q, 4, all));
        /* What needs no neighbour could run here. */
        TRY(shmemx_enqueue_waitall(q, 4, all));
        LAUNCH(s, smooth, CELLS, &work[t % 2]);
    }
    TRY(shmemx_stream_copy(s, cells, row[0], sizeof cells));
    TRY(shmemx_stream_sync(s));

    right = alone(shmem_n_pes() * CELLS);
    for (int i = 0; i < CELLS; i++)
        wrong |= cells[i] != right[me * CELLS + i];
    free(right);
    for (int i = 0; i < 4; i++)
        TRY(shmemx_req_free(&all[i]));
    TRY(shmemx_queue_destroy(q));
    TRY(shmemx_stream_destroy(s));
    return finish("channel: 40 steps with matched messages", wrong);
}
