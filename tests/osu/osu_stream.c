/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_stream.c - the stream of the programs on streams; without shmemx_st.h
 * there are none. */
#include "osu.h"
#include "osu_int.h"

#ifdef __has_include
#if __has_include(<shmemx_st.h>)
#define HAVE_STREAMS 1
#endif
#endif

#ifdef HAVE_STREAMS
#include "osu_stream.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALONE = 1000 };              /* steps whose time is taken */

void osu_refused(const struct osu *o, int rc)
{
    fprintf(stderr, "%s: PE %d: a call on a stream of this device (%s) gave "
            "%d: %s\n", o->prog->name, o->pe, osu_stream_driver(o), rc,
            strerror(-rc));
    shmem_global_exit(EXIT_FAILURE);
}

void osu_stream_sync(struct osu *o)
{
    osu_notified(o, shmemx_stream_sync(o->stream->at));
}

void osu_stream_copy(struct osu *o, void *to, const void *from, size_t n)
{
    osu_notified(o, shmemx_stream_copy(o->stream->at, to, from, n));
}

/* The second half counts: the first calls load and allocate. */
static double alone_us(struct osu *o)
{
    double start = 0;

    for (int i = -ALONE; i < ALONE; i++) {
        if (i == 0) {
            osu_stream_sync(o);
            start = osu_now();
        }
        osu_work(o);
    }
    osu_stream_sync(o);
    return (osu_now() - start) / ALONE;
}

int osu_stream_open(struct osu *o)
{
    static struct osu_stream st;

    memset(&st, 0, sizeof st);
    if (osu_anybody(shmemx_stream_create(&st.at) != 0))
        return osu_complain(o, "wants a device's streams, and this job has "
                            "none: SHMEM_DEVICE is none or names a driver "
                            "without a device; SHMEM_DEVICE=software is one in "
                            "software");
    o->stream = &st;
    st.word = osu_words(o, OSU_WORK, OSU_DEVICE);
    st.signal = osu_words(o, sizeof *st.signal, OSU_HOST);
    if (!st.word || !st.signal)
        return osu_complain(o, "no room for 64 bytes in the symmetric heaps");
    osu_notified(o, shmemx_device_info(&st.device));
    st.work_us = alone_us(o);
    return 0;
}

void osu_stream_close(struct osu *o)
{
    if (o->stream)
        shmemx_stream_destroy(o->stream->at);
    o->stream = NULL;
}

const char *osu_stream_driver(const struct osu *o)
{
    return o->stream->device.driver;
}

double osu_stream_work_us(const struct osu *o)
{
    return o->stream->work_us;
}

static bool is_off_node(const struct osu *o)
{
    return shmem_team_translate_pe(SHMEM_TEAM_WORLD, o->peer,
                                   SHMEM_TEAM_SHARED) < 0;
}

const char *osu_stream_engine(const struct osu *o, int place)
{
    const shmemx_device_info_t *d = &o->stream->device;
    const struct osu_place *p = &o->places[place];
    const char *there = o->prog->is_get ? o->src_in[p->src]
                                        : o->dst_in[p->dst];
    bool host = p->src == OSU_HOST || p->dst == OSU_HOST;
    const shmemx_engines_t *e = is_off_node(o) ? &d->far :
        osu_in_device(there) ? &d->near_device : &d->near_host;

    if (p->exec == OSU_BY_HOST)
        return NULL;
    if (e != &d->far && !o->heap && host && strcmp(d->driver, "host"))
        return "soft";              /* GPUs do not reach static data */
    if (o->prog->kind == OSU_ATOMIC)
        return e->atomic;
    if (o->prog->echo && e != &d->far && strcmp(d->near_host.atomic, "copy"))
        return d->near_host.atomic; /* the signal's */
    return e->put;
}

double osu_steps_us(struct osu *o, size_t n)
{
    double start = 0, us;

    for (int i = -o->skip; i < o->iters; i++) {
        if (i == 0) {
            osu_stream_sync(o);
            start = osu_now();
        }
        o->prog->step(o, n);
        if (o->wait_each)
            osu_stream_sync(o);
    }
    osu_stream_sync(o);
    us = osu_now() - start;
    if (o->prog->kind == OSU_BANDWIDTH)
        return us;
    return us / o->iters / (o->prog->echo ? 2 : 1);
}

void osu_step_once(struct osu *o, size_t n)
{
    o->prog->step(o, n);
    osu_stream_sync(o);
}

#else                               /* programs on streams do not compile */

int osu_stream_open(struct osu *o)
{
    return osu_complain(o, "wants streams, which this library does not know");
}

void osu_stream_close(struct osu *o)
{
    (void)o;
}

void osu_stream_copy(struct osu *o, void *to, const void *from, size_t n)
{
    (void)o, (void)to, (void)from, (void)n;
}

const char *osu_stream_driver(const struct osu *o)
{
    (void)o;
    return "";
}

double osu_stream_work_us(const struct osu *o)
{
    (void)o;
    return 0;
}

const char *osu_stream_engine(const struct osu *o, int place)
{
    (void)o, (void)place;
    return NULL;
}
#endif
