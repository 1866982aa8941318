/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo_int.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { K_GATHER, K_SCATTER };   /* the first ones of every program */

const char *const halo_mode_names[HALO_MODES] = {
    "cpu", "host", "put-signal", "send", "ready-send", "part", "ki", "kt"
};
static const struct halo_engine *const engines[HALO_MODES] = {
    &halo_host, &halo_host, &halo_put_signal, &halo_send, &halo_ready_send,
    &halo_part, &halo_ki, &halo_kt
};

void halo_nothing(struct halo *h)
{
    (void)h;
}

/* ---- the lists of places ---- */

/* One value that comes: to this place of the array, from that of the buffer. */
struct arrival {
    unsigned to, from;
};

static int by_place(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Of the sides that have a neighbour, by place; how many. */
static size_t arrivals(const struct halo *h, struct arrival *out)
{
    size_t n = 0;

    for (int i = 0; i < h->what.sides; i++)
        for (size_t k = 0; h->side[i].pe >= 0 && k < h->side[i].n; k++)
            out[n++] = (struct arrival){ h->side[i].to[k],
                                         (unsigned)(h->at[i] + k) };
    qsort(out, n, sizeof *out, by_place);
    return n;
}

/* The lists as the kernels want them: from[total] of all sides; to[], first[]
 * and the numbers of scatter.  The number of different places. */
static size_t fill_lists(const struct halo *h, size_t total, unsigned *from,
                         unsigned *to, unsigned *first, unsigned *number)
{
    struct arrival *come = app_memory(total, sizeof *come);
    size_t n = arrivals(h, come), places = 0;

    for (int i = 0; i < h->what.sides; i++)
        memcpy(from + h->at[i], h->side[i].from,
               h->side[i].n * sizeof *from);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || come[i].to != come[i - 1].to) {
            to[places] = come[i].to;
            first[places++] = (unsigned)i;
        }
        number[i] = come[i].from;
    }
    first[places] = (unsigned)n;
    free(come);
    return places;
}

static void make_lists(struct halo *h)
{
    size_t total = h->at[h->what.sides], all = 4 * total + 1, places;
    unsigned *lists = app_memory(all, sizeof *lists);

    h->lists = app_device_room(all * sizeof *lists);
    places = fill_lists(h, total, lists, lists + total, lists + 2 * total,
                        lists + 3 * total + 1);
    for (int p = 0; p < 2; p++)
        h->unpack[p] = (struct scattering){
            .u = h->what.u[p], .in = h->in[p], .n = places,
            .add = h->what.add, .to = h->lists + total,
            .first = h->lists + 2 * total, .from = h->lists + 3 * total + 1
        };
    device_copy(h->device, h->lists, lists, all * sizeof *lists);
    device_sync(h->device);
    free(lists);
}

/* Packs for the sides [first, end). */
static struct gathering packing(const struct halo *h, int p, int first,
                                int end)
{
    return (struct gathering){
        .u = h->what.u[p], .from = h->lists + h->at[first],
        .out = h->out[p] + h->at[first], .n = h->at[end] - h->at[first]
    };
}

static void make_packing(struct halo *h)
{
    for (int p = 0; p < 2; p++) {
        int last = h->what.sides - 1;

        for (int i = 0; i <= last; i++)
            h->pack[p][i] = packing(h, p, i, i + 1);
        while (last > 0 && h->side[last].pe < 0)
            last--;             /* what is not sent is no use to spoil */
        h->spoilt_side = last;
        h->spoilt[p] = packing(h, p, h->what.apart ? last : 0, last + 1);
        h->spoilt[p].spoilt = h->what.spoilt_by;
        if (!h->what.apart)
            h->pack[p][0] = packing(h, p, 0, h->what.sides);
    }
}

/* ---- */

struct halo *halo_create(const struct halo_what *what)
{
    struct halo *h = app_memory(1, sizeof *h);
    size_t total;

    h->what = *what;
    h->by_host = device_by_host(what->device);
    h->device = what->mode == HALO_CPU ? &h->by_host : what->device;
    h->engine = engines[what->mode];
    for (int i = 0; i < what->sides; i++) {
        h->side[i] = what->side[i];
        h->at[i + 1] = h->at[i] + what->side[i].n;
        h->neighbours += what->side[i].pe >= 0;
    }
    total = h->at[what->sides];
    for (int p = 0; p < 2; p++) {
        bool own = p < h->engine->sets;

        h->out[p] = own ? app_device_room(total * sizeof(double)) : h->out[0];
        h->in[p] = own ? app_device_room(total * sizeof(double)) : h->in[0];
    }
    make_lists(h);
    make_packing(h);
    h->engine->open(h);
    shmem_barrier_all();        /* all are ready for what others send */
    return h;
}

void halo_destroy(struct halo *h)
{
    halo_wait(h);
    h->engine->close(h);
    shmem_barrier_all();        /* no PE sends any more */
    shmem_free(h->lists);
    for (int p = 0; p < h->engine->sets; p++) {
        shmem_free(h->out[p]);
        shmem_free(h->in[p]);
    }
    free(h);
}

struct device *halo_device(struct halo *h)
{
    return h->device;
}

int halo_phase(const struct halo *h)
{
    return (int)(h->round & 1);
}

double *halo_array(const struct halo *h)
{
    return h->what.u[halo_phase(h)];
}

static void pack(struct halo *h)
{
    struct gathering *w = h->pack[halo_phase(h)];
    bool spoil = h->what.spoilt_round >= 0 &&
                 h->round == (uint64_t)h->what.spoilt_round;

    for (int i = 0; i < (h->what.apart ? h->what.sides : 1); i++)
        if (!h->what.apart || h->side[i].pe >= 0)
            device_launch(h->device, K_GATHER, w[i].n, &w[i]);
    if (spoil) {
        w = &h->spoilt[halo_phase(h)];
        device_launch(h->device, K_GATHER, w->n, w);
    }
}

void halo_gather(struct halo *h)
{
    h->engine->before(h);
    if (!h->engine->packs)
        pack(h);
    h->engine->send(h);
}

void halo_scatter(struct halo *h)
{
    struct scattering *w = &h->unpack[halo_phase(h)];

    h->engine->wait(h);
    device_launch(h->device, K_SCATTER, w->n, w);
    h->round++;
}

void halo_wait(struct halo *h)
{
    device_sync(h->device);
}

uint64_t halo_received(const struct halo *h)
{
    return h->engine->received(h);
}
