/* SPDX-License-Identifier: BSD-3-Clause */
/* faces - blocks of elements whose common faces, edges and corners are added
 * up, between up to 26 neighbours: the pattern of the Faces benchmark. */
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../halo/app.h"
#include "../halo/halo.h"
#include "../halo/options.h"
#include "../halo/program.h"
#include "../halo/report.h"
#include "../progress.h"
#include "faces.h"

#include "../halo/kernels.inc"
#include "kernels.inc"
#include "../halo/ki.inc"
#include "ki.inc"

KERNEL_TEXT(faces_text, "apps/faces/kernels.inc");
HALO_KERNELS(SOFT_KERNEL)
FACES_KERNELS(SOFT_KERNEL)
static const struct kernel kernels[] = {
    HALO_KERNELS(KERNEL_ROW) FACES_KERNELS(KERNEL_ROW)
};
enum { K_FILL = 2, K_SUM, K_FOLD, KERNELS = sizeof kernels / sizeof *kernels };

SOFT_KERNEL(faces_run)
SOFT_KERNEL(exchange_pack)

KI_TEXT(ki, KI_TEXT_FILE, KI_PTX_FILE);
static const struct persistent calling = {
    { KERNEL_ROW(faces_run) KERNEL_ROW(exchange_pack) }, ki_text, ki_ptx
};

enum { OUTER, MIDDLE, INNER, LOOPS };

static struct faces {
    struct common o;
    struct shape shape;
    long loops[LOOPS];
    struct device device;
    struct grid grid;
    size_t points;
    double *u, *host, *want;    /* u: device memory; two blocks here */
    unsigned wanted;            /* the seed of want; 0: none yet */
    struct halo_side side[SIDES_MAX];
    struct filling filling;
    struct summing summing[AXES];
    struct folding folding;
    struct faces_run inside;    /* of the run of ki at hand */
    double create[HALO_MODES];  /* of the last one */
    uint64_t messages;          /* of all PEs in a step */
    struct times inner[HALO_MODES], enqueue[HALO_MODES];
} faces;

/* ---- what is sent and received ---- */

/* Points of the ends that face a step, of n * n * n in each element. */
static unsigned *places(const struct shape *s, const int step[AXES],
                        size_t *out)
{
    size_t first[AXES], end[AXES], from[AXES], to[AXES], n = (size_t)s->n;
    size_t e[AXES] = { (size_t)s->e[X], (size_t)s->e[Y], (size_t)s->e[Z] };
    unsigned *list;
    size_t many = 1;

    for (int a = 0; a < AXES; a++) {
        first[a] = step[a] > 0 ? e[a] - 1 : 0;
        end[a] = step[a] < 0 ? 1 : e[a];
        from[a] = step[a] > 0 ? n - 1 : 0;
        to[a] = step[a] < 0 ? 1 : n;
        many *= (end[a] - first[a]) * (to[a] - from[a]);
    }
    list = app_memory(many, sizeof *list);
    *out = many;
    many = 0;
    for (size_t z = first[Z]; z < end[Z]; z++)
        for (size_t y = first[Y]; y < end[Y]; y++)
            for (size_t x = first[X]; x < end[X]; x++)
                for (size_t k = from[Z]; k < to[Z]; k++)
                    for (size_t j = from[Y]; j < to[Y]; j++)
                        for (size_t i = from[X]; i < to[X]; i++)
                            list[many++] = (unsigned)(
                                ((((z * e[Y] + y) * e[X] + x) * n + k) * n +
                                 j) * n + i);
    return list;
}

static void make_sides(void)
{
    for (int i = 0; i < faces.grid.sides; i++) {
        struct halo_side *s = &faces.side[i];

        s->pe = grid_neighbour(&faces.grid, app.me, i);
        s->opposite = faces.grid.opposite[i];
        s->from = s->to = places(&faces.shape, faces.grid.step[i], &s->n);
    }
}

/* ---- a step ---- */

static void make_sums(void)
{
    const struct shape *s = &faces.shape;
    word64 n = (word64)s->n, in[AXES] = { 1, n, n * n };
    word64 next[AXES] = { 1, (word64)s->e[X], (word64)(s->e[X] * s->e[Y]) };

    for (int a = 0; a < AXES; a++) {
        word64 pairs[AXES] = { (word64)s->e[X], (word64)s->e[Y],
                               (word64)s->e[Z] };

        pairs[a]--;
        faces.summing[a] = (struct summing){
            .u = faces.u, .n = n, .points = n * n * n, .pairs_x = pairs[X],
            .pairs_y = pairs[Y], .faces = pairs[X] * pairs[Y] * pairs[Z],
            .x = (word64)s->e[X], .y = (word64)s->e[Y], .next = next[a],
            .low = (n - 1) * in[a], .a = in[a == X ? Y : X],
            .b = in[a == Z ? Y : Z]
        };
    }
}

/* All steps by one kernel. */
static void steps_inside(struct halo *h, long many)
{
    struct faces_run *w = &faces.inside;

    *w = (struct faces_run){ .folding = faces.folding,
                             .steps = (word64)many };
    for (int a = 0; a < AXES; a++)
        w->summing[a] = faces.summing[a];
    halo_exchange(h, &w->x);
    halo_run(h, w, many);
}

static void steps(struct halo *h, enum halo_mode m, long many)
{
    struct device *d = halo_device(h);

    if (halo_is_inside(m)) {
        steps_inside(h, many);
        return;
    }

    for (long i = 0; i < many; i++) {
        halo_gather(h);
        for (int a = 0; a < AXES; a++) {
            struct summing *w = &faces.summing[a];

            device_launch(d, K_SUM, (size_t)(w->faces * w->n * w->n), w);
        }
        halo_scatter(h);
        if (i % FOLD == FOLD - 1)
            device_launch(d, K_FOLD, faces.points, &faces.folding);
    }
}

static void start_block(unsigned seed)
{
    faces.filling.seed = seed;
    device_launch(&faces.device, K_FILL, faces.points, &faces.filling);
    device_sync(&faces.device);
}

/* ---- is it right ---- */

static void check_values(enum halo_mode m, unsigned seed)
{
    uint64_t wrong = 0;

    if (faces.wanted != seed)
        reference_block(&faces.shape, seed, faces.loops[INNER], app.me,
                        faces.want);
    faces.wanted = seed;
    device_copy(&faces.device, faces.host, faces.u,
                faces.points * sizeof(double));
    device_sync(&faces.device);
    for (size_t i = 0; i < faces.points; i++)
        wrong += !(faces.host[i] == faces.want[i]);
    wrong = app_sum(wrong);
    if (wrong && app.me == 0)
        app_die("VERIFY", "%s, %ldx%ldx%ld PEs, %ld steps of run %u: %lu "
                "value%s wrong", halo_mode_names[m], faces.shape.p[X],
                faces.shape.p[Y], faces.shape.p[Z], faces.loops[INNER], seed,
                (unsigned long)wrong, wrong == 1 ? " is" : "s are");
    shmem_barrier_all();        /* else PE 0 ends the job */
    report_verified();
}

/* Rounds are counted from the first one of each halo. */
static void report_spoilt(void)
{
    long all = faces.loops[MIDDLE] * faces.loops[INNER];
    bool sent = shape_neighbours(&faces.shape, app.pes - 1);

    options_spoilt(&faces.o, faces.o.verify == VERIFY_ALL ? 0
                                         : all - faces.loops[INNER],
                   sent ? all - 1 : -1);
}

/* Each PE has got a message of each neighbour in each step. */
static void check_messages(enum halo_mode m, const struct halo *h, long rounds)
{
    uint64_t got = halo_received(h);
    uint64_t want = (uint64_t)shape_neighbours(&faces.shape, app.me);

    faces.messages = app_sum(want);
    if (got != want * (uint64_t)rounds)
        app_die("VERIFY", "%s: PE %d got %lu messages in %ld rounds from %lu "
                "neighbours", halo_mode_names[m], app.me, (unsigned long)got,
                rounds, (unsigned long)want);
    shmem_barrier_all();
}

/* ---- a run ---- */

static struct halo *create(enum halo_mode m)
{
    const struct halo_what what = {
        .mode = m, .device = &faces.device, .u = { faces.u, faces.u },
        .side = faces.side, .sides = faces.grid.sides, .add = true,
        .apart = faces.o.apart,
        .groups = (unsigned)faces.o.groups,
        .spoilt_round = app.me == app.pes - 1 ? faces.o.spoil : -1,
        .spoilt_by = 1
    };
    struct halo *h;
    double start;

    shmem_barrier_all();
    start = app_now();
    h = halo_create(&what);
    faces.create[m] = app_most(app_now() - start);
    return h;
}

/* Seconds of the inner loops, and of enqueuing them, added up; each by the
 * slowest PE. */
static void measure(enum halo_mode m, bool last)
{
    double inner = 0, enqueue = 0, start, enqueued, end;
    unsigned seed = (unsigned)faces.o.seed * 10007u;

    for (long o = 0; o < faces.loops[OUTER]; o++) {
        struct halo *h = create(m);

        for (long k = 0; k < faces.loops[MIDDLE]; k++) {
            start_block(++seed);
            shmem_barrier_all();
            start = app_now();
            steps(h, m, faces.loops[INNER]);
            enqueued = app_now();
            halo_wait(h);
            end = app_now();
            inner += app_most(end - start);
            enqueue += app_most(enqueued - start);
            if (faces.o.verify == VERIFY_ALL ||
                (faces.o.verify == VERIFY_LAST && last &&
                 o == faces.loops[OUTER] - 1 && k == faces.loops[MIDDLE] - 1))
                check_values(m, seed);
        }
        check_messages(m, h, faces.loops[MIDDLE] * faces.loops[INNER]);
        halo_destroy(h);
    }
    times_add(&faces.inner[m], inner);
    times_add(&faces.enqueue[m], enqueue);
}

static void warm_up(enum halo_mode m)
{
    struct halo *h = create(m);

    start_block(1);
    steps(h, m, faces.o.warmup);
    halo_destroy(h);
}

static bool runs(int m)
{
    return faces.o.modes >> m & 1;
}

/* ---- rows ---- */

/* The engine that releases messages. */
static const char *trigger(enum halo_mode m)
{
    const shmemx_device_info_t *i = &faces.device.info;

    if (m == HALO_CPU || m == HALO_HOST)
        return "host";
    if (halo_is_inside(m))
        return app.node_pes < app.pes ? "ring" : "kernel";
    return app.node_pes < app.pes ? i->far.put : i->near_device.put;
}

static void row(enum halo_mode m)
{
    const struct times *t = &faces.inner[m];
    double steps = (double)(faces.loops[OUTER] * faces.loops[MIDDLE] *
                            faces.loops[INNER]);
    char grid[48];
    const struct column c[] = {
        { "grid", "grid", -8, -1, grid, 0 },
        { "PEs", "pes", 4, 0, NULL, app.pes },
        { "/node", "ppn", 5, 0, NULL, app.node_pes },
        { "mode", "mode", -10, -1, halo_mode_names[m], 0 },
        { "trigger", "trigger", -7, -1, trigger(m), 0 },
        { "mean(s)", "avg_s", 10, 6, NULL, times_mean(t) },
        { "+-95%", "ci95_s", 9, 6, NULL, times_interval(t) },
        { "median(s)", "median_s", 10, 6, NULL, times_median(t) },
        { "min(s)", "min_s", 10, 6, NULL, times_least(t) },
        { "max(s)", "max_s", 10, 6, NULL, times_most(t) },
        { "us/step", "us_per_step", 9, 2, NULL, times_mean(t) / steps * 1e6 },
        { "/host", "ratio_to_host", 6, 3, NULL, runs(HALO_HOST)
                 ? times_ratio(t, &faces.inner[HALO_HOST]) : NAN },
        { "host(us)", "host_us", 9, 2, NULL,
          times_median(&faces.enqueue[m]) / steps * 1e6 },
        { "messages", "messages_per_step", 8, 0, NULL, (double)faces.messages },
        { "create(s)", "creation_s", 9, 6, NULL, faces.create[m] },
        { .key = NULL }
    };

    snprintf(grid, sizeof grid, "%ldx%ldx%ld", faces.shape.p[X],
             faces.shape.p[Y], faces.shape.p[Z]);
    report_row(faces.o.json, c);
}

static void report(void)
{
    const struct shape *s = &faces.shape;
    char elements[48], loops[48];
    const struct column head[] = {
        { "elements", "elements", 0, -1, elements, 0 },
        { "points", "points", 0, 0, NULL, (double)s->n },
        { "ends", "ends", 0, -1, s->periodic ? "periodic" : "open", 0 },
        { "loops", "loops", 0, -1, loops, 0 },
        { "pack", "pack", 0, -1, faces.o.apart ? "apart" : "fused", 0 },
        { "trials", "trials", 0, 0, NULL, (double)faces.o.trials },
        { .key = NULL }
    };

    snprintf(elements, sizeof elements, "%ldx%ldx%ld", s->e[X], s->e[Y],
             s->e[Z]);
    snprintf(loops, sizeof loops, "%ldx%ldx%ld", faces.loops[OUTER],
             faces.loops[MIDDLE], faces.loops[INNER]);
    report_begin(faces.o.json, &faces.device, head);
    for (int m = 0; m < HALO_MODES; m++)
        if (runs(m))
            row((enum halo_mode)m);
    report_end(faces.o.json, "each value is that of one processor's run");
}

/* ---- set-up ---- */

static const struct about about = {
    "Usage: oshrun -n PES faces [options]\n"
    "Blocks of elements: each PE adds up what it has in common with up to "
    "26 neighbours,\nin every step.",
    "Columns: trigger is what issues the messages; mean(s), +-95% (half of its "
    "interval),\n"
    "median(s), min(s) and max(s) of the runs; us/step and host(us) (the host "
    "is busy) are of\n"
    "a step; /host is the time divided by that of mode host; messages are "
    "those of all PEs in\n"
    "a step; create(s) makes the halo.  man faces has more."
};

static int options(int argc, char **argv)
{
    struct shape *s = &faces.shape;
    const struct option_row rows[] = {
        { "grid", 0, OPTION_SIZES, s->p, 1, AXES, NULL, "PXxPYxPZ",
          "of the PEs" },
        { "periodic", 0, OPTION_FLAG, &s->periodic, 0, 0, NULL, NULL,
          "each end of the grid is beside the other" },
        { "elements", 'e', OPTION_SIZES, s->e, 1, AXES, NULL, "EXxEYxEZ",
          "of a PE (4x4x4)" },
        { "points", 'n', OPTION_NUMBER, &s->n, 2, 64, NULL, "N",
          "along an edge of an element (8)" },
        { "loops", 'l', OPTION_SIZES, faces.loops, 1, LOOPS, NULL, "OxMxI",
          "I steps, M times from the start, O times with new\n"
          "requests (2x2x20)" },
        { .name = NULL }
    };
    int p[AXES], status;
    double share;

    grid_factors(app.pes, AXES, p);
    for (int a = 0; a < AXES; a++) {
        s->p[a] = p[a];
        s->e[a] = 4;
    }
    s->n = 8;
    faces.loops[OUTER] = faces.loops[MIDDLE] = 2;
    faces.loops[INNER] = 20;
    status = options_read(argc, argv, &about, rows, &faces.o);
    if (status)
        return status;
    if (s->p[X] * s->p[Y] * s->p[Z] != app.pes)
        return options_refuse("--grid %ldx%ldx%ld: there are %d PEs", s->p[X],
                              s->p[Y], s->p[Z], app.pes);
    if (s->e[X] * s->e[Y] > 1 << 20 || s->e[X] * s->e[Y] * s->e[Z] *
                                       s->n * s->n * s->n > INT32_MAX)
        return options_refuse("--elements, --points: a block has more than "
                              "%d points", INT32_MAX);
    if (faces.o.verify == VERIFY_NONE)
        return 0;
    share = app_most((double)app.node_pes * (double)reference_bytes(s) /
                     (double)sysconf(_SC_PHYS_PAGES) /
                     (double)sysconf(_SC_PAGESIZE));
    if (share > 0.5)
        return options_refuse("--elements, --points: each PE computes the "
                              "blocks of all %d again to compare, which takes "
                              "%.2g times the memory of a node: say --verify "
                              "none", app.pes, share);
    return 0;
}

static void set_up(void)
{
    const struct shape *s = &faces.shape;
    const int p[AXES] = { (int)s->p[X], (int)s->p[Y], (int)s->p[Z] };

    grid_make(&faces.grid, p, AXES, s->periodic);
    faces.points = shape_points(s);
    faces.u = app_device_room(faces.points * sizeof(double));
    faces.host = app_memory(faces.points, sizeof(double));
    faces.want = app_memory(faces.points, sizeof(double));
    faces.filling = (struct filling){ .u = faces.u, .n = faces.points,
                                      .block = (word64)app.me };
    faces.folding = (struct folding){ faces.u, faces.points };
    make_sums();
    make_sides();
}

static void run(void)
{
    int modes = 0, done = 0;
    struct progress progress = { 0 };

    progress_begin(&progress, app.name, app.me == 0, false);
    for (int m = 0; m < HALO_MODES; m++)
        modes += runs(m);
    for (int m = 0; m < HALO_MODES; m++)
        if (runs(m))
            warm_up((enum halo_mode)m);
    for (long t = 0; t < faces.o.trials; t++)
        for (int m = 0; m < HALO_MODES; m++) {
            if (!runs(m))
                continue;
            progress_show(&progress, (double)done++ /
                          (double)(modes * faces.o.trials),
                          "%s, run %ld of %ld,", halo_mode_names[m], t + 1,
                          faces.o.trials);
            measure((enum halo_mode)m, t == faces.o.trials - 1);
        }
    progress_clear(&progress);
    report_spoilt();
    if (app.me == 0)
        report();
}

static void tear_down(void)
{
    for (int i = 0; i < faces.grid.sides; i++)
        free((void *)faces.side[i].from);
    shmem_free(faces.u);
    free(faces.host);
    free(faces.want);
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
        "faces", &faces.o, &faces.device, kernels, KERNELS, faces_text,
        &calling, options, work
    };

    return program_run(&program, argc, argv);
}
