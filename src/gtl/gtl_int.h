/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_int.h - what the drivers share. */
#ifndef GTL_GTL_INT_H
#define GTL_GTL_INT_H

#include "gtl/gtl.h"

#include <stdlib.h>

extern hidden const struct gtl_ops gtl_soft, gtl_cuda, gtl_hip;
/* By ENV_DEVICE_..., up to ENV_DEVICE_NONE; NULL for ENV_DEVICE_AUTO. */
extern hidden const struct gtl_ops *const gtl_drivers[];

/* ---- gtl_error.c ---- */
void gtl_error_clear(void);
/* Keeps "call: text (code)" for gtl_error(), or "call: text" with code 0;
 * returns rc. */
int gtl_fail(int rc, const char *call, const char *text, long code)
    __attribute__((cold));
/* Where dl_open() gives -ENOTSUP. */
#define GTL_STATIC "a program linked with -static loads no driver"

/* Among a driver's numbers of streams: default streams of threads from here. */
#define GTL_THREADS ((uint64_t)1 << 63)

/* ---- gtl_reduce.c ---- */
/* The loops of reductions: X(name, type of a and b, the value).  Bits have no
 * sign; the types are those of enum gtl_loop's order in every driver. */
#define GTL_LOOPS(X)                                                        \
    X(AND8, u8, a & b) X(AND16, u16, a & b)                                 \
    X(AND32, u32, a & b) X(AND64, u64, a & b)                               \
    X(OR8, u8, a | b) X(OR16, u16, a | b)                                   \
    X(OR32, u32, a | b) X(OR64, u64, a | b)                                 \
    X(XOR8, u8, a ^ b) X(XOR16, u16, a ^ b)                                 \
    X(XOR32, u32, a ^ b) X(XOR64, u64, a ^ b)                               \
    X(MAXI8, s8, a > b ? a : b) X(MAXI16, s16, a > b ? a : b)               \
    X(MAXI32, s32, a > b ? a : b) X(MAXI64, s64, a > b ? a : b)             \
    X(MAXU8, u8, a > b ? a : b) X(MAXU16, u16, a > b ? a : b)               \
    X(MAXU32, u32, a > b ? a : b) X(MAXU64, u64, a > b ? a : b)             \
    X(MAXF, f32, a > b ? a : b) X(MAXD, f64, a > b ? a : b)                 \
    X(MINI8, s8, a < b ? a : b) X(MINI16, s16, a < b ? a : b)               \
    X(MINI32, s32, a < b ? a : b) X(MINI64, s64, a < b ? a : b)             \
    X(MINU8, u8, a < b ? a : b) X(MINU16, u16, a < b ? a : b)               \
    X(MINU32, u32, a < b ? a : b) X(MINU64, u64, a < b ? a : b)             \
    X(MINF, f32, a < b ? a : b) X(MIND, f64, a < b ? a : b)                 \
    X(SUM8, u8, a + b) X(SUM16, u16, a + b)                                 \
    X(SUM32, u32, a + b) X(SUM64, u64, a + b)                               \
    X(SUMF, f32, a + b) X(SUMD, f64, a + b)                                 \
    X(PROD8, u8, a * b) X(PROD16, u16, (u32)a * b)                          \
    X(PROD32, u32, a * b) X(PROD64, u64, a * b)                             \
    X(PRODF, f32, a * b) X(PRODD, f64, a * b)                               \
    X(PRODCF, c32, prod_c32(a, b)) X(PRODCD, c64, prod_c64(a, b))
enum gtl_loop {
#define GTL_LOOP_NAME(name, type, value) GTL_LOOP_##name,
    GTL_LOOPS(GTL_LOOP_NAME)
#undef GTL_LOOP_NAME
    GTL_N_LOOPS
};
/* Which loop does it, over how many values, of how many bytes: -EINVAL. */
struct gtl_reduce_loop {
    enum gtl_loop loop;
    uint64_t n;
    unsigned size;
};
int gtl_reduce_find(const struct gtl_reduce *r, struct gtl_reduce_loop *out);

/* How a kernel copies: in accesses of so many bytes, with such a number of
 * threads at most, which fill a GPU. */
enum { GTL_COPY_GROUPS = 2048, GTL_COPY_ITEMS = 256 };
static inline unsigned gtl_copy_unit(const void *to, const void *from)
{
    uintptr_t low = (uintptr_t)to | (uintptr_t)from;

    return low & 3 ? 1 : low & 4 ? 4 : low & 8 ? 8 : 16;
}
static inline unsigned gtl_copy_groups(size_t n, unsigned unit)
{
    size_t of_group = (size_t)unit * GTL_COPY_ITEMS;
    size_t wanted = n / of_group + (n % of_group != 0);

    return wanted < GTL_COPY_GROUPS ? (unsigned)wanted : GTL_COPY_GROUPS;
}

/* ---- gtl_no.c: slots of what a device lacks ---- */
/* For devices whose memory is of one kind. */
int gtl_no_coherence(int wanted);
/* For devices that are current everywhere. */
int gtl_no_enter(void);
void gtl_no_leave(int was);
/* For devices whose kernels are functions of the process. */
int gtl_no_module_symbol(void *module, const char *name, void **out,
                         size_t *size);
/* For devices of which gtl_device.why_fixed is set. */
int gtl_no_reserve(size_t most, void **out);
int gtl_no_grow(void *p, size_t size);
void gtl_no_shrink(void *p);
/* For devices whose streams are no threads of this process. */
int gtl_no_doorbell(void (*fn)(void *arg), void *arg, void *s);
void gtl_no_flags_stored(void);
bool gtl_no_calls_next(void (*fn)(void *arg));
void gtl_no_cancel_rest(void);
int gtl_no_stream_known(void *s);
void gtl_no_count_ops(void *s, uint64_t n);
bool gtl_no_owes_ops(void *s);
bool gtl_no_position(void *s, uint64_t *out);
bool gtl_no_is_past(void *s, uint64_t position);
bool gtl_no_waits_for(void *s, uint64_t **flag, uint64_t *least);
bool gtl_no_event_sleep(void *e, uint64_t ns);
void gtl_no_stop_streams(void);
bool gtl_no_streams_stopped(uint64_t *ops);
#define GTL_NO_HOST_STREAMS                                                 \
    .doorbell = gtl_no_doorbell, .flags_stored = gtl_no_flags_stored,       \
    .calls_next = gtl_no_calls_next, .cancel_rest = gtl_no_cancel_rest,     \
    .stream_known = gtl_no_stream_known, .count_ops = gtl_no_count_ops,     \
    .owes_ops = gtl_no_owes_ops, .position = gtl_no_position,               \
    .is_past = gtl_no_is_past, .waits_for = gtl_no_waits_for,               \
    .event_sleep = gtl_no_event_sleep,                                      \
    .stop_streams = gtl_no_stop_streams,                                    \
    .streams_stopped = gtl_no_streams_stopped
/* For devices without times of events: -ENOSYS. */
int gtl_no_timer_create(void **out);
int gtl_no_timer_ns(void *from, void *to, int64_t *ns);
/* For devices whose streams are not known to lock up. */
const char *gtl_no_lockup_hint(unsigned streams);
/* Is a driver's own variable set, and not to "0"?  For lockup_hint(). */
bool gtl_env_is_on(const char *name);

/* A wait that only a kernel could do, which would spin: -ENOSYS. */
int gtl_fail_spin(const char *call) __attribute__((cold));
/* A stream that should capture a graph does not: -EINVAL; or its capture is
 * broken: -EBUSY. */
int gtl_fail_capture(const char *call, bool broken, long code)
    __attribute__((cold));

/* An object that a graph owns, as a driver's user object: the driver calls
 * gtl_graph_object_end() with it. */
struct gtl_graph_object {
    void (*end)(void *arg);     /* NULL: the graph did not take it */
    void *arg;
};
static inline struct gtl_graph_object *
gtl_graph_object_new(void (*end)(void *arg), void *arg)
{
    struct gtl_graph_object *o = malloc(sizeof *o);

    if (o)
        *o = (struct gtl_graph_object){ end, arg };
    return o;
}
static inline void gtl_graph_object_end(void *object)
{
    struct gtl_graph_object *o = object;

    if (o->end)
        o->end(o->arg);
    free(o);
}

/* ---- gtl_pci.c ---- */
/* The memory of another device could not be mapped, with rc and the reason in
 * gtl_error(): adds the cause, and returns a code for it, where it is known.
 * -EXDEV: the device at ours has no access to the one at theirs; -ENOSPC: not
 * to so much of it. */
int gtl_fail_peer(int rc, bool access, const char *ours, const char *theirs)
    __attribute__((cold));
/* A number for a device's id. */
uint64_t gtl_id_hash(const char *id);

/* ---- soft.c: the software device ---- */
/* Its environment; logs a bad row. */
int gtl_soft_load(void);

/* ---- gtl_blocking.c: streams of the library's own ---- */
int gtl_blocking_open(const struct gtl_ops *ops);
void gtl_blocking_close(void);

/* ---- gtl_copy_stream.c: streams for deferred copies ---- */
int gtl_copy_streams_open(const struct gtl_ops *ops);
void gtl_copy_streams_close(void);

/* ---- gtl_trace.c ---- */
/* The table through which the driver is called from here on: its own, unless a
 * trace is recorded.  itself: its streams record what they do. */
const struct gtl_ops *gtl_trace_open(const struct gtl_ops *driver, bool itself);
/* Before the driver is closed. */
void gtl_trace_close(void);

#endif
