/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of a partitioned request for kernels: addresses of its counters and
 * buffers for the device, and counters in the device's memory.  The API calls
 * it; include/shmemx_dev_part.h has the calls of kernels. */
#include "msg/part/part.h"
#include "core/core_misuse.h"
#include "gtl/gtl.h"
#include "kernel/kernel.h"
#include "kernel/kernel_memory.h"
#include "msg/pcoll/pcoll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Does the device reach the receiver's buffer and counters? */
static bool may_copy(const struct msg_chan *c)
{
    return stream_device_address(c->pe, c->landing, c->bytes) &&
           stream_device_reaches(c->buf, c->bytes) &&
           stream_device_address_amo(c->pe, c->peer_counters,
                                     sizeof *c->peer_counters);
}

/* Sets the mode, of a send: 0 or -ENOTSUP, logged. */
static int choose(const char *call, const struct msg_chan *c, int *mode)
{
    const char *why = NULL;

    if (*mode == SHMEMX_PREQUEST_AUTO)
        *mode = may_copy(c) ? SHMEMX_PREQUEST_COPY
                : trig_is_nic(c->part->trig) ? SHMEMX_PREQUEST_TRIGGER
                                             : SHMEMX_PREQUEST_ENGINE;
    else if (*mode == SHMEMX_PREQUEST_COPY && !may_copy(c))
        why = "this device does not reach both buffers";
    else if (*mode == SHMEMX_PREQUEST_TRIGGER && !trig_is_nic(c->part->trig))
        why = "the NIC does not do all of its operations (SHMEM_TRIGGER; each "
              "transport partition needs a counter)";
    if (!why)
        return 0;
    core_misuse(ERR_STREAM, call, "the send to PE %d, tag %d: %s", c->pe,
                c->tag, why);
    return -ENOTSUP;
}

/* The counters that kernels share, behind each other in the device's memory,
 * zeroed. */
static int alloc(const char *call, struct part *p, shmemx_prequest_t *out)
{
    size_t transport = (size_t)p->transport, n = (size_t)p->n;
    size_t counters = 2 + transport + 2 * n;
    void *at;
    int rc;

    p->device_size = counters * sizeof(uint64_t);
    rc = kernel_device_alloc(p->device_size, &at);
    if (rc)
        return core_misuse(ERR_DEVICE, call, "%s", gtl_error()), rc;
    p->device = at;
    rc = gtl_fill_now(at, 0, p->device_size);
    if (rc)
        return core_misuse(ERR_DEVICE, call, "%s", gtl_error()), rc;
    out->mode = at;
    out->all = out->mode + 1;
    out->together = out->all + 1;
    out->calls = out->together + transport;
    if (gtl_device.host_streams || core_status.checks)
        out->ready = out->calls + n;
    return 0;
}

static shmemi_u64 *seen(const struct msg_chan *c, const uint64_t *word)
{
    return (shmemi_u64 *)part_seen(c, word);
}

static void fill(const struct msg_chan *c, shmemx_prequest_t *out)
{
    const struct part *p = c->part;
    struct part_counters *w = part_counters(c);

    out->epoch = seen(c, &w->epoch);
    out->arrived = seen(c, w->arrived);
    out->started = seen(c, &w->counters.started);
    out->sent = seen(c, &w->counters.sent);
    out->copied = seen(c, &w->copied);
    out->dest = c->landing;
    out->source = c->buf;
    out->peer_arrived = (shmemi_u64 *)
        ((struct part_counters *)c->peer_counters)->arrived;
    out->own_sent = (shmemi_u64 *)&w->counters.sent;
    out->bytes = p->each;
    out->n = (shmemi_u32)p->n;
    out->per = (shmemi_u32)(p->n / p->transport);
    out->pe = c->pe;
    out->sends = c->sends;
    out->receives = !c->sends;
}

static int fill_sender(const char *call, struct msg_chan *c, int mode,
                       int calls, shmemx_prequest_t *out)
{
    struct part *p = c->part;
    int rc = part_open(call, c);

    rc = rc ? rc : choose(call, c, &mode);
    rc = rc ? rc : alloc(call, p, out);
    rc = rc ? rc : trig_dev(call, p->trig, &out->trig);
    if (rc) {
        part_prequest_release(p);
        return rc;
    }
    out->copies = mode == SHMEMX_PREQUEST_COPY;
    if (mode == SHMEMX_PREQUEST_ENGINE)
        out->trig.doorbells = NULL;
    out->n_calls = (shmemi_u32)calls;
    p->together = out->copies || out->per > 1 || calls > 1;
    return 0;
}

/* It is also received.  Of a member that needs none to be ready the iteration
 * may have ended. */
static void fill_coll(const struct pcoll *coll, shmemx_prequest_t *out)
{
    out->receives = 1;
    if (!coll->needs_ready)
        out->ready = NULL;
}

static int fill_receiver(const char *call, shmemx_prequest_t *out)
{
    int rc = kernel_state(call, SHMEM_DEVICE_CTX_DEFAULT, &out->trig.dev);

    out->trig.dev.flags &= ~(unsigned)SHMEMI_DEV_CHECK; /* counters are ours */
    return rc;
}

static int check_config(const char *call, const shmemx_prequest_config_t *config,
                        long mask, int *mode, int *calls)
{
    if (mask & ~(SHMEMX_PREQUEST_MODE | SHMEMX_PREQUEST_CALLS))
        return core_misuse(ERR_ARG, call, "mask %#lx has unknown bits",
                           (unsigned long)mask);
    if (mask && !config)
        return core_misuse(ERR_NULL, call, "config is a null pointer");
    if (mask & SHMEMX_PREQUEST_MODE)
        *mode = config->mode;
    if (mask & SHMEMX_PREQUEST_CALLS)
        *calls = config->calls;
    if (*mode < SHMEMX_PREQUEST_AUTO || *mode > SHMEMX_PREQUEST_TRIGGER)
        return core_misuse(ERR_ARG, call, "mode %d is none", *mode);
    if (*calls < 1)
        return core_misuse(ERR_ARG, call, "%d calls for a partition", *calls);
    return 0;
}

/* Sets the mode, of a collective: 0 or -ENOTSUP, logged. */
static int check_coll(const char *call, int *mode)
{
    if (*mode > SHMEMX_PREQUEST_ENGINE) {
        core_misuse(ERR_STREAM, call, "a thread of this PE does what is made "
                    "ready of a collective");
        return -ENOTSUP;
    }
    *mode = SHMEMX_PREQUEST_ENGINE;
    return 0;
}

static int check_request(const char *call, const struct msg_chan *c)
{
    if (!c->requested || msg_chan_state(c) != MSG_CHAN_MATCHED)
        return core_misuse(ERR_ARG, call, "the request is not matched: "
                           "shmemx_match() comes before");
    if (!c->dev_counters) {
        core_misuse(ERR_DEVICE, call, "this device does not reach the "
                    "symmetric heap of the host");
        return -ENOTSUP;
    }
    if (!c->part->prequest && part_is_completed(c))
        return 0;
    core_misuse(ERR_ARG, call, "the request %s", c->part->prequest
                ? "has a prequest" : "was started, and has not ended");
    return -EBUSY;
}

int part_prequest_create(const char *call, struct shmemx_req *req,
                         const shmemx_prequest_config_t *config, long mask,
                         shmemx_prequest_t *out)
{
    int mode = SHMEMX_PREQUEST_AUTO, calls = 1, rc;
    struct pcoll *coll;
    struct msg_chan *c = part_or_coll(call, req, -1, &coll);

    if (!c)
        return -EINVAL;
    rc = check_config(call, config, mask, &mode, &calls);
    if (!rc && coll)
        rc = check_coll(call, &mode);
    rc = rc ? rc : check_request(call, c);
    if (rc)
        return rc;
    memset(out, 0, sizeof *out);
    fill(c, out);
    rc = c->sends ? fill_sender(call, c, mode, calls, out)
                  : fill_receiver(call, out);
    if (rc)
        return rc;
    if (coll)
        fill_coll(coll, out);
    out->req = req;
    c->part->prequest = true;
    return 0;
}

int part_prequest_free(const char *call, shmemx_prequest_t *prequest)
{
    struct pcoll *coll;
    struct msg_chan *c;

    if (!prequest->req)
        return core_misuse(ERR_NULL, call, "the prequest is empty, or has been "
                           "freed");
    c = part_or_coll(call, prequest->req, -1, &coll);
    if (!c || !c->part->prequest)
        return c ? core_misuse(ERR_ARG, call, "the prequest has been freed")
                 : -EINVAL;
    if (!part_is_completed(c)) {
        core_misuse(ERR_ARG, call, "its request was started, and has not "
                    "ended");
        return -EBUSY;
    }
    part_prequest_release(c->part);
    memset(prequest, 0, sizeof *prequest);
    return 0;
}
