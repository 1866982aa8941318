/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_part.c - halos by partitioned messages: the stream starts a round's and
 * waits for them, and the kernel that packs makes each part ready. */
#include "halo_int.h"

#include <shmem.h>
#include <shmemx_part.h>
#include <stdlib.h>

#include "app.h"
#include "ki.inc"

enum { PARTS = 4, PART_LEAST = 256 };   /* of a long side; elements of each */

struct part_state {
    shmemx_queue_t queue;
    shmemx_req_t req[2 * SIDES_MAX];    /* receives, then as many sends */
    shmemx_prequest_t made[SIDES_MAX];  /* of sends, by side */
    shmemx_prequest_t *on_device;       /* a copy */
    struct exchange round[2], spoilt;   /* of even and odd rounds */
    unsigned groups;
};

static int parts_of(size_t n)
{
    return n % PARTS == 0 && n / PARTS >= PART_LEAST ? PARTS : 1;
}

/* ---- beginning and end ---- */

/* Its tag is the sender's side. */
static void make_messages(struct halo *h)
{
    struct part_state *s = h->state;
    shmemx_req_t *recv = s->req, *send = s->req + h->neighbours;

    for (int i = 0; i < h->what.sides; i++) {
        const struct halo_side *side = &h->side[i];
        int parts = parts_of(side->n);
        size_t bytes = side->n / (size_t)parts * sizeof(double);

        if (side->pe < 0)
            continue;
        app_need(shmemx_precv_init(h->in[0] + h->at[i], parts, bytes, side->pe,
                                   side->opposite, recv++), "a receive");
        app_need(shmemx_psend_init(h->out[0] + h->at[i], parts, bytes, side->pe,
                                   i, send++), "a send");
    }
    if (h->neighbours)
        app_need(shmemx_matchall(2 * h->neighbours, s->req),
                 "matching of messages");
}

static void make_prequests(struct halo *h)
{
    struct part_state *s = h->state;
    shmemx_req_t *send = s->req + h->neighbours;

    for (int i = 0; i < h->what.sides; i++)
        if (h->side[i].pe >= 0)
            app_need(shmemx_prequest_create(*send++, NULL, 0, &s->made[i]),
                     "a send's prequest");
    s->on_device = app_device_room(sizeof s->made);
    device_copy(h->device, s->on_device, s->made, sizeof s->made);
    device_sync(h->device);
}

/* What the kernel packs in rounds like this one. */
static struct exchange rounds_like(const struct halo *h, uint64_t round,
                                   bool spoilt)
{
    const struct part_state *s = h->state;
    struct exchange x;

    exchange_describe(h, &x);
    x.round = round;
    x.spoilt_round = spoilt ? round : ~0ull;
    x.send = s->on_device;
    for (int i = 0; i < h->what.sides; i++)
        x.parts[i] = (word32)parts_of(h->side[i].n);
    return x;
}

static void part_open(struct halo *h)
{
    struct part_state *s = app_memory(1, sizeof *s);

    h->state = s;
    app_need(shmemx_queue_create(h->device->stream, NULL, 0, &s->queue),
             "a queue");
    make_messages(h);
    make_prequests(h);
    for (uint64_t p = 0; p < 2; p++)
        s->round[p] = rounds_like(h, p, false);
    s->spoilt = rounds_like(h, (uint64_t)h->what.spoilt_round, true);
    s->groups = device_resident(h->device, h->what.groups);
}

static void part_close(struct halo *h)
{
    struct part_state *s = h->state;

    for (int i = 0; i < h->what.sides; i++)
        if (h->side[i].pe >= 0)
            app_need(shmemx_prequest_free(&s->made[i]), "a prequest's end");
    for (int i = 0; i < 2 * h->neighbours; i++)
        app_need(shmemx_req_free(&s->req[i]), "a request's end");
    app_need(shmemx_queue_destroy(s->queue), "a queue's end");
    shmem_free(s->on_device);
    free(s);
}

/* ---- a round ---- */

static void part_start(struct halo *h)
{
    struct part_state *s = h->state;

    if (h->neighbours)
        app_need(shmemx_enqueue_startall(s->queue, 2 * h->neighbours, s->req),
                 "a start of messages");
}

static void part_send(struct halo *h)
{
    struct part_state *s = h->state;
    bool spoil = h->what.spoilt_round >= 0 &&
                 h->round == (uint64_t)h->what.spoilt_round;

    if (h->neighbours)
        device_persist(h->device, K_PACK, s->groups,
                       spoil ? &s->spoilt : &s->round[halo_phase(h)]);
}

static void part_wait(struct halo *h)
{
    struct part_state *s = h->state;

    if (h->neighbours)
        app_need(shmemx_enqueue_waitall(s->queue, 2 * h->neighbours, s->req),
                 "a wait for messages");
}

/* Those of the last round are asked, and others came before them. */
static uint64_t part_received(const struct halo *h)
{
    const struct part_state *s = h->state;
    uint64_t n = 0;

    if (h->round == 0)
        return 0;
    for (int i = 0, r = 0; i < h->what.sides; i++) {
        int flag = 1, parts = parts_of(h->side[i].n);

        if (h->side[i].pe < 0)
            continue;
        for (int p = 0; p < parts && flag; p++)
            app_need(shmemx_parrived(s->req[r], p, &flag), "a look at a part");
        r++;
        n += flag != 0;
    }
    return n + (h->round - 1) * (uint64_t)h->neighbours;
}

const struct halo_engine halo_part = {
    1, true, part_open, part_start, part_send, part_wait, part_close,
    part_received
};
