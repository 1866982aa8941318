/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: half the time of a round trip of a step of the device, a put
 * with a signal and a wait for the other PE's, made by the devices' streams or
 * by the programs. */
#include "osu_stream.h"

#include <shmem.h>

static char src[OSU_LAT_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_LAT_BYTES] __attribute__((aligned(4096)));

static void send(struct osu *o, size_t n)
{
    struct osu_stream *st = o->stream;

    osu_work(o);
    if (osu_by_host(o)) {
        osu_stream_sync(o);
        shmem_putmem_signal(o->dst, o->src, n, st->signal, st->rounds,
                            SHMEM_SIGNAL_SET, o->peer);
    } else {
        osu_notified(o, shmemx_putmem_signal_on_stream(
                        o->dst, o->src, n, st->signal, st->rounds,
                        SHMEM_SIGNAL_SET, o->peer, st->at));
    }
}

static void await(struct osu *o)
{
    struct osu_stream *st = o->stream;

    if (osu_by_host(o))
        shmem_signal_wait_until(st->signal, SHMEM_CMP_GE, st->rounds);
    else
        osu_notified(o, shmemx_signal_wait_until_on_stream(
                        NULL, st->signal, SHMEM_CMP_GE, st->rounds, st->at));
}

static void step(struct osu *o, size_t n)
{
    o->stream->rounds++;
    if (o->pe == 0)
        send(o, n);
    await(o);
    if (o->pe != 0)
        send(o, n);
}

static const struct osu_prog prog = {
    .name = "osu_oshm_put_signal_on_stream",
    .title = "OSU OpenSHMEM Put Signal on Stream Test",
    .kind = OSU_LATENCY,
    .src = src,
    .dst = dst,
    .bytes = OSU_LAT_BYTES,
    .on_stream = true,
    .echo = true,
    .step = step,
};

int main(int argc, char **argv)
{
    return osu_copies(&prog, osu_steps_us, osu_step_once, argc, argv);
}
