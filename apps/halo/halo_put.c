/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_put.c - halos by puts with signal: driven by the host, or on the stream.
 * Each side has a word that counts its messages.  A round's puts are complete
 * before the next one's begin, so that a count stands for the messages up to
 * that one. */
#include "halo_int.h"

#include <shmem.h>
#include <stdlib.h>

#include "app.h"

void put_open(struct halo *h)
{
    struct put_state *s = app_memory(1, sizeof *s);

    s->arrived = app_host_room(SIDES_MAX * sizeof *s->arrived);
    for (int i = 0; i < h->what.sides; i++)
        s->absent[i] = h->side[i].pe < 0;
    h->state = s;
}

void put_close(struct halo *h)
{
    struct put_state *s = h->state;

    shmem_barrier_all();        /* no PE counts there any more */
    shmem_free(s->arrived);
    free(s);
}

uint64_t put_received(const struct halo *h)
{
    const struct put_state *s = h->state;
    uint64_t n = 0;

    for (int i = 0; i < h->what.sides; i++)
        n += shmem_signal_fetch(&s->arrived[i]);
    return n;
}

/* ---- the host ---- */

void put_send(struct halo *h)
{
    struct put_state *s = h->state;
    int p = halo_phase(h);

    device_sync(h->device);
    for (int i = 0; i < h->what.sides; i++) {
        const struct halo_side *to = &h->side[i];

        if (to->pe >= 0)
            shmem_putmem_signal_nbi(h->in[p] + h->at[to->opposite],
                                    h->out[p] + h->at[i],
                                    to->n * sizeof(double),
                                    &s->arrived[to->opposite], 1,
                                    SHMEM_SIGNAL_ADD, to->pe);
    }
}

void put_wait(struct halo *h)
{
    struct put_state *s = h->state;

    for (int i = 0; i < h->what.sides; i++)
        if (h->side[i].pe >= 0)
            shmem_signal_wait_until(&s->arrived[i], SHMEM_CMP_GE,
                                    h->round + 1);
    shmem_quiet();
}

const struct halo_engine halo_host = {
    2, false, put_open, halo_nothing, put_send, put_wait, put_close, put_received
};

/* ---- the stream ---- */

static void put_signal_send(struct halo *h)
{
    struct put_state *s = h->state;
    int p = halo_phase(h);

    for (int i = 0; i < h->what.sides; i++) {
        const struct halo_side *to = &h->side[i];

        if (to->pe >= 0)
            app_need(shmemx_putmem_signal_nbi_on_stream(
                         h->in[p] + h->at[to->opposite], h->out[p] + h->at[i],
                         to->n * sizeof(double), &s->arrived[to->opposite], 1,
                         SHMEM_SIGNAL_ADD, to->pe, h->device->stream),
                     "a put on the stream");
    }
}

static void put_signal_wait(struct halo *h)
{
    struct put_state *s = h->state;

    app_need(shmemx_uint64_wait_until_all_on_stream(
                 s->arrived, (size_t)h->what.sides, s->absent, SHMEM_CMP_GE,
                 h->round + 1, h->device->stream),
             "a wait on the stream");
    app_need(shmemx_quiet_on_stream(h->device->stream),
             "a quiet on the stream");
}

const struct halo_engine halo_put_signal = {
    2, false, put_open, halo_nothing, put_signal_send, put_signal_wait,
    put_close, put_received
};
