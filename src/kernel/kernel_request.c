/* SPDX-License-Identifier: BSD-3-Clause */
/* From a request of a kernel to an operation of the host's executor.  The
 * holder of a ring calls it.  Arguments of a kernel are checked here, however
 * little the kernel has checked: misuse ends the job with a line that has the
 * call, the PE and the address. */
#include "core/core_cmp.h"
#include "core/core_rma.h"
#include "base/symbol.h"
#include "kernel/kernel_int.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)SHMEMI_DEV_AMO_XOR == (int)AMO_XOR &&
               (int)SHMEMI_DEV_AMO_CSWAP == (int)AMO_CSWAP &&
               (int)SHMEMI_DEV_AMO_ADD == (int)AMO_ADD &&
               (int)SHMEMI_DEV_AMO_SET == (int)AMO_SET,
               "kernels number atomics as the library does");
_Static_assert(sizeof(shmemi_dev_request) == 64, "a request is one line");

const char *kernel_call_name(unsigned call)
{
#define SHMEMI_DEV_CALL(NAME, TEXT) TEXT,
    static const char *const names[] = { SHMEMI_DEV_CALLS(SHMEMI_DEV_CALL) };
#undef SHMEMI_DEV_CALL

    return call < SHMEMI_DEV_N_CALLS ? names[call] : "a kernel's call";
}

static void need_pe(const shmemi_dev_request *q, const char *call)
{
    if (q->op == SHMEMI_DEV_FENCE || q->op == SHMEMI_DEV_NOTHING ||
        q->op == SHMEMI_DEV_HIT)
        return;
    if (q->flags & SHMEMI_DEV_NO_PE || q->pe < 0 ||
        q->pe >= core_world.n_pes)
        core_fatal(ERR_PE, call, "PE %d is outside the context's team, in a "
                   "kernel of this PE", q->pe);
}

static void need_symmetric(const shmemi_dev_request *q, const char *call,
                           const void *p, uint64_t len)
{
    if (!p)
        core_fatal(ERR_NULL, call, "the symmetric address is a null pointer, "
                   "in a kernel's call for PE %d", q->pe);
    if (heap_find(p, len) < 0)
        core_fatal(ERR_ADDR, call, "%p with %lu bytes, of a kernel's call for "
                   "PE %d, is not symmetric", p, (unsigned long)len, q->pe);
}

/* The local end of a put or get, which the processor or the device reaches: a
 * GPU's kernel may have given the address of one of its own variables. */
static void need_local(const shmemi_dev_request *q, const char *call,
                       const void *p, uint64_t len)
{
    struct gtl_range range;

    core_need_local(call, "the local buffer", p, len);
    if (gtl_device.host_streams || heap_find(p, len) >= 0)
        return;
    if (gtl->classify(p, &range) || range.kind == GTL_PRIVATE)
        core_fatal(ERR_ADDR, call, "the local buffer %p with %lu bytes, of a "
                   "kernel's call for PE %d, is memory that the device does "
                   "not reach: allocate it with shmem_malloc, shmemg_malloc or "
                   "the device's own calls", p, (unsigned long)len, q->pe);
}

static void read_blocks(const shmemi_dev_request *q, const char *call,
                        struct stream_op *out)
{
    size_t size = q->size ? q->size : 1;

    core_strided_make(call, (ptrdiff_t)q->a / (ptrdiff_t)size,
                      (ptrdiff_t)q->b / (ptrdiff_t)size, 1, q->len, size,
                      &out->blocks);
    out->kind = q->op == SHMEMI_DEV_IPUT ? STREAM_PUT_BLOCKS
                                         : STREAM_GET_BLOCKS;
}

static void read_amo(const shmemi_dev_request *q, const char *call,
                     shmemi_dev_result *result, struct stream_op *out)
{
    void *sym = (void *)q->dest;
    void *fetch = q->flags & SHMEMI_DEV_RESULT    ? result->value
                  : q->flags & SHMEMI_DEV_FETCHES ? (void *)q->source
                                                  : NULL;

    if ((q->size != 4 && q->size != 8) || q->sub >= AMO_OPS)
        core_fatal(ERR_ARG, call, "a request of a kernel has operation %d on "
                   "%d bytes: the ring was overwritten", q->sub, q->size);
    core_need_aligned(call, sym, q->size);
    need_symmetric(q, call, sym, q->size);
    if (q->flags & SHMEMI_DEV_FETCHES)
        need_local(q, call, fetch, q->size);
    out->kind = STREAM_AMO;
    out->amo = (struct stream_amo){
        .op = (enum amo_op)q->sub, .fetches = fetch != NULL, .size = q->size,
        .sym = sym, .value = q->a, .cond = q->b, .fetch = fetch
    };
}

static void read_put_signal(const shmemi_dev_request *q, const char *call,
                            struct stream_op *out)
{
    bool alone = q->op == SHMEMI_DEV_SIGNAL;
    uint64_t *addr = (uint64_t *)(alone ? q->dest : q->b);

    core_need_aligned(call, addr, sizeof *addr);
    core_need_signal(call, q->sub);
    need_symmetric(q, call, addr, sizeof *addr);
    out->signal = (struct stream_signal){ addr, q->a, q->sub };
    out->kind = alone ? STREAM_SIGNAL : STREAM_PUT_SIGNAL;
    out->notifies = q->flags & SHMEMI_DEV_NOTIFIES;
    if (alone)
        out->len = 0;
}

static void read_value(const shmemi_dev_request *q, const char *call,
                       shmemi_dev_result *result, struct stream_op *out)
{
    if (q->len > sizeof result->value)
        core_fatal(ERR_SIZE, call, "a request of a kernel has a value of %lu "
                   "bytes: the ring was overwritten", (unsigned long)q->len);
    if (q->op == SHMEMI_DEV_GET_VALUE) {
        out->kind = STREAM_GET;
        out->dest = result->value;
        return;
    }
    out->kind = STREAM_PUT;
    out->value = true;
    memcpy(out->bytes, &q->a, sizeof q->a);
    memcpy(out->bytes + sizeof q->a, &q->b, sizeof q->b);
}

/* The remote end of what moves bytes, and the local one. */
static void need_both(const shmemi_dev_request *q, const char *call,
                      const struct stream_op *op)
{
    bool gets = op->kind == STREAM_GET || op->kind == STREAM_GET_BLOCKS;
    const void *there = gets ? op->source : op->dest;
    const void *here = gets ? op->dest : op->source;
    size_t remote = op->len, local = op->len;

    if (op->kind == STREAM_PUT_BLOCKS || op->kind == STREAM_GET_BLOCKS) {
        if (!op->blocks.count)
            return;
        remote = stream_extent(&op->blocks, gets ? op->blocks.sst
                                              : op->blocks.dst);
        local = stream_extent(&op->blocks, gets ? op->blocks.dst
                                               : op->blocks.sst);
    }
    if (!remote)
        return;
    need_symmetric(q, call, there, remote);
    if (q->op != SHMEMI_DEV_PUT_VALUE && q->op != SHMEMI_DEV_GET_VALUE)
        need_local(q, call, here, local);
}

/* The call returns -1, which few kernels look at. */
static void refuse_collective(const shmemi_dev_request *q, const char *call)
{
    bool team = q->sub == SHMEMI_DEV_WRONG_TEAM;
    static bool warned;         /* relaxed: once is enough */
    char why[160];

    if (team)
        snprintf(why, sizeof why, "%#lx is no team of kernels: give "
                 "SHMEM_DEVICE_TEAM_WORLD, SHMEM_DEVICE_TEAM_SHARED or a part "
                 "of one", (unsigned long)q->a);
    else
        snprintf(why, sizeof why, "root %d is outside the team's members, "
                 "0..%lu", (int)q->a, (unsigned long)q->b - 1);
    if (core_status.checks)
        core_fatal(team ? ERR_TEAM : ERR_PE, call, "%s", why);
    if (!__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        log_warn(team ? ERR_TEAM : ERR_PE, "%s: %s; such calls return -1 and do "
                 "nothing, and only this one is reported (SHMEM_CHECK=1 ends "
                 "the job)", symbol_public(call), why);
}

/* An argument that a kernel refused is checked again: the line names it. */
static void refuse(const shmemi_dev_request *q, const char *call)
{
    const void *at = (const void *)q->dest;

    if (q->sub == SHMEMI_DEV_WRONG_TEAM || q->sub == SHMEMI_DEV_WRONG_ROOT) {
        refuse_collective(q, call);
        return;
    }
    core_need_cmp(call, (int)q->a);
    core_need_aligned(call, at, q->size);
    need_symmetric(q, call, at, q->size);
}

bool (*kernel_hit)(const struct kernel_hit *h);

_Noreturn void kernel_hit_refuse_freed(const struct kernel_hit *h)
{
    core_fatal(ERR_ARG, h->call, "a kernel of this PE %s tag %d of a trigger "
               "that has been freed", h->asks ? "asks for" : "hits", h->tag);
}

/* Of a prequest, found by the kernel; there may be no trigger. */
static _Noreturn void refuse_partition(const struct kernel_hit *h)
{
    if (h->how == SHMEMI_DEV_HIT_NO_PART)
        core_fatal(ERR_ARG, h->call, "partition %d, in a kernel of this PE: "
                   "the request has partitions 0 to %d", h->tag, (int)h->n - 1);
    if (h->how == SHMEMI_DEV_HIT_TWICE)
        core_fatal(ERR_ARG, h->call, "a kernel of this PE makes partition %d "
                   "ready twice in an iteration", h->tag);
    if (h->how == SHMEMI_DEV_HIT_NOT_STARTED)
        core_fatal(ERR_ARG, h->call, "partition %d, in a kernel of this PE: "
                   "the request is not started", h->tag);
    core_fatal(ERR_ARG, h->call, "partition %d, in a kernel of this PE: the "
               "request %s", h->tag, h->n ? "receives" : "sends");
}

static _Noreturn void refuse_late(const struct kernel_hit *h)
{
    core_fatal(ERR_ARG, h->call, "%s %d, in a kernel of this PE: items of the "
               "group have stored to its data after the first one has made this "
               "call, in the same phase: call it in the next phase",
               strstr(h->call, "pready") ? "partition" : "tag", h->tag);
}

bool kernel_request_hits(const shmemi_dev_request *q)
{
    const struct kernel_hit h = {
        .call = kernel_call_name(q->call), .trig = (void *)q->b, .pe = q->pe,
        .tag = (int)(q->a >> 32), .n = (uint32_t)q->a, .how = (enum shmemi_dev_hit)q->sub,
        .dest = (void *)q->dest, .source = (const void *)q->source,
        .len = q->len, .asks = q->call == SHMEMI_DEV_CALL_TRIG_WAIT ||
                               q->call == SHMEMI_DEV_CALL_TRIG_TEST
    };

    if (h.how == SHMEMI_DEV_HIT_LATE)
        refuse_late(&h);
    if (h.how >= SHMEMI_DEV_HIT_NO_PART)
        refuse_partition(&h);
    if (!kernel_hit)
        kernel_hit_refuse_freed(&h);
    return kernel_hit(&h);
}

void kernel_request_read(const shmemi_dev_request *q,
                         shmemi_dev_result *result, struct stream_op *out)
{
    const char *call = kernel_call_name(q->call);

    *out = (struct stream_op){
        .kind = STREAM_FENCE, .pe = q->pe, .call = call,
        .waits = q->flags & (SHMEMI_DEV_WAITS | SHMEMI_DEV_RESULT),
        .dest = (void *)q->dest, .source = (const void *)q->source,
        .len = q->len
    };
    need_pe(q, call);
    switch (q->op) {
    case SHMEMI_DEV_PUT: out->kind = STREAM_PUT; break;
    case SHMEMI_DEV_GET: out->kind = STREAM_GET; break;
    case SHMEMI_DEV_PUT_VALUE:
    case SHMEMI_DEV_GET_VALUE: read_value(q, call, result, out); break;
    case SHMEMI_DEV_IPUT:
    case SHMEMI_DEV_IGET: read_blocks(q, call, out); break;
    case SHMEMI_DEV_AMO: read_amo(q, call, result, out); return;
    case SHMEMI_DEV_SIGNAL:
    case SHMEMI_DEV_PUT_SIGNAL: read_put_signal(q, call, out); break;
    case SHMEMI_DEV_FENCE: return;
    case SHMEMI_DEV_REFUSE: refuse(q, call); /* fall through */
    case SHMEMI_DEV_HIT:
    case SHMEMI_DEV_NOTHING: out->kind = STREAM_LOCAL_QUIET; return;
    default:
        core_fatal(ERR_ARG, call, "a request of a kernel has the operation %d: "
                   "the ring was overwritten", q->op);
    }
    need_both(q, call, out);
}
