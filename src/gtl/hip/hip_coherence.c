/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_coherence.c - which kind of memory of AMD's GPUs the library allocates:
 * coarse-grained, fine-grained or uncached (SHMEM_DEVICE_GRAIN).
 *
 * Memory of hipMalloc() is coarse-grained: a running kernel need not see
 * stores there by the processor, other devices and NICs, so that a stream may
 * wait for ever for a flag that is set. Fine-grained and uncached memory are
 * coherent, each on some GPUs only; the runtime may take the flag and give
 * coarse-grained memory all the same, or memory that no other process can
 * open. A trial shows what a polling kernel sees. The trial's store is a
 * copy by the device's DMA engine: no NIC is open yet, and the processor does
 * not reach device memory everywhere. */
#include "gtl/hip/hip_int.h"
#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

enum { SEEN_MS = 500, ENDS_MS = 2000 };

/* As the words of SHMEM_DEVICE_GRAIN. */
static const struct {
    const char *name;
    unsigned flag;
} grains[] = {
    [ENV_GRAIN_COARSE] = { "coarse", 0 },
    [ENV_GRAIN_FINE] = { "fine", HIP_MALLOC_FINE },
    [ENV_GRAIN_UNCACHED] = { "uncached", HIP_MALLOC_UNCACHED }
};

/* 0: the wait ends by the copy; -ESTALE: by a kernel of its own device only;
 * -EIO: by neither, and the stream hangs. */
static int poll_it(uint64_t *word, void *waits, void *stores)
{
    static const uint64_t one = 1;
    int rc = gtl_hip_fill(word, 0, sizeof *word, waits);

    if (!rc)
        rc = gtl_hip_stream_sync(waits);
    if (!rc)
        rc = gtl_hip_wait_shortly(word, 1, waits);
    if (!rc)
        rc = gtl_hip_wait_stream(waits, 1);
    if (rc != -EAGAIN)
        return rc ? rc : gtl_fail(-ESTALE, "poll", "a wait in device memory "
                                  "does not wait", 0);
    rc = gtl_hip_copy(word, &one, sizeof one, stores);
    if (!rc)
        rc = gtl_hip_wait_stream(stores, ENDS_MS);
    if (!rc)
        rc = gtl_hip_wait_stream(waits, SEEN_MS);
    if (!rc)
        return 0;
    rc = gtl_hip_write64(word, 1, stores);
    if (!rc)
        rc = gtl_hip_wait_stream(waits, ENDS_MS);
    return rc ? gtl_fail(-EIO, "poll", "a wait in device memory that was "
                         "ended goes on", 0)
              : gtl_fail(-ESTALE, "poll", "a kernel does not see there what "
                         "others store", 0);
}

static int poll_on(uint64_t *word)
{
    void *waits, *stores;
    int rc = gtl_hip_stream_create(GTL_NORMAL, &waits);

    if (rc)
        return rc;
    rc = gtl_hip_stream_create(GTL_URGENT, &stores);
    if (!rc) {
        rc = poll_it(word, waits, stores);
        gtl_hip_stream_destroy(stores);
    }
    if (rc != -EIO)
        gtl_hip_stream_destroy(waits);
    return rc;
}

static bool is_exportable(void *p)
{
    struct gtl_ipc_handle h;
    int none;

    return !gtl_hip_ipc_export(p, &h, &none);
}

/* Coarse-grained memory can be exported where any can. */
static bool any_exportable(void)
{
    unsigned grain = gtl_hip_state.grain;
    bool yes = false;
    void *p;

    gtl_hip_state.grain = 0;
    if (!gtl_hip_alloc(4096, &p)) {
        yes = is_exportable(p);
        gtl_hip_free(p);
    }
    gtl_hip_state.grain = grain;
    return yes;
}

/* 0; -ESTALE: memory that does for data; -EIO: the device hangs; else there
 * is none that serves. */
static int try(int which)
{
    void *p;
    int rc;

    gtl_hip_state.grain = grains[which].flag;
    if (gtl_hip_state.grain && !gtl_hip_rt.ExtMallocWithFlags)
        return gtl_fail(-ENOSYS, "hipExtMallocWithFlags",
                        "not in this version of ROCm", 0);
    rc = gtl_hip_alloc(4096, &p);
    if (rc)
        return rc;
    if (!is_exportable(p) && any_exportable())
        rc = gtl_fail(-EXDEV, "hipIpcGetMemHandle", "no other process can open "
                      "it", 0);
    else if (!gtl_hip_state.grain)
        rc = gtl_fail(-ESTALE, "poll", "coarse-grained memory", 0);
    else if (gtl_hip_state.kernels || gtl_hip_state.waits)
        rc = poll_on(p);
    if (rc != -EIO)
        gtl_hip_free(p);
    return rc;
}

static int take(int which, int rc, struct gtl_device *d)
{
    gtl_hip_state.grain = grains[which].flag;
    d->coherence = grains[which].name;
    d->stale_waits = rc == -ESTALE;
    return 0;
}

static int choose(struct gtl_device *d)
{
    static const int order[] = { ENV_GRAIN_UNCACHED, ENV_GRAIN_FINE };
    int rc;

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        rc = try(order[i]);
        if (!rc || rc == -EIO)
            return rc ? rc : take(order[i], 0, d);
        log_info(LOG_GTL, "device memory is not %s: %s",
                 grains[order[i]].name, gtl_error());
    }
    return take(ENV_GRAIN_COARSE, -ESTALE, d);
}

/* -EIO: the device hangs. */
static int take_wanted(int wanted, const char *asks, struct gtl_device *d)
{
    int rc = try(wanted);

    if (rc == -EIO)
        return rc;
    if (!rc || rc == -ESTALE) {
        if (rc && wanted != ENV_GRAIN_COARSE)
            log_warn(ERR_DEVICE, "%s%s: %s; a thread looks there for streams "
                     "that wait", asks, grains[wanted].name, gtl_error());
        return take(wanted, rc, d);
    }
    log_warn(ERR_DEVICE, "%s%s: %s; it is chosen as by auto", asks,
             grains[wanted].name, gtl_error());
    return choose(d);
}

int gtl_hip_coherence_open(struct gtl_device *d)
{
    return env.DEVICE_GRAIN == ENV_GRAIN_AUTO
        ? choose(d)
        : take_wanted((int)env.DEVICE_GRAIN, "SHMEM_DEVICE_GRAIN=", d);
}

int gtl_hip_set_coherence(int wanted)
{
    int was, rc;

    if (env.DEVICE_GRAIN != ENV_GRAIN_AUTO)
        return 0;
    was = gtl_hip_enter();
    rc = take_wanted(wanted, "shmem_space_create: device memory that is ",
                     &gtl_device);
    gtl_hip_leave(was);
    return rc;
}
