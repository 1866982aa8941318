/* SPDX-License-Identifier: BSD-3-Clause */
/* gol2d - the Game of Life on a torus that is shared out to a grid of PEs: in
 * each generation a PE needs the cells around its block. */
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "../halo/app.h"
#include "../halo/halo.h"
#include "../halo/options.h"
#include "../halo/program.h"
#include "../halo/trials.h"
#include "field.h"

#include "../halo/kernels.inc"
#include "kernels.inc"
#include "../halo/ki.inc"
#include "ki.inc"

KERNEL_TEXT(gol_text, "apps/gol2d/kernels.inc");
HALO_KERNELS(SOFT_KERNEL)
LIFE_KERNELS(SOFT_KERNEL)
static const struct kernel kernels[] = {
    HALO_KERNELS(KERNEL_ROW) LIFE_KERNELS(KERNEL_ROW)
};
enum { K_LIFE = 2, KERNELS = sizeof kernels / sizeof *kernels };

SOFT_KERNEL(life_run)
SOFT_KERNEL(exchange_pack)

KI_TEXT(ki, KI_TEXT_FILE, KI_PTX_FILE);
static const struct persistent calling = {
    { KERNEL_ROW(life_run) KERNEL_ROW(exchange_pack) }, ki_text, ki_ptx
};

enum { SIDES = 8, SERIAL_MOST = 2048 };

static struct gol {
    struct common o;
    struct field field;
    long gens, p[2];            /* p: PEs along the columns, the rows */
    double base_us;             /* 0: not known */
    struct device device;
    struct grid grid;
    size_t rows, cols, cells;   /* of this PE; cells: with its ghosts */
    long row, col;              /* its first one's */
    double *u[2], *host;        /* two fields in device memory, one here */
    unsigned char *want;        /* symmetric; [n][n] in the end, or NULL */
    struct halo_side side[SIDES];
    struct life step[2];
    struct life_run inside;     /* of the run of ki at hand */
    struct trials t;
} gol;

/* ---- what is sent and received ---- */

static void make_sides(void)
{
    for (int i = 0; i < gol.grid.sides; i++) {
        struct halo_side *s = &gol.side[i];

        s->pe = grid_neighbour(&gol.grid, app.me, i);
        s->opposite = gol.grid.opposite[i];
        s->from = grid_places(gol.grid.step[i], gol.rows,
                              gol.cols, false, &s->n);
        s->to = grid_places(gol.grid.step[i], gol.rows, gol.cols, true,
                            &s->n);
    }
}

/* ---- a run ---- */

/* The field as it is at first; ghosts, and all else before, are no numbers. */
static void fill(bool at_first)
{
    for (size_t i = 0; i < gol.cells; i++)
        gol.host[i] = NAN;
    for (size_t r = 0; r < gol.rows && at_first; r++)
        for (size_t c = 0; c < gol.cols; c++)
            gol.host[(r + 1) * (gol.cols + 2) + c + 1] =
                field_cell(&gol.field, gol.row + (long)r, gol.col + (long)c);
}

/* All generations by one kernel. */
static void solve_inside(struct halo *h, long gens)
{
    gol.inside = (struct life_run){ .step = { gol.step[0], gol.step[1] },
                                    .gens = (word64)gens };
    halo_exchange(h, &gol.inside.x);
    halo_run(h, &gol.inside, gens);
}

static void solve(struct halo *h, enum halo_mode m, long gens)
{
    if (halo_is_inside(m)) {
        solve_inside(h, gens);
        return;
    }
    for (long g = 0; g < gens; g++) {
        device_launch(halo_device(h), K_LIFE, gol.rows * gol.cols,
                      &gol.step[halo_phase(h)]);
        halo_gather(h);
        halo_scatter(h);
    }
}

/* ---- is it right ---- */

/* The field in the end: PE 0 goes through all generations by itself, the others
 * take it from there.  Gliders have moved. */
static void make_wanted(void)
{
    long n = gol.field.n, k = gol.gens / 4 % n;

    if (gol.o.verify == VERIFY_NONE)
        return;
    gol.want = app_host_room((size_t)(n * n));
    if (gol.field.init == FIELD_GLIDER8) {
        for (long r = 0; r < n; r++)
            for (long c = 0; c < n; c++)
                gol.want[r * n + c] = (unsigned char)field_cell(
                    &gol.field, (r + k) % n, (c + n - k) % n);
        return;
    }
    if (app.me == 0)
        field_serial(&gol.field, gol.gens, gol.want);
    shmem_barrier_all();
    if (app.me)
        shmem_getmem(gol.want, gol.want, (size_t)(n * n), 0);
}

static void check(struct halo *h, enum halo_mode m)
{
    int last = !halo_phase(h);
    uint64_t wrong = 0;

    device_copy(&gol.device, gol.host, gol.u[last],
                gol.cells * sizeof(double));
    device_sync(&gol.device);
    for (size_t r = 0; r < gol.rows; r++)
        for (size_t c = 0; c < gol.cols; c++)
            wrong += !(gol.host[(r + 1) * (gol.cols + 2) + c + 1] ==
                       gol.want[(gol.row + (long)r) * gol.field.n + gol.col +
                                (long)c]);
    wrong = app_sum(wrong);
    if (wrong && app.me == 0)
        app_die("VERIFY", "%s, %ld x %ld on %ldx%ld PEs, %ld generation%s: %lu "
                "cell%s wrong", halo_mode_names[m], gol.field.n, gol.field.n,
                gol.p[X], gol.p[Y], gol.gens, gol.gens == 1 ? "" : "s",
                (unsigned long)wrong, wrong == 1 ? " is" : "s are");
    shmem_barrier_all();        /* else PE 0 ends the job */
    report_verified();
}

/* ---- rows ---- */

static void row(enum halo_mode m)
{
    const struct times *t = &gol.t.solved[m];
    double gens = (double)gol.gens, us = times_mean(t) / gens * 1e6;
    double host = gol.o.modes >> HALO_HOST & 1
                ? times_mean(&gol.t.solved[HALO_HOST]) / gens * 1e6 : NAN;
    double base = gol.base_us > 0 ? gol.base_us : app.pes == 1 ? host : NAN;
    const struct column c[] = {
        { "size", "n", 7, 0, NULL, (double)gol.field.n },
        { "PEs", "pes", 4, 0, NULL, app.pes },
        { "/node", "ppn", 5, 0, NULL, app.node_pes },
        { "mode", "mode", -10, -1, halo_mode_names[m], 0 },
        { "pack", "pack", -5, -1, gol.o.apart ? "apart" : "fused", 0 },
        { "mean(s)", "solve_s", 10, 6, NULL, times_mean(t) },
        { "+-95%", "ci95_s", 9, 6, NULL, times_interval(t) },
        { "median(s)", "median_s", 10, 6, NULL, times_median(t) },
        { "min(s)", "min_s", 10, 6, NULL, times_least(t) },
        { "us/iter", "us_per_iter", 9, 2, NULL, us },
        { "ideal(us)", "us_ideal", 9, 2, NULL, base / app.pes },
        { "speedup", "speedup", 7, 3, NULL, base / us },
        { "efficiency", "efficiency", 10, 3, NULL, base / us / app.pes },
        { "/host", "ratio_to_host", 6, 3, NULL, gol.o.modes >> HALO_HOST & 1
                 ? times_ratio(t, &gol.t.solved[HALO_HOST]) : NAN },
        { "host(us)", "host_us", 9, 2, NULL,
          times_median(&gol.t.enqueued[m]) / gens * 1e6 },
        { "create(s)", "creation_s", 9, 6, NULL, gol.t.created[m] },
        { "pays_after", "pays_after", 10, 0, NULL,
          host > us ? gol.t.created[m] * 1e6 / (host - us) : NAN },
        { .key = NULL }
    };

    report_row(gol.o.json, c);
}

static void report(void)
{
    char grid[48];
    const struct column head[] = {
        { "grid", "grid", 0, -1, grid, 0 },
        { "generations", "generations", 0, 0, NULL, (double)gol.gens },
        { "init", "init", 0, -1,
          gol.field.init == FIELD_RANDOM ? "random" : "glider8", 0 },
        { "trials", "trials", 0, 0, NULL, (double)gol.o.trials },
        { .key = NULL }
    };

    snprintf(grid, sizeof grid, "%ldx%ld", gol.p[X], gol.p[Y]);
    report_begin(gol.o.json, &gol.device, head);
    trials_rows(&gol.t);
    report_end(gol.o.json, gol.field.init == FIELD_RANDOM
               ? "each cell is that of one processor's run"
               : "each cell is that of gliders that have moved");
}

/* ---- set-up ---- */

static const struct about about = {
    "Usage: oshrun -n PES gol2d [options]\n"
    "The Game of Life on a torus: each PE exchanges the border of its "
    "block with eight\nneighbours in every generation.",
    "Columns: mean(s), +-95% (half of its interval), median(s) and min(s) of "
    "the runs; us/iter,\n"
    "host(us) (the host is busy) and ideal(us) (--base by the PEs) are of a "
    "generation;\n"
    "speedup is the base by us/iter, efficiency that by the PEs; /host is the "
    "time divided by\n"
    "that of mode host; create(s) makes the halo, and after pays_after "
    "generations host is\nslower with that.  man gol2d has more."
};

static int options(int argc, char **argv)
{
    static const char *const inits[] = { "random", "glider8", NULL };
    int init = FIELD_RANDOM, status, p[AXES];
    const struct option_row rows[] = {
        { "size", 'n', OPTION_NUMBER, &gol.field.n, 1, 65536, NULL, "N",
          "a field of N x N cells (512)" },
        { "gens", 'g', OPTION_NUMBER, &gol.gens, 1, 100000000, NULL, "N",
          "generations of a run (1000)" },
        { "grid", 0, OPTION_SIZES, gol.p, 1, 2, NULL, "PXxPY",
          "of the PEs: PX parts of the columns, PY of the rows" },
        { "init", 0, OPTION_WORD, &init, 0, 0, inits, "WORD",
          "random or glider8 (random)" },
        { "base", 0, OPTION_REAL, &gol.base_us, 0, 0, NULL, "US",
          "us/iter of mode host on one PE, for speedup" },
        { .name = NULL }
    };

    grid_factors(app.pes, 2, p);
    gol.p[X] = p[X];
    gol.p[Y] = p[Y];
    gol.field.n = 512;
    gol.gens = 1000;
    status = options_read(argc, argv, &about, rows, &gol.o);
    gol.field.init = (enum field_init)init;
    gol.field.seed = gol.o.seed;
    if (status)
        return status;
    if (gol.p[X] * gol.p[Y] != app.pes)
        return options_refuse("--grid %ldx%ld: there are %d PEs", gol.p[X],
                              gol.p[Y], app.pes);
    if (gol.field.n % gol.p[X] || gol.field.n % gol.p[Y])
        return options_refuse("--size %ld: no multiple of %ldx%ld PEs",
                              gol.field.n, gol.p[X], gol.p[Y]);
    if (!grid_has_places(gol.field.n / gol.p[Y], gol.field.n / gol.p[X]))
        return options_refuse("--size %ld: a block with its ghosts has more "
                              "than %u cells", gol.field.n, UINT32_MAX);
    if (init == FIELD_GLIDER8 && gol.field.n < GLIDER_LEAST)
        return options_refuse("--init glider8: say --size %d or more",
                              GLIDER_LEAST);
    if (gol.o.verify == VERIFY_NONE)
        return 0;
    if (init == FIELD_GLIDER8 && gol.gens % 4)
        return options_refuse("--init glider8: is compared after 4, 8, ... "
                              "generations only: or say --verify none");
    if (init == FIELD_RANDOM && gol.field.n > SERIAL_MOST)
        return options_refuse("--size %ld: random fields are compared up to "
                              "%d: or say --init glider8, or --verify none",
                              gol.field.n, SERIAL_MOST);
    return 0;
}

static void set_up(void)
{
    const int p[AXES] = { (int)gol.p[X], (int)gol.p[Y], 1 };
    int at[AXES];

    grid_make(&gol.grid, p, 2, true);
    grid_place(&gol.grid, app.me, at);
    gol.rows = (size_t)(gol.field.n / p[Y]);
    gol.cols = (size_t)(gol.field.n / p[X]);
    gol.row = at[Y] * (long)gol.rows;
    gol.col = at[X] * (long)gol.cols;
    gol.cells = (gol.rows + 2) * (gol.cols + 2);
    gol.host = app_memory(gol.cells, sizeof(double));
    for (int i = 0; i < 2; i++)
        gol.u[i] = app_device_room(gol.cells * sizeof(double));
    for (int i = 0; i < 2; i++)
        gol.step[i] = (struct life){ gol.u[!i], gol.u[i], gol.rows,
                                     gol.cols };
    make_sides();
    make_wanted();
}

static void run(void)
{
    gol.t = (struct trials){
        .o = &gol.o, .rounds = gol.gens,
        .what = { .device = &gol.device, .u = { gol.u[0], gol.u[1] },
                  .side = gol.side, .sides = gol.grid.sides, .spoilt_by = NAN },
        .block = gol.host, .points = gol.cells, .fill = fill,
        .solve = solve, .check = check, .row = row
    };
    trials_run(&gol.t);
    if (app.me == 0)
        report();
    trials_end(&gol.t);
}

static void tear_down(void)
{
    for (int i = 0; i < SIDES; i++) {
        free((void *)gol.side[i].from);
        free((void *)gol.side[i].to);
    }
    shmem_free(gol.want);
    shmem_free(gol.u[0]);
    shmem_free(gol.u[1]);
    free(gol.host);
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
        "gol2d", &gol.o, &gol.device, kernels, KERNELS, gol_text, &calling,
        options, work
    };

    return program_run(&program, argc, argv);
}
