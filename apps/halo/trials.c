/* SPDX-License-Identifier: BSD-3-Clause */
#include "trials.h"

#include <shmem.h>

#include "app.h"

bool trials_have(const struct trials *t, enum halo_mode m)
{
    return t->o->modes >> m & 1;
}

/* The array of the present round as it is at first, its ghosts by an exchange;
 * what has not been exchanged is no number. */
static void start(struct trials *t, struct halo *h)
{
    size_t bytes = t->points * sizeof *t->block;
    struct device *d = halo_device(h);
    int p = halo_phase(h);

    t->fill(false);
    device_copy(d, t->what.u[!p], t->block, bytes);
    device_sync(d);
    t->fill(true);
    device_copy(d, t->what.u[p], t->block, bytes);
    halo_gather(h);
    halo_scatter(h);
    halo_wait(h);
}

static void create(struct trials *t, enum halo_mode m)
{
    long most = t->o->warmup < t->rounds ? t->o->warmup : t->rounds;
    struct halo_what what = t->what;
    double began;

    what.mode = m;
    what.apart = t->o->apart;
    what.groups = (unsigned)t->o->groups;
    what.spoilt_round = app.me == app.pes - 1 ? t->o->spoil : -1;
    shmem_barrier_all();
    began = app_now();
    t->halo[m] = halo_create(&what);
    t->created[m] = app_most(app_now() - began);
    start(t, t->halo[m]);
    for (long left = t->o->warmup; left > 0; left -= most) {
        t->solve(t->halo[m], m, left < most ? left : most);
        halo_wait(t->halo[m]);
    }
}

static void measure(struct trials *t, enum halo_mode m)
{
    double began, enqueued, end;

    start(t, t->halo[m]);
    shmem_barrier_all();
    began = app_now();
    t->solve(t->halo[m], m, t->rounds);
    enqueued = app_now();
    halo_wait(t->halo[m]);
    end = app_now();
    times_add(&t->solved[m], app_most(end - began));
    times_add(&t->enqueued[m], app_most(enqueued - began));
}

static bool is_compared(const struct trials *t, long trial)
{
    return t->o->verify == VERIFY_ALL ||
           (t->o->verify == VERIFY_LAST && trial == t->o->trials - 1);
}

/* Rounds are counted from the first one of the halo: before those of a run one
 * fills the ghosts of its first array, and before all runs there is one more
 * with the warm-up.  What the last one of a run sends is not looked at. */
static void report_spoilt(const struct trials *t)
{
    long runs = t->o->verify == VERIFY_ALL ? 0 : t->o->trials - 1;
    long first = 1 + t->o->warmup + runs * (1 + t->rounds);

    options_spoilt(t->o, first, first + t->rounds - 1);
}

/* Of runs that take alike long. */
static void show_progress(struct trials *t, const char *mode, long trial)
{
    int modes = __builtin_popcount(t->o->modes & t->o->all);

    progress_show(&t->progress, (double)t->run++ /
                  (double)(modes * t->o->trials),
                  "%s, run %ld of %ld,", mode, trial + 1, t->o->trials);
}

void trials_run(struct trials *t)
{
    progress_begin(&t->progress, app.name, app.me == 0, false);
    for (int m = 0; m < HALO_MODES; m++)
        if (trials_have(t, (enum halo_mode)m))
            create(t, (enum halo_mode)m);
    for (long k = 0; k < t->o->trials; k++)
        for (int m = 0; m < HALO_MODES; m++) {
            if (!trials_have(t, (enum halo_mode)m))
                continue;
            show_progress(t, halo_mode_names[m], k);
            measure(t, (enum halo_mode)m);
            if (is_compared(t, k))
                t->check(t->halo[m], (enum halo_mode)m);
        }
    progress_clear(&t->progress);
    report_spoilt(t);
}

void trials_rows(const struct trials *t)
{
    for (int m = 0; m < HALO_MODES; m++)
        if (trials_have(t, (enum halo_mode)m))
            t->row((enum halo_mode)m);
}

void trials_end(struct trials *t)
{
    for (int m = 0; m < HALO_MODES; m++)
        if (t->halo[m])
            halo_destroy(t->halo[m]);
}
