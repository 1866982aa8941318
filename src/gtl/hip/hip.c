/* SPDX-License-Identifier: BSD-3-Clause */
/* hip.c - the driver for AMD's GPUs, by the HIP runtime: finds the device and
 * what it can do, and has the driver's table.  gtl.c calls it.
 *
 * A program that calls HIP, too, shares the runtime with us: its current
 * device and its last error stay as they were, and the library is not
 * closed, for its threads and exit handlers outlive us. */
#include "gtl/hip/hip_int.h"
#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIAL_MS = 2000 };

static bool is_active(int device)
{
    unsigned flags;
    int active = 0;

    return !HIP(DevicePrimaryCtxGetState, device, &flags, &active) && active;
}

/* Has the program used device 0?  Old runtimes take "active" for "current in
 * this thread": they are asked again while another one is current. */
static bool first_is_used(void)
{
    bool used = is_active(0);

    if (!used || HIP(SetDevice, 1))
        return false;
    used = is_active(0);
    HIP(SetDevice, 0);
    return used;
}

static int choose_device(int local, struct gtl_device *out)
{
    int now = 0, rc;

    rc = HIP(GetDeviceCount, &out->count);
    if (!rc && out->count < 1)
        rc = gtl_fail(-ENODEV, "hipGetDeviceCount", "no device", 0);
    if (!rc)
        rc = HIP(GetDevice, &now);
    if (rc)
        return rc;
    if (!now && out->count > 1 && !first_is_used())
        now = local % out->count;
    out->ordinal = gtl_hip_state.device = now;
    return 0;
}

static int attribute(enum hip_attr attr)
{
    int value = 0;

    return HIP(DeviceGetAttribute, &value, attr, gtl_hip_state.device)
        ? 0 : value;
}

/* The attribute is an address, though the call says int. */
static volatile uint32_t *find_hdp(void)
{
    union {
        void *address;
        int first;
    } hdp = { NULL };

    if (HIP(DeviceGetAttribute, &hdp.first, HIP_ATTR_HDP_MEM_FLUSH,
            gtl_hip_state.device))
        return NULL;
    return hdp.address;
}

static void warn_blocking(void)
{
    static const char *const names[] = {
        "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL", "AMD_SERIALIZE_COPY"
    };
    static bool warned;
    const char *text;

    for (size_t i = 0; !warned && i < sizeof names / sizeof *names; i++) {
        text = env_foreign(names[i]);
        if (text && strcmp(text, "0"))
            log_warn(ERR_DEVICE, "%s=%s: what follows a wait on its stream "
                     "stops the PE, and with it what the wait is for; unset "
                     "it but for debugging", names[i], text);
    }
    warned = true;
}

static int describe(struct gtl_device *d)
{
    const char *queues = env_foreign("GPU_MAX_HW_QUEUES");
    size_t memory = 0;
    int rc;

    rc = HIP(DeviceGetName, d->name, (int)sizeof d->name, d->ordinal);
    if (!rc)
        rc = HIP(DeviceTotalMem, &memory, d->ordinal);
    if (rc)
        return rc;
    gtl_hip_identify(d->ordinal, d);
    gtl_hip_state.id = gtl_id_hash(d->id);
    d->memory = memory;
    d->host_access = attribute(HIP_ATTR_INTEGRATED) != 0;
    d->coarse = true;
    gtl_hip_state.hdp = find_hdp();
    d->ordered = !gtl_hip_state.hdp;
    warn_blocking();
    d->processors = (unsigned)attribute(HIP_ATTR_PROCESSORS);
    d->items_each = (unsigned)attribute(HIP_ATTR_ITEMS_EACH);
    d->items_unit = 64;         /* the larger one of its two wave sizes */
    d->shared_each = (size_t)attribute(HIP_ATTR_SHARED_EACH);
    d->hw_queues = queues ? atoi(queues) : 0;
    if (d->hw_queues < 1)
        d->hw_queues = 4;
    if (HIP(DeviceGetStreamPriorityRange, &gtl_hip_state.low,
            &gtl_hip_state.urgent))
        gtl_hip_state.low = gtl_hip_state.urgent = 0;
    return 0;
}

/* Does the processor load and store there?  The kernel does it for us, and has
 * an error where we would have a signal. */
static bool processor_reaches(void *p)
{
    uint64_t want = UINT64_C(0x5a5a5a5a5a5a5a5a), is = 0;
    int ends[2];
    bool yes;
    void *s;

    if (gtl_hip_stream_create(false, &s))
        return false;
    yes = !gtl_hip_fill(p, 0x5a, sizeof is, s) &&
          !gtl_hip_wait_stream(s, TRIAL_MS);
    gtl_hip_stream_destroy(s);
    if (!yes || pipe2(ends, O_CLOEXEC))
        return false;
    yes = write(ends[1], p, sizeof is) == sizeof is &&
          read(ends[0], &is, sizeof is) == sizeof is && is == want &&
          write(ends[1], &want, sizeof want) == sizeof want &&
          read(ends[0], p, sizeof want) == sizeof want;
    close(ends[0]);
    close(ends[1]);
    if (!yes)
        log_info(LOG_GTL, "the runtime calls this device integrated, but the "
                 "processor does not reach its memory");
    return yes;
}

/* A trial shows whether memory can be exported, and whether the processor
 * reaches it. */
static void probe_memory(struct gtl_device *d)
{
    struct gtl_ipc_handle h;
    uint64_t offset;
    void *p;
    int fd;

    if (gtl_hip_alloc(4096, &p)) {
        d->host_access = false;
        return;
    }
    d->host_access = d->host_access && processor_reaches(p);
    d->why_fixed = "hipMemCreate gives coarse-grained memory only";
    d->ipc = !gtl_hip_ipc_export(p, &h, &fd);
    if (!d->ipc)
        log_info(LOG_GTL,
                 "device memory cannot be exported to other processes: %s",
                 gtl_error());
    d->dmabuf = !gtl_hip_dmabuf(p, 4096, &fd, &offset);
    if (d->dmabuf)
        close(fd);
    else
        log_info(LOG_GTL, "no DMA-BUF of device memory: %s", gtl_error());
    gtl_hip_free(p);
}

static int probe_device(struct gtl_device *d)
{
    int rc = describe(d);

    if (!rc)
        rc = gtl_hip_release_open();
    if (rc)
        return rc;
    rc = gtl_hip_kernels_open();
    if (rc)
        log_info(LOG_GTL, "no kernels of ours: %s", gtl_error());
    rc = gtl_hip_work_probe();
    if (!rc)
        rc = gtl_hip_coherence_open(d);
    if (!rc)
        probe_memory(d);
    /* -EIO: a stream may hang, and with it what unloads or destroys. */
    if (rc && rc != -EIO) {
        gtl_hip_kernels_close();
        gtl_hip_release_close();
    }
    d->kernels = d->host_atomics = d->host_adds = gtl_hip_state.kernels;
    d->hmem = GTL_HMEM_ROCR;
    d->memops = gtl_hip_state.writes && gtl_hip_state.cp_waits;
    return rc;
}

static int start_runtime(void)
{
    int rc = gtl_hip_state.library ? 0 : gtl_hip_bind();

    if (!rc)
        rc = HIP(Init, 0);
    if (rc == -ENODEV && gtl_hip_state.library)
        return gtl_fail(rc, "hipInit", "no AMD GPU here", 0);
    return rc;
}

static int pci_address(int local, char pci[16])
{
    struct gtl_device d = { .count = 0 };
    int rc = start_runtime();

    if (!rc)
        rc = choose_device(local, &d);
    return rc ? rc : HIP(DeviceGetPCIBusId, pci, 16, d.ordinal);
}

static int open_hip(int local, struct gtl_device *out)
{
    struct gtl_device d = { .count = 0 };
    int now = 0, rc = start_runtime();

    if (!rc)
        rc = HIP(RuntimeGetVersion, &d.driver_version);
    gtl_hip_state.major = d.driver_version / HIP_PER_MAJOR;
    if (!rc)
        rc = choose_device(local, &d);
    if (!rc)
        rc = HIP(GetDevice, &now);
    if (!rc)
        rc = HIP(SetDevice, d.ordinal);
    if (rc)
        return rc;
    rc = probe_device(&d);
    gtl_hip_leave(now);
    if (!rc)
        *out = d;
    return rc;
}

static void close_hip(void)
{
    int was = gtl_hip_enter_relaxed();

    gtl_hip_graphs_close();
    gtl_hip_kernels_close();
    gtl_hip_release_close();
    gtl_hip_leave_relaxed(was);
}

static int launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s)
{
    (void)grid;
    (void)body;
    (void)arg;
    (void)s;
    return gtl_fail(-ENOTSUP, "launch", "not on a GPU", 0);
}

/* The doorbell of a kernel follows the store on its way to the device. */
static int flush(void)
{
    if (gtl_hip_state.hdp)
        __atomic_store_n(gtl_hip_state.hdp, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return 0;
}

/* Streams share hardware queues: one that waits stops the others behind it. */
static const char *lockup_hint(unsigned streams)
{
    static __thread char text[200];

    if (gtl_env_is_on("HIP_LAUNCH_BLOCKING") ||
        gtl_env_is_on("AMD_SERIALIZE_KERNEL"))
        return "; HIP_LAUNCH_BLOCKING or AMD_SERIALIZE_KERNEL is set: a call "
               "that enqueues behind a wait does not return; unset it";
    if (!streams)               /* as they all do */
        return NULL;
    snprintf(text, sizeof text, "; %u stream%s, and all streams share %d "
             "hardware queues, where one that waits stops what is behind it: "
             "GPU_MAX_HW_QUEUES can raise that", streams,
             streams == 1 ? " waits" : "s wait", gtl_device.hw_queues);
    return text;
}

const struct gtl_ops gtl_hip = {
    .name = "hip", .open = open_hip, .pci_address = pci_address,
    .close = close_hip, .set_coherence = gtl_hip_set_coherence,
    .enter = gtl_hip_enter_relaxed, .leave = gtl_hip_leave_relaxed,
    .reserve = gtl_no_reserve, .grow = gtl_no_grow,
    .shrink = gtl_no_shrink,
    .alloc = gtl_hip_alloc, .free = gtl_hip_free,
    .memory_info = gtl_hip_memory_info,
    .pin = gtl_hip_pin, .unpin = gtl_hip_unpin, .classify = gtl_hip_classify,
    .ipc_export = gtl_hip_ipc_export, .ipc_open = gtl_hip_ipc_open,
    .ipc_close = gtl_hip_ipc_close, .peer_atomic = gtl_hip_atomic,
    .dmabuf = gtl_hip_dmabuf,
    .stream_create = gtl_hip_stream_create,
    .stream_destroy = gtl_hip_stream_destroy,
    .stream_check = gtl_hip_stream_check, .is_capturing = gtl_hip_is_capturing,
    .stream_query = gtl_hip_stream_query, .stream_sync = gtl_hip_stream_sync,
    .copy = gtl_hip_copy, .copy_blocks = gtl_hip_copy_blocks,
    .fill = gtl_hip_fill, .amo = gtl_hip_amo,
    .reduce = gtl_hip_reduce,
    .write64 = gtl_hip_write64, .wait64 = gtl_hip_wait64,
    .batch = gtl_batch_one_by_one, .peer_copy = gtl_hip_peer_copy,
    .host_call = gtl_hip_host_call, .launch = launch,
    .module_symbol = gtl_hip_module_symbol,
    .release = gtl_hip_release, .event_create = gtl_hip_event_create,
    .event_destroy = gtl_hip_event_destroy,
    .event_record = gtl_hip_event_record, .event_wait = gtl_hip_event_wait,
    .event_query = gtl_hip_event_query,
    .timer_create = gtl_hip_timer_create, .timer_ns = gtl_hip_timer_ns,
    .graph_id = gtl_hip_graph_id, .graph_own = gtl_hip_graph_own,
    .capture_begin = gtl_hip_capture_begin,
    .capture_end = gtl_hip_capture_end,
    .graph_launch = gtl_hip_graph_launch,
    .graph_destroy = gtl_hip_graph_destroy,
    .flush = flush,
    GTL_NO_HOST_STREAMS, .lockup_hint = lockup_hint
};
