/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred work is believed when it has moved a word: a put to this PE itself,
 * and its flag, let go as a stream does it - by the device's own store to the
 * doorbell, which may be lost though registering it gave no error. */
#include "ofi/ofi_trig.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { TRIES = 20000, SPINS = 100 };

__attribute__((format(printf, 2, 3)))
static int because(int rc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(ofi_trig.cause, sizeof ofi_trig.cause, fmt, ap);
    va_end(ap);
    return rc;
}

/* On a stream of its own, ahead of the program's. */
static int ring(const struct xport_trig *t, void *stream)
{
    int rc = gtl->release(stream);

    if (!rc)
        rc = gtl->write64(t->doorbell, 1, stream);
    return rc ? because(rc, "a stream cannot store to a doorbell: %s",
                        gtl_error()) : 0;
}

static bool is_over(struct xport_trig *t, uint64_t least)
{
    bool over;

    lock_acquire(&ofi_trig.lock);
    ofi_trig_reap();
    over = t->is_failed ||
           (__atomic_load_n(t->word, __ATOMIC_ACQUIRE) >= least &&
            !t->entries);
    lock_release(&ofi_trig.lock);
    return over;
}

static int await(struct xport_trig *t, uint64_t least)
{
    const struct timespec nap = { .tv_nsec = 100000 };

    for (int i = 0; i < TRIES; i++) {
        if (is_over(t, least))
            return 0;
        if (i > SPINS)
            nanosleep(&nap, NULL);
    }
    if (t->mmio && !fi_cntr_read(t->go))
        return because(-ETIMEDOUT, "what a stream stores to a doorbell does "
                       "not get to the NIC (%s, %s)", gtl->name,
                       gtl_device.name);
    return -ETIMEDOUT;
}

static int try_trigger(struct xport_trig *t, const struct xport_trig_op *op,
                       const uint64_t *word, void *stream)
{
    uint64_t least;
    int rc = ofi_trig_arm(t, op);

    if (!rc)
        rc = ofi_trig_flag(t, &least);
    if (rc)
        return rc;
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE))
        return because(-EPROTO, "an operation went before its trigger");
    if (t->mmio)
        rc = ring(t, stream);
    else
        ofi_trig_bump(t, 1);
    if (!rc)
        rc = await(t, least);
    if (!rc && (t->is_failed || *word != *(uint64_t *)op->local))
        rc = because(-EIO, "a put to this PE itself came wrong");
    return rc;
}

static void note_failure(void *arg, const char *call, const char *what, int pe,
                         const char *cause)
{
    (void)arg;
    (void)pe;
    log_info(LOG_OFI, "deferred work: %s %s: %s", call, what, cause);
}

int ofi_trig_test(void)
{
    uint64_t *word = ofi_trig.words + OFI_TRIG_WORDS * OFI_TRIG_WORD /
                     sizeof *word;
    uint64_t value = 0x1234567812345678;
    struct xport_trig_op op = {
        .kind = XPORT_TRIG_PUT, .call = "the test's", .len = sizeof value,
        .value = true, .local = &value,
        .at = { .pe = rt_job.pe, .seg = HEAP_HOST,
                .off = (uintptr_t)word - heap_segs[HEAP_HOST].base }
    };
    struct xport_trig *t;
    void *stream = NULL;
    int rc = ofi_trig_open(&t, note_failure, NULL);

    if (rc)
        return rc;
    *word = 0;
    if (t->mmio)
        rc = gtl->stream_create(true, &stream);
    if (!rc)
        rc = fault_hit(FAULT_OFI_TEST) ? -EIO
             : try_trigger(t, &op, word, stream);
    ofi_trig_return(t);
    if (stream)
        gtl->stream_destroy(stream);
    return rc;
}
