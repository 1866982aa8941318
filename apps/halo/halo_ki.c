/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_ki.c - halos of a persistent kernel: what the kernel of ki.inc needs to
 * know, and its launch.  In mode kt the kernel's puts are a trigger's, which the
 * host posts once.  Rounds outside of kernels are the host's. */
#include "halo_int.h"

#include <shmem.h>
#include <shmemx_trig.h>

#include "app.h"
#include "ki.inc"

_Static_assert((int)KI_SIDES == (int)SIDES_MAX, "all sides have a place");

static void ki_open(struct halo *h)
{
    struct put_state *s;

    put_open(h);
    s = h->state;
    s->came = app_device_room(sizeof *s->came);
    s->groups = device_resident(h->device, h->what.groups);
}

static void ki_close(struct halo *h)
{
    struct put_state *s = h->state;

    shmem_free(s->came);
    put_close(h);
}

/* Each side's put of each phase, which repeats. */
static void kt_open(struct halo *h)
{
    struct put_state *s;

    ki_open(h);
    s = h->state;
    app_need(shmemx_trig_create(SHMEM_CTX_DEFAULT, 2 * h->what.sides, NULL, 0,
                                &s->trig), "a trigger");
    for (int tag = 0; tag < 2 * h->what.sides; tag++) {
        int p = tag / h->what.sides, i = tag % h->what.sides;
        const struct halo_side *to = &h->side[i];

        if (to->pe < 0)
            continue;
        app_need(shmemx_trig_put_signal(
                     s->trig, tag, 1, h->in[p] + h->at[to->opposite],
                     h->out[p] + h->at[i], to->n * sizeof(double),
                     &s->arrived[to->opposite], 1, SHMEM_SIGNAL_ADD, to->pe),
                 "a put of a trigger");
        app_need(shmemx_trig_repeat(s->trig, tag), "a put that repeats");
    }
}

static void kt_close(struct halo *h)
{
    struct put_state *s = h->state;

    app_need(shmemx_trig_free(&s->trig), "a trigger's end");
    ki_close(h);
}

void exchange_describe(const struct halo *h, struct exchange *out)
{
    *out = (struct exchange){
        .u = { h->what.u[0], h->what.u[1] }, .out = { h->out[0], h->out[1] },
        .in = { h->in[0], h->in[1] }, .from = h->lists,
        .unpack = { h->unpack[0], h->unpack[1] },
        .round = h->round, .sides = (word32)h->what.sides,
        .spoilt_round = h->what.spoilt_round < 0
                        ? ~0ull : (word64)h->what.spoilt_round,
        .spoilt_side = (word32)h->spoilt_side, .spoilt_by = h->what.spoilt_by
    };
    for (int i = 0; i < h->what.sides; i++) {
        out->pe[i] = h->side[i].pe;
        out->opposite[i] = h->side[i].opposite;
        out->at[i + 1] = h->at[i + 1];
    }
    app_need(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &out->dev),
             "shmemx_dev_get");
}

void halo_exchange(const struct halo *h, struct exchange *out)
{
    const struct put_state *s = h->state;

    exchange_describe(h, out);
    out->arrived = s->arrived;
    out->came = s->came;
    if (!s->trig)
        return;
    app_need(shmemx_trig_dev(s->trig, &out->trig), "shmemx_trig_dev");
    out->triggers = 1;
    for (int p = 0; p < 2; p++)
        out->sent[p] = s->sent[p];
}

void halo_run(struct halo *h, void *arg, long rounds)
{
    struct put_state *s = h->state;

    if (rounds == 0)
        return;
    device_persist(h->device, K_RUN, s->groups, arg);
    for (long i = 0; i < rounds && i < 2; i++)  /* from this phase on */
        s->sent[(h->round + (uint64_t)i) % 2] += (uint64_t)(rounds + 1 - i) / 2;
    h->round += (uint64_t)rounds;
}

const struct halo_engine halo_ki = {
    2, false, ki_open, halo_nothing, put_send, put_wait, ki_close, put_received
};
const struct halo_engine halo_kt = {
    2, false, kt_open, halo_nothing, put_send, put_wait, kt_close, put_received
};
