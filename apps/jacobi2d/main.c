/* SPDX-License-Identifier: BSD-3-Clause */
/* jacobi2d - Jacobi's iteration for Laplace's equation on a plate that is shared
 * out to a grid of PEs: a point becomes the mean of the four around it. */
#include <float.h>
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "../halo/app.h"
#include "../halo/halo.h"
#include "../halo/options.h"
#include "../halo/program.h"
#include "../halo/trials.h"
#include "plate.h"

#include "../halo/kernels.inc"
#include "kernels.inc"
#include "../halo/ki.inc"
#include "ki.inc"

KERNEL_TEXT(jacobi_text, "apps/jacobi2d/kernels.inc");
HALO_KERNELS(SOFT_KERNEL)
JACOBI_KERNELS(SOFT_KERNEL)
static const struct kernel kernels[] = {
    HALO_KERNELS(KERNEL_ROW) JACOBI_KERNELS(KERNEL_ROW)
};
enum { K_RELAX = 2, K_SQUARE_ROWS, K_TOTAL,
       KERNELS = sizeof kernels / sizeof *kernels };

SOFT_KERNEL(jacobi_run)
SOFT_KERNEL(exchange_pack)

KI_TEXT(ki, KI_TEXT_FILE, KI_PTX_FILE);
static const struct persistent calling = {
    { KERNEL_ROW(jacobi_run) KERNEL_ROW(exchange_pack) }, ki_text, ki_ptx
};

enum { SIDES = 4, POINTS_MOST = 1 << 22 };      /* POINTS_MOST: to compare */

static struct jacobi {
    struct common o;
    struct plate plate;
    long iters, every, p[2];    /* p: PEs along the columns, the rows */
    struct device device;
    struct grid grid;
    size_t rows, cols, points;  /* of this PE; points: with its ghosts */
    long row, col;              /* its first one's */
    bool first, last;           /* of the PEs along the columns */
    double *u[2], *host;        /* two fields in device memory, one here */
    double *want;               /* symmetric; [ny][nx] in the end, or NULL */
    double *want_norms;         /* the same; one for each check */
    double *sums, *norms;       /* of the rows; squares: device memory */
    struct halo_side side[SIDES];
    struct relaxing step[2];
    struct totaling totaling;
    struct jacobi_run inside;   /* of the run of ki at hand */
    shmemx_queue_t queue;       /* for the norm on the stream: */
    shmemx_req_t reduce;
    struct trials t;
} jac;

static long checks(void)
{
    return jac.every ? jac.iters / jac.every : 0;
}

/* ---- what is sent and received ---- */

/* The sides of a flat grid begin with those that have no corner.  There is
 * nothing beside the first and the last column. */
static void make_sides(void)
{
    for (int i = 0; i < SIDES; i++) {
        struct halo_side *s = &jac.side[i];
        const int *step = jac.grid.step[i];

        s->pe = (step[X] < 0 && jac.first) || (step[X] > 0 && jac.last)
              ? -1 : grid_neighbour(&jac.grid, app.me, i);
        s->opposite = jac.grid.opposite[i];
        s->from = grid_places(step, jac.rows, jac.cols, false, &s->n);
        s->to = grid_places(step, jac.rows, jac.cols, true, &s->n);
    }
}

/* ---- a run ---- */

/* This block with what its edges are held at; other ghosts are no numbers. */
static void fill(bool at_first)
{
    double inner = at_first ? 0 : NAN;
    size_t width = jac.cols + 2;

    for (size_t i = 0; i < jac.points; i++)
        jac.host[i] = NAN;
    for (size_t r = 0; r < jac.rows; r++) {
        double *row = jac.host + (r + 1) * width;

        for (size_t c = 1; c <= jac.cols; c++)
            row[c] = inner;
        if (jac.first)
            row[0] = plate_edge(&jac.plate, jac.row + (long)r);
        if (jac.last)
            row[width - 1] = plate_edge(&jac.plate, jac.row + (long)r);
    }
}

/* Where the host drives, it waits for the norm; else the stream reduces it. */
static void norm_of(struct halo *h, enum halo_mode m, long check)
{
    struct device *d = halo_device(h);
    double *norm = jac.norms + check;

    device_launch(d, K_SQUARE_ROWS, jac.rows, &jac.step[halo_phase(h)]);
    device_launch(d, K_TOTAL, 1, &jac.totaling);
    if (m == HALO_CPU || m == HALO_HOST) {
        device_sync(d);
        app_need(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, norm,
                                         jac.totaling.total, 1), "a norm");
        return;
    }
    app_need(shmemx_enqueue_startall(jac.queue, 1, &jac.reduce), "a norm");
    app_need(shmemx_enqueue_waitall(jac.queue, 1, &jac.reduce), "a norm");
    device_copy(d, norm, jac.totaling.total, sizeof *norm);
}

/* All iterations by one kernel. */
static void solve_inside(struct halo *h, long iters)
{
    jac.inside = (struct jacobi_run){
        .step = { jac.step[0], jac.step[1] }, .totaling = jac.totaling,
        .norms = jac.norms, .iters = (word64)iters, .every = (word64)jac.every
    };
    halo_exchange(h, &jac.inside.x);
    halo_run(h, &jac.inside, iters);
}

static void solve(struct halo *h, enum halo_mode m, long iters)
{
    if (halo_is_inside(m)) {
        solve_inside(h, iters);
        return;
    }
    for (long i = 0; i < iters; i++) {
        device_launch(halo_device(h), K_RELAX, jac.rows * jac.cols,
                      &jac.step[halo_phase(h)]);
        halo_gather(h);
        if (jac.every && (i + 1) % jac.every == 0)
            norm_of(h, m, i / jac.every);
        halo_scatter(h);
    }
}

/* ---- is it right ---- */

/* The plate in the end: PE 0 goes through all iterations by itself, the others
 * take it from there. */
static void make_wanted(void)
{
    size_t all = (size_t)jac.plate.nx * (size_t)jac.plate.ny;
    size_t n = (size_t)checks();

    if (jac.o.verify == VERIFY_NONE)
        return;
    jac.want = app_host_room(all * sizeof(double));
    jac.want_norms = app_host_room((n + 1) * sizeof(double));
    if (app.me == 0)
        plate_serial(&jac.plate, jac.iters, jac.every, jac.want,
                     jac.want_norms);
    shmem_barrier_all();
    if (app.me) {
        shmem_getmem(jac.want, jac.want, all * sizeof(double), 0);
        shmem_getmem(jac.want_norms, jac.want_norms, n * sizeof(double), 0);
    }
}

static void check_norms(enum halo_mode m)
{
    size_t n = (size_t)checks();
    double *norms = app_memory(n + 1, sizeof *norms);

    device_copy(&jac.device, norms, jac.norms, n * sizeof *norms);
    device_sync(&jac.device);
    for (size_t i = 0; i < n; i++) {
        double is = sqrt(norms[i]), want = jac.want_norms[i];

        if (!(fabs(is - want) <= 1e-12 * want + DBL_MIN))
            app_die("VERIFY", "%s: the norm of iteration %ld is %.17g on PE %d, "
                    "and should be %.17g", halo_mode_names[m],
                    ((long)i + 1) * jac.every, is, app.me, want);
    }
    free(norms);
}

static void check(struct halo *h, enum halo_mode m)
{
    int end = !halo_phase(h);
    uint64_t wrong = 0;

    device_copy(&jac.device, jac.host, jac.u[end], jac.points * sizeof(double));
    device_sync(&jac.device);
    for (size_t r = 0; r < jac.rows; r++)
        for (size_t c = 0; c < jac.cols; c++)
            wrong += !(jac.host[(r + 1) * (jac.cols + 2) + c + 1] ==
                       jac.want[(jac.row + (long)r) * jac.plate.nx + jac.col +
                                (long)c]);
    wrong = app_sum(wrong);
    if (wrong && app.me == 0)
        app_die("VERIFY", "%s, %ld x %ld on %ldx%ld PEs, %ld iteration%s: %lu "
                "point%s wrong", halo_mode_names[m], jac.plate.nx, jac.plate.ny,
                jac.p[X], jac.p[Y], jac.iters, jac.iters == 1 ? "" : "s",
                (unsigned long)wrong, wrong == 1 ? " is" : "s are");
    shmem_barrier_all();        /* else PE 0 ends the job */
    check_norms(m);
    report_verified();
}

/* ---- rows ---- */

/* Operations on a point: 4, and 3 more where its change is squared. */
static double gflops(double us_per_iter)
{
    double all = (double)jac.plate.nx * (double)jac.plate.ny;
    double of_norm = jac.every ? 3.0 / (double)jac.every : 0;

    return all * (4 + of_norm) / us_per_iter / 1e3;
}

static void row(enum halo_mode m)
{
    const struct times *t = &jac.t.solved[m];
    double iters = (double)jac.iters, us = times_mean(t) / iters * 1e6;
    bool host = jac.o.modes >> HALO_HOST & 1;
    const struct column c[] = {
        { "nx", "nx", 7, 0, NULL, (double)jac.plate.nx },
        { "ny", "ny", 6, 0, NULL, (double)jac.plate.ny },
        { "PEs", "pes", 4, 0, NULL, app.pes },
        { "/node", "ppn", 5, 0, NULL, app.node_pes },
        { "mode", "mode", -10, -1, halo_mode_names[m], 0 },
        { "mean(s)", "solve_s", 10, 6, NULL, times_mean(t) },
        { "+-95%", "ci95_s", 9, 6, NULL, times_interval(t) },
        { "median(s)", "median_s", 10, 6, NULL, times_median(t) },
        { "us/iter", "us_per_iter", 9, 2, NULL, us },
        { "GFLOP/s", "gflops", 8, 3, NULL, gflops(us) },
        { "speedup", "speedup_vs_host", 7, 3, NULL, host
                 ? times_ratio(&jac.t.solved[HALO_HOST], t) : NAN },
        { "host(us)", "host_us", 9, 2, NULL,
          times_median(&jac.t.enqueued[m]) / iters * 1e6 },
        { "create(s)", "creation_s", 9, 6, NULL, jac.t.created[m] },
        { "total(s)", "solve_and_creation_s", 10, 6, NULL,
          times_mean(t) + jac.t.created[m] },
        { .key = NULL }
    };

    report_row(jac.o.json, c);
}

static void report(void)
{
    char grid[48];
    const struct column head[] = {
        { "grid", "grid", 0, -1, grid, 0 },
        { "iterations", "iterations", 0, 0, NULL, (double)jac.iters },
        { "norm every", "check", 0, 0, NULL, (double)jac.every },
        { "trials", "trials", 0, 0, NULL, (double)jac.o.trials },
        { .key = NULL }
    };

    snprintf(grid, sizeof grid, "%ldx%ld", jac.p[X], jac.p[Y]);
    report_begin(jac.o.json, &jac.device, head);
    trials_rows(&jac.t);
    report_end(jac.o.json, "each point is that of one processor's run");
}

/* ---- set-up ---- */

static const struct about about = {
    "Usage: oshrun -n PES jacobi2d [options]\n"
    "Jacobi's iteration on a plate: each PE exchanges the border of its block "
    "with up to\nfour neighbours in every iteration.",
    "Columns: mean(s), +-95% (half of its interval) and median(s) of the runs; "
    "us/iter and\n"
    "host(us) (the host is busy) are of an iteration; GFLOP/s counts 4 "
    "operations on a point,\n"
    "and 3 more for a norm; speedup is the time of mode host by this "
    "one; create(s) makes the halo;\n"
    "total(s) is mean(s) and that.  man jacobi2d has more."
};

static int refuse_shape(void)
{
    const struct plate *p = &jac.plate;

    if (jac.p[X] * jac.p[Y] != app.pes)
        return options_refuse("--grid %ldx%ld: there are %d PEs", jac.p[X],
                              jac.p[Y], app.pes);
    if (p->nx % jac.p[X] || p->ny % jac.p[Y])
        return options_refuse("--size %ldx%ld: no multiple of %ldx%ld PEs",
                              p->nx, p->ny, jac.p[X], jac.p[Y]);
    if (!grid_has_places(p->ny / jac.p[Y], p->nx / jac.p[X]))
        return options_refuse("--size %ldx%ld: a block with its ghosts has more "
                              "than %u points", p->nx, p->ny, UINT32_MAX);
    if (p->nx * p->ny > POINTS_MOST && jac.o.verify != VERIFY_NONE)
        return options_refuse("--size %ldx%ld: up to %d points are compared: or "
                              "say --verify none", p->nx, p->ny, POINTS_MOST);
    return 0;
}

static int options(int argc, char **argv)
{
    int status, p[AXES];
    long size[2] = { 512, 512 };
    const struct option_row rows[] = {
        { "size", 'n', OPTION_SIZES, size, 1, 2, NULL, "NXxNY",
          "points of a row, and rows (512x512)" },
        { "iters", 'i', OPTION_NUMBER, &jac.iters, 1, 100000000, NULL, "N",
          "iterations of a run (1000)" },
        { "check", 'c', OPTION_NUMBER, &jac.every, 0, 100000000, NULL, "N",
          "the norm of what changed, every N iterations (0: never)" },
        { "grid", 0, OPTION_SIZES, jac.p, 1, 2, NULL, "PXxPY",
          "of the PEs: PX parts of the columns, PY of the rows" },
        { .name = NULL }
    };

    grid_factors(app.pes, 2, p);
    jac.p[X] = p[X];
    jac.p[Y] = p[Y];
    jac.iters = 1000;
    status = options_read(argc, argv, &about, rows, &jac.o);
    jac.plate = (struct plate){ size[X], size[Y] };
    return status ? status : refuse_shape();
}

static void set_up_norm(void)
{
    double *total = app_device_room(sizeof *total);

    jac.sums = app_device_room(jac.rows * sizeof(double));
    jac.norms = app_device_room(((size_t)checks() + 1) * sizeof(double));
    jac.totaling = (struct totaling){ jac.sums, total, jac.rows };
    app_need(shmemx_queue_create(jac.device.stream, NULL, 0, &jac.queue),
             "a queue");
    app_need(shmemx_allreduce_init(SHMEM_TEAM_WORLD, total, total, 1,
                                   SHMEMX_DOUBLE, SHMEMX_SUM, &jac.reduce),
             "a request for the norm");
}

static void set_up(void)
{
    const int p[AXES] = { (int)jac.p[X], (int)jac.p[Y], 1 };
    int at[AXES];

    grid_make(&jac.grid, p, 2, true);
    grid_place(&jac.grid, app.me, at);
    jac.first = at[X] == 0;
    jac.last = at[X] == p[X] - 1;
    jac.rows = (size_t)(jac.plate.ny / p[Y]);
    jac.cols = (size_t)(jac.plate.nx / p[X]);
    jac.row = at[Y] * (long)jac.rows;
    jac.col = at[X] * (long)jac.cols;
    jac.points = (jac.rows + 2) * (jac.cols + 2);
    jac.host = app_memory(jac.points, sizeof(double));
    for (int i = 0; i < 2; i++)
        jac.u[i] = app_device_room(jac.points * sizeof(double));
    set_up_norm();
    for (int i = 0; i < 2; i++)
        jac.step[i] = (struct relaxing){ jac.u[!i], jac.u[i], jac.sums,
                                         jac.rows, jac.cols };
    make_sides();
    make_wanted();
}

static void run(void)
{
    jac.t = (struct trials){
        .o = &jac.o, .rounds = jac.iters,
        .what = { .device = &jac.device, .u = { jac.u[0], jac.u[1] },
                  .side = jac.side, .sides = SIDES, .spoilt_by = NAN },
        .block = jac.host, .points = jac.points, .fill = fill,
        .solve = solve, .check = check, .row = row
    };
    trials_run(&jac.t);
    if (app.me == 0)
        report();
    trials_end(&jac.t);
}

static void tear_down(void)
{
    for (int i = 0; i < SIDES; i++) {
        free((void *)jac.side[i].from);
        free((void *)jac.side[i].to);
    }
    app_need(shmemx_req_free(&jac.reduce), "a request's end");
    app_need(shmemx_queue_destroy(jac.queue), "a queue's end");
    shmem_free(jac.want);
    shmem_free(jac.want_norms);
    shmem_free(jac.totaling.total);
    shmem_free(jac.sums);
    shmem_free(jac.norms);
    shmem_free(jac.u[0]);
    shmem_free(jac.u[1]);
    free(jac.host);
}

static void work(void)
{
    set_up();
    run();
    tear_down();
}

int main(int argc, char **argv)
{
    const struct program program = {
        "jacobi2d", &jac.o, &jac.device, kernels, KERNELS, jacobi_text, &calling,
        options, work
    };

    return program_run(&program, argc, argv);
}
