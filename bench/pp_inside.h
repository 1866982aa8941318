/* SPDX-License-Identifier: BSD-3-Clause */
/* pp_inside.h - the kernels of pp_pack, and the modes whose kernels call the
 * library. */
#ifndef PP_INSIDE_H
#define PP_INSIDE_H

#include "pp_pack.h"

#include "launch.h"
#include "pp_pack.inc"

#include <shmemx_trig.h>

enum kernel { PACK, ECHO, CHECK, N_KERNELS };
static const char *const kernel_names[N_KERNELS] = {
    "pp_pack", "pp_echo", "pp_check"
};

KERNELS(LAUNCH_SOFT)

KI_TEXT(pp_calling, KI_TEXT_FILE, KI_PTX_FILE);

enum { INSIDE, PACK_PARTS, CALLING };

static inline bool pp_inside(enum pp_mode m)
{
    return m == PP_KI || m == PP_KT;
}

static inline bool pp_calls(enum pp_mode m)
{
    return pp_inside(m) || m == PP_PART;
}

static struct pp_calling {
    struct launcher kernels;
    bool loaded;
    shmemx_trig_t trig;         /* of kt, with one put */
    uint64_t sent;              /* by that */
    unsigned long *came;        /* symmetric: messages of ki and kt */
    uint64_t messages;          /* of those, of each PE */
    struct trips trips;         /* what the kernel at hand reads */
} pp_calling;

static const char *const pp_calling_names[CALLING] = {
    "bench_round_trips_inside", "bench_pack_parts"
};

LAUNCH_SOFT(round_trips_inside)
LAUNCH_SOFT(pack_parts)
static const shmemx_kernel_t pp_calling_soft[CALLING] = {
    soft_round_trips_inside, soft_pack_parts
};

/* NULL, or why they do not run on this device. */
static const char *pp_calling_load(const shmemx_device_info_t *d)
{
    struct launcher *l = &pp_calling.kernels;

    if (!pp_calling.loaded)     /* for another mode */
        pp_calling.loaded = launch_open(l, d, pp_calling_names, CALLING,
                                        pp_calling_soft, pp_calling_ptx,
                                        pp_calling_text);
    return pp_calling.loaded ? NULL : l->gpu.said;
}

/* ---- These give 0 or -errno ---- */

/* One group.  arg stays as it is until the kernel has run. */
static int pp_calling_launch(int kernel, void *arg, shmemx_stream_t stream)
{
    return launch(&pp_calling.kernels, kernel, 1, 0, arg, stream);
}

/* The put of kt, of one size. */
static int pp_trig_make(void *sent, void *got, size_t bytes, int peer)
{
    int rc = shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0,
                                &pp_calling.trig);

    pp_calling.sent = 0;
    rc = rc ? rc : shmemx_trig_put_signal(pp_calling.trig, 0, 1, got, sent,
                                          bytes, pp_calling.came, 1,
                                          SHMEM_SIGNAL_ADD, peer);
    return rc ? rc : shmemx_trig_repeat(pp_calling.trig, 0);
}

/* n round trips by one kernel; step is that of the first. */
static int pp_inside_run(enum pp_mode m, const struct step *step, int n,
                         bool answers, bool checked, int spoilt, int peer,
                         shmemx_stream_t stream)
{
    struct trips *t = &pp_calling.trips;
    int rc;

    *t = (struct trips){
        .step = *step, .came = pp_calling.came, .before = pp_calling.messages,
        .sent = pp_calling.sent, .n = (word32)n, .answers = answers,
        .checks = checked, .hits = m == PP_KT, .spoilt = (word32)spoilt,
        .peer = peer
    };
    rc = shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &t->dev);
    if (!rc && m == PP_KT)
        rc = shmemx_trig_dev(pp_calling.trig, &t->trig);
    rc = rc ? rc : pp_calling_launch(INSIDE, t, stream);
    rc = rc ? rc : shmemx_stream_sync(stream);
    pp_calling.messages += (uint64_t)n;
    pp_calling.sent += m == PP_KT ? (uint64_t)n : 0;
    return rc;
}

#endif
