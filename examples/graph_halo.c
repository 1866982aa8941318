/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_halo.c - the row of cells of halo.c, whose steps are recorded once in a
 * graph and launched a thousand times.
 *
 * Shows: epochs, which wait for one signal more in each launch, though the
 * neighbour may be a step ahead; two steps in a graph, since two rows take
 * turns.  A launch is all that the host does for both. */
#include "example.h"

enum { CELLS = 128, LAUNCHES = 1000 };  /* of a PE, and a halo on each side */

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
    for (int t = 0; t < 2 * LAUNCHES; t++) {
        double *was = from;

        for (int i = 1; i <= cells; i++)
            to[i] = 0.5 * (from[i - 1] + from[i + 1]);
        from = to;
        to = was;
    }
    return rows;
}

struct part {
    double *row[2];
    uint64_t *come;                     /* from the left, from the right */
    shmemx_epoch_t left, right;
    struct work work[2];
};

/* A step of row r: into the stream, or into the graph that it records. */
static void step(struct part *p, int r, shmemx_stream_t s)
{
    int me = shmem_my_pe(), n = shmem_n_pes();

    if (me > 0)
        TRY(shmemx_double_put_signal_on_stream(
                &p->row[r][CELLS + 1], &p->row[r][1], 1, &p->come[1], 1,
                SHMEM_SIGNAL_ADD, me - 1, s));
    if (me < n - 1)
        TRY(shmemx_double_put_signal_on_stream(
                &p->row[r][0], &p->row[r][CELLS], 1, &p->come[0], 1,
                SHMEM_SIGNAL_ADD, me + 1, s));
    if (me > 0)
        TRY(shmemx_epoch_wait_on_stream(p->left, 1, s));
    if (me < n - 1)
        TRY(shmemx_epoch_wait_on_stream(p->right, 1, s));
    LAUNCH(s, relax, CELLS, &p->work[r]);
}

int main(void)
{
    double cells[CELLS + 2] = { 0 }, *right;
    shmemx_stream_t s;
    shmemx_graph_t graph;
    struct part part;
    int me, n, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    for (int r = 0; r < 2; r++)
        part.row[r] = (double *)device_calloc(CELLS + 2, sizeof(double));
    part.come = (uint64_t *)device_calloc(2, sizeof *part.come);
    for (int r = 0; r < 2; r++) {
        part.work[r].from = part.row[r];
        part.work[r].to = part.row[!r];
    }
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_epoch_create(&part.come[0], &part.left));
    TRY(shmemx_epoch_create(&part.come[1], &part.right));
    for (int i = 1; i <= CELLS; i++)
        cells[i] = (me * CELLS + i) % 7;
    TRY(shmemx_stream_copy(s, part.row[0] + 1, cells + 1,
                           CELLS * sizeof *cells));
    TRY(shmemx_stream_sync(s));
    shmem_barrier_all();

    TRY(shmemx_stream_capture_begin(s));
    step(&part, 0, s);
    step(&part, 1, s);
    TRY(shmemx_stream_capture_end(s, &graph));
    for (int i = 0; i < LAUNCHES; i++)
        TRY(shmemx_graph_launch(graph, s));
    TRY(shmemx_stream_copy(s, cells + 1, part.row[0] + 1,
                           CELLS * sizeof *cells));
    TRY(shmemx_stream_sync(s));

    right = alone(n * CELLS);
    for (int i = 1; i <= CELLS; i++)
        wrong |= cells[i] != right[me * CELLS + i];
    free(right);
    TRY(shmemx_graph_destroy(graph));
    TRY(shmemx_epoch_destroy(part.left));
    TRY(shmemx_epoch_destroy(part.right));
    TRY(shmemx_stream_destroy(s));
    return finish("graph_halo: 1000 launches of two steps", wrong);
}
