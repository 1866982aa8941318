/* SPDX-License-Identifier: BSD-3-Clause */
/* soft.c - the software device: its table, its costs (SHMEM_DEVICE_COSTS), and
 * what fork() does to it.  gtl.c calls it. */
#include "gtl/soft/soft_int.h"
#include "gtl/soft/soft_graph.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>


/* ---- costs ---- */

static const char *const cost_names[SOFT_COSTS] = {
    "launch", "copy", "write", "wait", "call", "doorbell", "sync"
};

static int parse_cost(const char *text, size_t len, uint64_t *costs)
{
    size_t name = strcspn(text, "=,");
    double us;
    char *end;

    for (int i = 0; i < SOFT_COSTS && text[name] == '='; i++) {
        if (strlen(cost_names[i]) != name || memcmp(cost_names[i], text, name))
            continue;
        us = env_parse_number(text + name + 1, &end);
        if (end == text + name + 1 || end != text + len ||
            !(us >= 0 && us <= 1e6))
            return -EINVAL;
        costs[i] = (uint64_t)(us * 1000 + 0.5);
        return 0;
    }
    return -EINVAL;
}

int gtl_soft_load(void)
{
    const char *text = env.DEVICE_COSTS;
    uint64_t costs[SOFT_COSTS] = { 0 };
    size_t len;

    while (*text) {
        len = strcspn(text, ",");
        if (parse_cost(text, len, costs)) {
            log_error(ERR_ENV, "SHMEM_DEVICE_COSTS is \"%s\": want "
                      "step=microseconds,... from 0 to 1000000, with steps "
                      "of launch, copy, write, wait, call, doorbell, "
                      "sync",
                      env.DEVICE_COSTS);
            return -EINVAL;
        }
        text += len + (text[len] == ',');
    }
    memcpy(gtl_soft_costs, costs, sizeof costs);
    return 0;
}

/* ---- fork ---- */

static void fork_locks(enum gtl_soft_fork when)
{
    /* In the order in which they nest. */
    gtl_soft_graph_fork(when);
    gtl_soft_stream_fork(when);
    gtl_soft_grid_fork(when);
    gtl_soft_wait_fork(when);
    gtl_soft_mem_fork(when);
}

static void before_fork(void)
{
    fork_locks(SOFT_FORK_BEFORE);
}

static void in_parent(void)
{
    fork_locks(SOFT_FORK_PARENT);
}

static void in_child(void)
{
    fork_locks(SOFT_FORK_CHILD);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

/* ---- the device ---- */

/* One for all processes of a machine: its cores and its memory. */
static void identify(struct gtl_device *d)
{
    char boot[37] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (f) {
        if (!fgets(boot, sizeof boot, f))
            boot[0] = '\0';
        fclose(f);
    }
    snprintf(d->id, sizeof d->id, "host-%s", *boot ? boot : log_host());
    snprintf(d->name, sizeof d->name, "software device of %ld cores",
             sysconf(_SC_NPROCESSORS_ONLN));
}

static int open_soft(int local, struct gtl_device *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct gtl_device d = {
        .count = 1, .host_access = true, .ipc = gtl_soft_ipc_works(),
        .memops = true, .kernels = true, .ordered = true,
        .host_adds = true, .host_atomics = true,
        .processors = 1, .groups_each = (unsigned)env.DEVICE_RESIDENT,
        .host_streams = true, .host_memory = true,
        .why_fixed = "the software device takes pages as they are used"
    };
    int rc;

    (void)local;
    pthread_once(&once, watch_forks);
    identify(&d);
    gtl_soft_mem_open(&d);
    rc = gtl_soft_stream_open();
    if (rc) {
        gtl_soft_mem_close();
        return rc;
    }
    *out = d;
    return 0;
}

static void close_soft(void)
{
    gtl_soft_stream_close();
    gtl_soft_grid_close();
    gtl_soft_mem_close();
}

static int fence_stream(void *s)
{
    uint64_t id;
    int rc;

    atomics_full_fence();
    rc = gtl_soft_stream_check(s, &id);
    return rc == -EBUSY ? 0 : rc;       /* threads need none */
}

/* The cores', all of them. */
static bool atomic(const struct gtl_ipc_handle *h)
{
    (void)h;
    return true;
}

static int fence(void)
{
    atomics_full_fence();
    return 0;
}

static int no_pci_address(int local, char pci[16])
{
    (void)local;
    (void)pci;
    return -ENODEV;
}

const struct gtl_ops gtl_soft = {
    .name = "software", .open = open_soft, .pci_address = no_pci_address,
    .close = close_soft, .set_coherence = gtl_no_coherence,
    .enter = gtl_no_enter, .leave = gtl_no_leave,
    .reserve = gtl_no_reserve, .grow = gtl_no_grow,
    .shrink = gtl_no_shrink,
    .alloc = gtl_soft_alloc, .free = gtl_soft_free,
    .memory_info = gtl_soft_memory_info, .pin = gtl_soft_pin,
    .unpin = gtl_soft_unpin,
    .classify = gtl_soft_classify, .ipc_export = gtl_soft_ipc_export,
    .ipc_open = gtl_soft_ipc_open, .ipc_close = gtl_soft_ipc_close,
    .peer_atomic = atomic, .dmabuf = gtl_soft_dmabuf,
    .stream_create = gtl_soft_stream_create,
    .stream_destroy = gtl_soft_stream_destroy,
    .stream_check = gtl_soft_stream_check,
    .is_capturing = gtl_soft_is_capturing,
    .stream_query = gtl_soft_stream_query,
    .stream_sync = gtl_soft_stream_sync,
    .copy = gtl_soft_copy, .copy_blocks = gtl_soft_copy_blocks,
    .fill = gtl_soft_fill, .amo = gtl_soft_amo, .reduce = gtl_soft_reduce,
    .write64 = gtl_soft_write64, .wait64 = gtl_soft_wait64,
    .batch = gtl_soft_batch, .peer_copy = gtl_soft_peer_copy,
    .host_call = gtl_soft_host_call, .launch = gtl_soft_launch,
    .module_symbol = gtl_no_module_symbol, .release = fence_stream,
    .event_create = gtl_soft_event_create,
    .event_destroy = gtl_soft_event_destroy,
    .event_record = gtl_soft_event_record,
    .event_wait = gtl_soft_event_wait, .event_query = gtl_soft_event_query,
    .timer_create = gtl_no_timer_create, .timer_ns = gtl_no_timer_ns,
    .graph_id = gtl_soft_graph_id, .graph_own = gtl_soft_graph_own,
    .capture_begin = gtl_soft_capture_begin,
    .capture_end = gtl_soft_capture_end,
    .graph_launch = gtl_soft_graph_launch,
    .graph_destroy = gtl_soft_graph_destroy,
    .flush = fence,
    .doorbell = gtl_soft_doorbell, .flags_stored = gtl_soft_flags_stored,
    .calls_next = gtl_soft_calls_next, .cancel_rest = gtl_soft_cancel_rest,
    .stream_known = gtl_soft_stream_known, .count_ops = gtl_soft_count_ops,
    .owes_ops = gtl_soft_owes_ops, .position = gtl_soft_stream_position,
    .is_past = gtl_soft_is_past, .waits_for = gtl_soft_waits_for,
    .event_sleep = gtl_soft_event_sleep,
    .stop_streams = gtl_soft_stop_streams,
    .streams_stopped = gtl_soft_streams_stopped,
    .lockup_hint = gtl_no_lockup_hint
};
