/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_none.c - the driver for SHMEM_DEVICE=none and for the time before a
 * device opens: every call fails with -ENODEV. gtl points here until
 * gtl_open(). */
#include "gtl/gtl_int.h"

#include <errno.h>

static int fail_none(void)
{
    return gtl_fail(-ENODEV, "no device", "SHMEM_DEVICE=none", 0);
}

static int open_none(int local, struct gtl_device *out)
{
    (void)local;
    *out = (struct gtl_device){ .host_access = true, .why_fixed = "no device" };
    return 0;
}

static void no_close(void) {}
static void forget(void *p) { (void)p; }

static int no_alloc(size_t size, void **out)
{
    (void)size;
    (void)out;
    return fail_none();
}

static int memory_info(size_t *unused, size_t *total)
{
    (void)unused;
    (void)total;
    return fail_none();
}

static int pin(void *host, size_t size, enum gtl_pin why, void **out)
{
    (void)host;
    (void)size;
    (void)why;
    (void)out;
    return fail_none();
}

static int classify(const void *p, struct gtl_range *out)
{
    (void)p;
    *out = (struct gtl_range){ .kind = GTL_PRIVATE };
    return 0;
}

static int ipc_export(void *p, struct gtl_ipc_handle *out, int *fd)
{
    *fd = -1;
    (void)p;
    (void)out;
    return fail_none();
}

static int ipc_open(const struct gtl_ipc_handle *h, int fd, void **out)
{
    (void)fd;
    (void)h;
    (void)out;
    return fail_none();
}

static bool atomic(const struct gtl_ipc_handle *h)
{
    (void)h;
    return false;
}

static int dmabuf(void *p, size_t size, int *fd, uint64_t *offset)
{
    (void)p;
    (void)size;
    (void)fd;
    (void)offset;
    return fail_none();
}

static int stream_create(enum gtl_priority priority, void **out)
{
    (void)priority;
    (void)out;
    return fail_none();
}

static bool is_capturing(void *s)
{
    (void)s;
    return false;
}

static int stream_check(void *s, uint64_t *id)
{
    (void)s;
    (void)id;
    return fail_none();
}

static int fail_one(void *p)
{
    (void)p;
    return fail_none();
}

static int fail_two(void *p, void *q)
{
    (void)p;
    (void)q;
    return fail_none();
}

static int copy(void *to, const void *from, size_t n, void *s)
{
    (void)to;
    (void)from;
    (void)n;
    (void)s;
    return fail_none();
}

static int copy_blocks(void *to, const void *from, const struct gtl_blocks *b,
                       void *s)
{
    (void)to;
    (void)from;
    (void)b;
    (void)s;
    return fail_none();
}

static int fill(void *to, int byte, size_t n, void *s)
{
    (void)to;
    (void)byte;
    (void)n;
    (void)s;
    return fail_none();
}

static int amo(const struct gtl_amo *a, void *s)
{
    (void)a;
    (void)s;
    return fail_none();
}

static int reduce(const struct gtl_reduce *r, void *s)
{
    (void)r;
    (void)s;
    return fail_none();
}

static int fail_flag(uint64_t *fail_flag, uint64_t value, void *s)
{
    (void)fail_flag;
    (void)value;
    (void)s;
    return fail_none();
}

static int host_call(void (*fn)(void *arg), void *arg, void *s)
{
    (void)fn;
    (void)arg;
    (void)s;
    return fail_none();
}

static int launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s)
{
    (void)grid;
    (void)body;
    (void)arg;
    (void)s;
    return fail_none();
}

static int module_symbol(void *module, const char *name, void **out,
                         size_t *size)
{
    (void)module;
    (void)name;
    (void)out;
    (void)size;
    return fail_none();
}

static int batch(const struct gtl_batch *t, void *s)
{
    (void)t;
    (void)s;
    return fail_none();
}

static int peer_copy(const struct gtl_peer_copy *p, void *s)
{
    (void)p;
    (void)s;
    return fail_none();
}

static int fail_number(void *s, uint64_t *out)
{
    (void)s;
    (void)out;
    return fail_none();
}

static int graph_own(void *s, void (*end)(void *arg), void *arg)
{
    (void)s;
    (void)end;
    (void)arg;
    return fail_none();
}

static int capture_end(void *s, void **out)
{
    (void)s;
    (void)out;
    return fail_none();
}

static int event_create(void **out)
{
    (void)out;
    return fail_none();
}

static int pci_address(int local, char pci[16])
{
    (void)local;
    (void)pci;
    return fail_none();
}

const struct gtl_ops *gtl = &gtl_none;

const struct gtl_ops gtl_none = {
    .name = "none", .open = open_none, .pci_address = pci_address,
    .close = no_close, .set_coherence = gtl_no_coherence,
    .enter = gtl_no_enter, .leave = gtl_no_leave,
    .reserve = gtl_no_reserve, .grow = gtl_no_grow,
    .shrink = gtl_no_shrink,
    .alloc = no_alloc, .free = forget, .memory_info = memory_info, .pin = pin,
    .unpin = forget,
    .classify = classify, .ipc_export = ipc_export, .ipc_open = ipc_open,
    .ipc_close = forget, .peer_atomic = atomic,
    .dmabuf = dmabuf,
    .stream_create = stream_create, .stream_destroy = forget,
    .stream_check = stream_check, .is_capturing = is_capturing,
    .stream_query = fail_one, .stream_sync = fail_one,
    .copy = copy, .copy_blocks = copy_blocks, .fill = fill, .amo = amo,
    .reduce = reduce,
    .write64 = fail_flag, .wait64 = fail_flag, .batch = batch,
    .peer_copy = peer_copy,
    .host_call = host_call, .launch = launch,
    .module_symbol = module_symbol, .release = fail_one,
    .event_create = event_create, .event_destroy = forget,
    .event_record = fail_two, .event_wait = fail_two, .event_query = fail_one,
    .timer_create = gtl_no_timer_create, .timer_ns = gtl_no_timer_ns,
    .graph_id = fail_number, .graph_own = graph_own, .capture_begin = fail_one,
    .capture_end = capture_end, .graph_launch = fail_two,
    .graph_destroy = forget, .flush = fail_none,
    GTL_NO_HOST_STREAMS, .lockup_hint = gtl_no_lockup_hint
};
