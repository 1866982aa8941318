/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, grows and closes the device heap: all PEs together, at start or at the
 * first allocation that needs it.  Either all PEs have the heap or none has. */
#include "api/api.h"
#include "base/env.h"
#include "base/symbol.h"
#include "core/core_device.h"
#include "gtl/gtl.h"
#include "kernel/kernel.h"
#include "sm/sm_device_heap.h"
#include "ofi/ofi.h"
#include "rt/rt.h"
#include "sm/sm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The environment's settings of spaces; they must be the same on all PEs. */
enum { SETTINGS = 4 };
static const char *const setting_names[SETTINGS] = {
    "SHMEM_DEFAULT_SPACE", "SHMEM_ENABLE_CPU_SPACE",
    "SHMEM_ENABLE_GPU_SPACE (or SHMEM_DEVICE=none)",
    "SHMEM_DEVICE_SYMMETRIC_SIZE"
};

/* In symmetric memory. */
static struct shared {
    /* Used in turn: a PE that has its result may be in the next reduction
     * before others have read theirs, but no further. */
    struct reduction {
        uint64_t mine[2 * SETTINGS], least[2 * SETTINGS];
    } reduction[2];
    _Alignas(16) char sm[SM_DEVICE_ADDRESS], ofi[OFI_DEVICE_ADDR_SIZE];
} *shared;
static bool warned;
static bool failed;             /* for good; the same on all PEs */
static int hint;                /* ENV_GRAIN_... */
static const char *why_whole;   /* the heap does not grow; NULL: it does */

int api_device_open(void)
{
    failed = warned = false;
    hint = ENV_GRAIN_AUTO;
    core_unaware = env_is_set("ENABLE_DEVICE_AWARENESS") &&
                   !env.ENABLE_DEVICE_AWARENESS;
    shared = heap_reserve(sizeof *shared, _Alignof(struct shared));
    if (shared)
        return 0;
    log_error(ERR_HEAP, "the words of the device heap do not fit the reserved "
              "part of the heap");
    return -ENOMEM;
}

bool api_space_cpu(void)
{
    return heap_env_enabled(HEAP_HOST) != HEAP_ENV_OFF;
}

bool api_device_possible(void)
{
    return !failed && env.DEVICE != ENV_DEVICE_NONE &&
           heap_env_enabled(HEAP_DEVICE) != HEAP_ENV_OFF;
}

static const char *switched_off_by(void)
{
    return heap_env_enabled(HEAP_DEVICE) == HEAP_ENV_OFF
           ? heap_env_enabled_by(HEAP_DEVICE)
           : env.DEVICE == ENV_DEVICE_NONE ? "DEVICE=none" : NULL;
}

void api_device_report_disabled(const char *call)
{
    const char *by = switched_off_by();

    if (!by || warned)
        return;
    warned = true;
    if (rt_job.pe == 0)
        log_warn(ERR_DEVICE, "%s: there is no such memory space: that of the "
                 "device is switched off by SHMEM_%s", symbol_public(call),
                 by);
}

bool api_device_known(void)
{
    return env.DEVICE != ENV_DEVICE_NONE && !gtl_open(rt_job.local) &&
           gtl != &gtl_none && !ofi_device_prepare();
}

bool api_device_aware(void)
{
    return !core_unaware && api_device_known();
}

static const uint64_t *least_of(const uint64_t *mine, size_t n)
{
    static unsigned reductions;
    struct reduction *m = &shared->reduction[reductions++ & 1];

    /* Reports read the team of this thread's last collective call.  Where the
     * present call has not named its own yet, that may be freed. */
    if (core_activity_team != &core_world)
        core_activity_team = NULL;
    memcpy(m->mine, mine, n * sizeof *mine);
    coll_reduce(&core_world, m->least, m->mine, n, sizeof *mine,
                coll_ops[COLL_MIN][COLL_U64]);
    return m->least;
}

/* Synchronises all PEs, too. */
uint64_t api_min(uint64_t mine)
{
    return *least_of(&mine, 1);
}

static bool all_of_us(int rc)
{
    return api_min(rc == 0);
}

/* Ends with an error unless all settings agree: a PE that differs would wait
 * for the others to open a heap with it. */
static int agree(void)
{
    size_t size = 0;
    uint64_t v[2 * SETTINGS];
    const uint64_t *all;
    int k;

    heap_env_size(HEAP_DEVICE, &size);
    v[0] = (uint64_t)env.DEFAULT_SPACE;
    v[1] = heap_env_enabled(HEAP_HOST) != HEAP_ENV_OFF;
    v[2] = api_device_possible()
           ? (uint64_t)heap_env_enabled(HEAP_DEVICE) : HEAP_ENV_OFF;
    v[3] = size;
    for (k = 0; k < SETTINGS; k++)
        v[SETTINGS + k] = ~v[k];
    all = least_of(v, 2 * SETTINGS);
    for (k = 0; k < SETTINGS; k++)
        if (all[k] != ~all[SETTINGS + k])
            break;
    if (k == SETTINGS)
        return 0;
    if (rt_job.pe)
        core_await_end();
    log_error(ERR_ENV, "not all PEs have the same %s: give it to all of them "
              "(mpirun passes it on with -x)", setting_names[k]);
    return -EINVAL;
}

/* The outcome of all PEs' rc: SHARED; LOCKED where one has 1; else the lowest
 * PE that has -errno. */
enum { LOCKED = INT_MAX - 1, SHARED = INT_MAX };
static int outcome(int rc)
{
    return (int)api_min((uint64_t)(rc < 0 ? rt_job.pe : rc ? LOCKED
                                                           : SHARED));
}

static const char *cure_of(int rc)
{
    switch (rc) {
    case -ENODEV:
        return "give all PEs all devices of the node (--gpu-bind=none, no "
               "*_VISIBLE_DEVICES)";
    case -EXDEV:
        return "devices on different bridges or in a virtual machine may have "
               "none; shmem_info --check tries each pair";
    case -ENOSPC:
        return "switch on resizable BAR in the machine's firmware, or set a "
               "smaller SHMEM_DEVICE_SYMMETRIC_SIZE";
    default:
        return "PEs in containers want one PID and one IPC namespace, and all "
               "devices of the node";
    }
}

int api_device_users(void)
{
    return gtl == &gtl_none ? 0 : sm_device_count_users(shared->sm);
}

const char *api_device_shared(char *buf, int users)
{
    snprintf(buf, API_SHARED_TEXT, "%d PEs share a device: kernels of one wait "
             "while those of another run, and streams %s", users,
             gtl_device.memops ? "wait for words without a kernel"
             : "cannot wait for words, for which a kernel would spin");
    return buf;
}

static void report_users(void)
{
    char text[API_SHARED_TEXT];
    int users = api_device_users();

    if (rt_job.pe == 0 && users > 1 && !gtl_device.host_streams)
        log_info(LOG_API, "%s", api_device_shared(text, users));
}

_Static_assert((int)API_LIMIT_TEXT == (int)SM_LIMIT_TEXT &&
               API_DEVICE_HEAP_DEFAULT == SM_DEVICE_HEAP_DEFAULT,
               "api.h has what sm has");
const char *api_device_limit_text(size_t size, char buf[API_LIMIT_TEXT])
{
    return sm_device_heap_limit_text(size, buf);
}

/* Does the processor reach the device memory of all PEs, or of none? */
static bool alike(void)
{
    const uint64_t v[] = { heap_device_host_access, !heap_device_host_access };
    const uint64_t *all = least_of(v, 2);

    if (all[0] || all[1])
        return true;
    if (rt_job.pe == 0)
        log_warn(ERR_DEVICE, "device memory cannot be shared between the PEs "
                 "(the processor reaches that of some of them only): the "
                 "device heap lies in pinned host memory, which is slower");
    return false;
}

static void report_unshared(int rc, bool grows)
{
    const char *why = gtl_error()[0] ? gtl_error() : "refused";

    if (grows)
        log_info(LOG_API, "memory that grows cannot be shared between the PEs "
                 "of a node: %s", why);
    else
        log_warn(ERR_DEVICE, "device memory cannot be shared between the PEs "
                 "of a node (%s): the device heap lies in pinned host memory, "
                 "which is slower; %s", why, cure_of(rc));
}

static int export_and_open(bool grows)
{
    int rc = sm_device_export(shared->sm), who = outcome(rc);

    report_users();
    if (who == SHARED) {
        rc = sm_device_open_peers(shared->sm);
        who = outcome(rc);
    }
    if (who == rt_job.pe)
        report_unshared(rc, grows);
    if (who < LOCKED || !alike())
        return -ENODEV;
    if (who == SHARED)
        return 0;
    if (rt_job.pe == 0)
        log_info(LOG_API, "devices of a node have no atomics on each other's "
                 "memory: those on device heaps are made one at a time");
    sm_device_use_lock(shared->sm);
    return 0;
}

/* Connects the PEs of a node: by exported handles where these work, else by
 * pinned host memory that all reach anyway. */
static int join(size_t size)
{
    int rc;

    if (!export_and_open(false))
        return 0;
    rc = rt_job.local ? 0 : sm_device_heap_check(size, rt_job.n_local);
    if (!rc)
        rc = sm_device_pinned_listen(shared->sm, size);
    if (!all_of_us(rc))
        return -ENODEV;
    rc = sm_device_pinned_map(shared->sm, size);
    return all_of_us(rc) ? 0 : -ENODEV;
}

static void close_heap(void)
{
    sm_device_close_peers();
    ofi_device_unregister();
    api_min(0); /* no PE frees memory that another still has open */
    sm_device_heap_close();
    sm_device_close();
}

static int open_device(void)
{
    int rc = gtl_open(rt_job.local);

    if (!rc && gtl == &gtl_none)
        rc = -ENODEV;
    return rc || hint == ENV_GRAIN_AUTO ? rc : gtl->set_coherence(hint);
}

/* The size of the heap, the same on all PEs; 0: there is none. */
static size_t agree_size(int rc, bool grows)
{
    size_t size = rc ? 0 : sm_device_heap_size(rt_job.n_local, grows);

    if (size && gtl_device.host_memory && !rt_job.local &&
        sm_device_heap_check(size, rt_job.n_local))
        size = 0;
    return api_min(size);
}

/* Adds a piece to this PE's heap and opens it on the PEs of its node. */
static bool grow_on_node(size_t end, enum sm_growth how)
{
    int rc = sm_device_heap_grow(end, how);

    if (!all_of_us(rc)) {
        if (!rc)
            sm_device_heap_rollback();
        return false;
    }
    rc = sm_device_export(shared->sm);
    if (all_of_us(rc)) {
        rc = sm_device_open_growth(shared->sm);
        if (all_of_us(rc))
            return true;
    }
    sm_device_close_growth();
    if (rc && how == SM_GROW_EXACT)
        log_warn(ERR_DEVICE, "more of the device heap cannot be shared between "
                 "the PEs of a node: %s", gtl_error());
    api_min(0);                 /* the others have closed it */
    sm_device_heap_rollback();
    return false;
}

static bool grow(size_t end, enum sm_growth how)
{
    int rc;

    if (!grow_on_node(end, how))
        return false;
    rc = ofi_device_register(sm_device_heap_grown(), how == SM_GROW_EXACT);
    if (!all_of_us(rc)) {
        ofi_device_register_cancel();
        sm_device_close_growth();
        api_min(0);
        sm_device_heap_rollback();
        return false;
    }
    sm_device_heap_commit();
    ofi_device_publish_key();
    api_min(0);                 /* all keys are published */
    ofi_device_fetch_keys();
    return true;
}

/* Some providers reach the first piece and not the next one. */
static bool reaches_pieces(void)
{
    size_t seam = sm_device_heap_grown();

    if (seam == heap_device.to)
        return true;            /* one piece is all of it */
    if (!grow(seam + HEAP_ALIGN, SM_GROW_TRIAL))
        return false;
    return all_of_us(ofi_device_seam_works(seam) ? 0 : -EIO);
}

/* *plain: memory that grows cannot be exported by the driver, or reached by the
 * NIC, which would move off-node data through host memory instead. */
static int connect(size_t size, bool grows, bool *plain)
{
    bool by_nic;
    int rc;

    *plain = grows && export_and_open(true);
    if (*plain)
        why_whole = "not all PEs of a node can open it otherwise";
    rc = grows ? *plain ? -ENODEV : 0 : join(size);
    if (!rc)
        rc = all_of_us(ofi_device_open(shared->ofi)) ? 0 : -ENODEV;
    if (rc)
        return rc;
    by_nic = api_min(ofi_device_by_nic());
    *plain = grows && !by_nic && !api_min(!ofi_device_hmem_offered());
    if (!*plain)
        ofi_device_choose_path(by_nic);
    if (grows && by_nic && xport_net)
        *plain = !reaches_pieces();
    if (*plain) {
        why_whole = "a NIC does not reach memory that grows";
        return -ENODEV;
    }
    heap_device_agree(api_min(heap_device_align()));
    return 0;
}

/* rc: of open_device().  *plain: try again without growth. */
static int make(int rc, bool grows, bool *plain)
{
    size_t size = agree_size(rc, grows);

    *plain = false;
    if (!size)
        return -ENODEV;
    rc = sm_device_heap_open(size, grows);
    if (!all_of_us(rc)) {
        sm_device_heap_close();
        *plain = grows;
        if (grows)
            why_whole = "the driver refuses memory that grows";
        return -ENOMEM;
    }
    rc = connect(size, grows, plain);
    if (rc)
        close_heap();
    return rc;
}

void api_device_hint(int grain)
{
    if (!heap_device.arena)
        hint = grain;
    else if (gtl_device.coherence)
        log_info(LOG_API, "the device heap is there, and is %s",
                 gtl_device.coherence);
}

int api_device_require(void)
{
    bool plain = true;
    int rc, opened;

    if (heap_device.arena)
        return 0;
    if (!api_device_possible())
        return -ENODEV;
    rc = opened = open_device();
    why_whole = gtl_device.why_fixed;
    if (api_min(!rc && !gtl_device.why_fixed)) {
        why_whole = NULL;
        rc = make(opened, true, &plain);
    } else if (!why_whole) {
        why_whole = "another PE's device cannot have it otherwise";
    }
    if (plain)
        rc = make(opened, false, &plain);
    failed = rc;
    if (!rc)
        kernel_heap_opened();
    if (!rc && rt_job.pe == 0)
        log_info(LOG_API, "the device heap takes %s", api_device_growth());
    return rc;
}

const char *api_device_growth(void)
{
    static char text[200];

    if (why_whole)
        snprintf(text, sizeof text, "all of its memory at once: %s", why_whole);
    else
        snprintf(text, sizeof text, "memory as it is used, which other PEs of "
                 "the node open by %s", gtl_device.growth_export);
    return text;
}

bool api_device_cover(const void *p, size_t size)
{
    size_t end = (uintptr_t)p + size - heap_segs[HEAP_DEVICE].base;

    return heap_device_has_memory(p, size) || grow(end, SM_GROW_AMPLE) ||
           grow(end, SM_GROW_EXACT);
}

/* shmem_malloc must have a place. */
static int need_default(void)
{
    bool off = heap_env_enabled(HEAP_DEVICE) == HEAP_ENV_OFF;
    int rc;

    if (api_device_possible()) {
        rc = api_device_require();
        if (rc && rt_job.pe == 0)
            log_error(ERR_DEVICE, "shmem_malloc is to take device memory, "
                      "which this job cannot have: unset SHMEM_DEFAULT_SPACE "
                      "and SHMEM_ENABLE_CPU_SPACE");
        return rc;
    }
    if (rt_job.pe)
        core_await_end();
    if (!api_space_cpu())
        log_error(ERR_ENV, "no memory space is left: the host's is switched "
                  "off by SHMEM_ENABLE_CPU_SPACE, the device's by %s",
                  off ? "SHMEM_ENABLE_GPU_SPACE" : "SHMEM_DEVICE=none");
    else
        log_error(ERR_ENV, "SHMEM_DEFAULT_SPACE is gpu, but %s switches device "
                  "memory off",
                  off ? "SHMEM_ENABLE_GPU_SPACE" : "SHMEM_DEVICE=none");
    return -EINVAL;
}

/* A program that has loaded a GPU's driver may pass its memory to any call. */
static bool aware_at_start(void)
{
    if (env.DEVICE == ENV_DEVICE_NONE)
        return false;
    return env_is_set("ENABLE_DEVICE_AWARENESS")
           ? env.ENABLE_DEVICE_AWARENESS : gtl_program_loaded_driver();
}

int api_device_start(void)
{
    int rc = agree();

    if (rc)
        return rc;
    if (api_default_space == &heap_device)
        return need_default();
    /* Without it the program gets no such memory, and may go on. */
    if (heap_device_wanted() && api_device_possible())
        api_device_require();
    if (!aware_at_start())
        return 0;
    rc = gtl_open(rt_job.local);
    if (rc) {
        log_error(ERR_DEVICE, "the device, which %s, cannot be had",
                  env_is_set("ENABLE_DEVICE_AWARENESS")
                  ? "SHMEM_ENABLE_DEVICE_AWARENESS wants at start"
                  : "may be meant by the program that has loaded its driver");
        return rc;
    }
    sm_device_publish_id(shared->sm);
    return ofi_device_prepare();
}

void api_device_leave(void)
{
    sm_device_close_peers();
}

void api_device_close(void)
{
    sm_device_heap_close();
    sm_device_close();
    gtl_close();
}
