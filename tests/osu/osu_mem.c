/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_mem.c - buffers in host and device memory, and how they are written and
 * read: the processor need not reach the device's, so a put or a get of this
 * PE to itself moves what it has. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_include
#if __has_include(<shmem_space.h>)
#include <shmem_space.h>
#define HAVE_SPACES 1
#endif
#endif

#ifdef HAVE_SPACES
/* -s and -d name a space; without them it is where shmem_malloc allocates, as
 * in OSU's programs. */
static void *heap_align(const struct osu *o, enum osu_space space, size_t bytes)
{
    if (space == OSU_DEVICE)
        return shmem_space_align(SHMEM_SPACE_DEVICE, 4096, bytes);
    if (o->src_opt || o->dst_opt)
        return shmem_space_align(SHMEM_SPACE_CPU, 4096, bytes);
    return shmem_align(4096, bytes);
}

static bool has(enum osu_space space)
{
    return shmemx_space_usable(space == OSU_DEVICE ? SHMEM_SPACE_DEVICE
                                                   : SHMEM_SPACE_CPU);
}

bool osu_in_device(const void *p)
{
    shmem_space_t space;

    return shmem_get_space((void *)p, &space) == 0 &&
           space == SHMEM_SPACE_DEVICE;
}

static void *words(enum osu_space space, size_t n)
{
    if (!has(space))
        space = space == OSU_HOST ? OSU_DEVICE : OSU_HOST;
    return shmem_space_malloc(space == OSU_HOST ? SHMEM_SPACE_CPU
                                                : SHMEM_SPACE_DEVICE, n);
}
#else
static void *heap_align(const struct osu *o, enum osu_space space, size_t bytes)
{
    (void)o;
    return space == OSU_DEVICE ? NULL : shmem_align(4096, bytes);
}

static bool has(enum osu_space space)
{
    return space == OSU_HOST;
}

bool osu_in_device(const void *p)
{
    (void)p;
    return false;
}

static void *words(enum osu_space space, size_t n)
{
    (void)space;
    return shmem_malloc(n);
}
#endif

bool osu_uses(const struct osu *o, enum osu_space space)
{
    for (int k = 0; k < o->n_places; k++)
        if (o->places[k].src == space || o->places[k].dst == space)
            return true;
    return false;
}

size_t osu_bytes(const struct osu *o)
{
    switch (o->prog->kind) {
    case OSU_RATE:
        return osu_rate_span(o) + OSU_GUARD;
    case OSU_LATENCY:
    case OSU_OVERLAP:
        return o->max + OSU_GUARD;
    case OSU_COLLECTIVE:
        return o->max * (size_t)o->npes;
    default:
        return o->prog->bytes;
    }
}

bool osu_anybody(bool lacks)
{
    static int lacking;

    shmem_barrier_all();
    shmem_int_atomic_add(&lacking, lacks, 0);
    shmem_barrier_all();
    return shmem_int_atomic_fetch(&lacking, 0) != 0;
}

/* Heap buffers begin on a page, as OSU's do. */
static char *make(struct osu *o, enum osu_space space)
{
    void *p = heap_align(o, space, osu_bytes(o));

    if (p)
        o->blocks[o->n_blocks++] = p;
    return p;
}

/* The library may have said more. */
int osu_complain(const struct osu *o, const char *what)
{
    if (o->pe == 0)
        fprintf(stderr, "%s: %s\n", o->prog->name, what);
    return 1;
}

/* What -s or -d asks for is not to be had. */
static int no_space(const struct osu *o, enum osu_space space)
{
    return osu_complain(o, space == OSU_HOST ?
        "-s or -d wants host memory, and this job has none: "
        "SHMEM_ENABLE_CPU_SPACE is 0" :
        "-s or -d wants device memory, and this job has none: SHMEM_DEVICE "
        "is none or names a driver without a device (SHMEM_DEVICE=software is one "
        "in software), SHMEM_ENABLE_GPU_SPACE 0, or the library knows none");
}

static int no_room(const struct osu *o, enum osu_space space)
{
    char what[256];

    if (space == OSU_DEVICE && !has(space))
        return osu_complain(o, "-s or -d wants device memory, which could not "
                            "be made: SHMEM_DEVICE=software is a device in "
                            "software, SHMEM_DEVICE_SYMMETRIC_SIZE the size "
                            "asked for");
    snprintf(what, sizeof what, "no room for buffers of %zu bytes in the "
             "symmetric heap%s: set %s or a smaller -m", osu_bytes(o),
             space == OSU_DEVICE ? " in device memory" : "",
             space == OSU_DEVICE ? "SHMEM_DEVICE_SYMMETRIC_SIZE"
                                 : "SHMEM_SYMMETRIC_SIZE");
    return osu_complain(o, what);
}

/* The buffers of one space.  Programs with one buffer have one in each. */
static int make_in(struct osu *o, enum osu_space space)
{
    const struct osu_prog *p = o->prog;
    bool global = space == OSU_HOST && !o->heap && p->kind != OSU_COLLECTIVE;
    bool two = p->src != p->dst || p->kind == OSU_COLLECTIVE;

    if (osu_anybody((o->src_opt || o->dst_opt) && !global && !has(space)))
        return no_space(o, space);
    if (global && osu_bytes(o) > p->bytes)
        return osu_bad(o, "-m", "MAX", "larger than the global buffers");
    o->dst_in[space] = global ? p->dst : make(o, space);
    o->src_in[space] = global ? p->src : two ? make(o, space)
                                             : o->dst_in[space];
    if (osu_anybody(!o->src_in[space] || !o->dst_in[space]))
        return no_room(o, space);
    return 0;
}

int osu_buffers(struct osu *o)
{
    int rc = 0;

    if (o->prog->kind == OSU_BARRIER)
        return 0;
    if (osu_uses(o, OSU_HOST))
        rc = make_in(o, OSU_HOST);
    if (!rc && osu_uses(o, OSU_DEVICE))
        rc = make_in(o, OSU_DEVICE);
    return rc;
}

void *osu_words(struct osu *o, size_t n, enum osu_space space)
{
    void *p = words(space, n);

    if (osu_anybody(!p))
        return NULL;
    osu_set(p, 0, n);
    o->blocks[o->n_blocks++] = p;
    shmem_barrier_all();
    return p;
}

void osu_buffers_free(struct osu *o)
{
    while (o->n_blocks > 0)
        shmem_free(o->blocks[--o->n_blocks]);
}

const char *const osu_exec_names[] = {
    [OSU_BY_HOST] = "host", [OSU_BY_STREAM] = "stream",
    [OSU_BY_THREAD] = "thread", [OSU_BY_WARP] = "warp",
    [OSU_BY_BLOCK] = "block",
};

/* By what differs among them. */
const char *osu_place_name(const struct osu *o, int place)
{
#define NAMES(by) { [OSU_HOST] = { "H-H" by, "H-D" by },                    \
                    [OSU_DEVICE] = { "D-H" by, "D-D" by } }
    static const char *const names[][OSU_SPACES][OSU_SPACES] = {
        [OSU_BY_HOST] = NAMES(" host"), [OSU_BY_STREAM] = NAMES(" stream"),
        [OSU_BY_THREAD] = NAMES(" thread"), [OSU_BY_WARP] = NAMES(" warp"),
        [OSU_BY_BLOCK] = NAMES(" block"), [OSU_EXECS] = NAMES(""),
    };
#undef NAMES
    const struct osu_place *p = &o->places[place], *last;

    last = &o->places[o->n_places - 1];
    if (last->exec != o->places->exec && last->src == o->places->src &&
        last->dst == o->places->dst)
        return osu_exec_names[p->exec];
    return names[last->exec == o->places->exec ? OSU_EXECS
                                               : p->exec][p->src][p->dst];
}

void osu_place(struct osu *o, int place)
{
    o->place = place;
    memset(&o->cells[place], 0, sizeof o->cells[place]);
    o->src = o->src_in[o->places[place].src];
    o->dst = o->dst_in[o->places[place].dst];
}

void osu_store(void *to, const void *from, size_t n)
{
    if (!osu_in_device(to))
        memcpy(to, from, n);
    else
        shmem_putmem(to, from, n, shmem_my_pe());
}

void osu_load(void *to, const void *from, size_t n)
{
    if (!osu_in_device(from))
        memcpy(to, from, n);
    else
        shmem_getmem(to, from, n, shmem_my_pe());
}

void osu_set(void *to, int byte, size_t n)
{
    static char some[1 << 20];
    char *at = to;
    size_t len;

    if (!osu_in_device(to)) {
        memset(to, byte, n);
        return;
    }
    memset(some, byte, n < sizeof some ? n : sizeof some);
    for (; n > 0; n -= len, at += len) {
        len = n < sizeof some ? n : sizeof some;
        shmem_putmem(at, some, len, shmem_my_pe());
    }
}

void *osu_host_buffer(const struct osu *o, size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (!p) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", o->prog->name, bytes);
        shmem_global_exit(EXIT_FAILURE);
    }
    return p;
}
