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

/* ---- do failures count? ---- */

/* The test's words: nobody else has them yet. */
static uint64_t *words_of_test(void)
{
    return ofi_trig.words + OFI_TRIG_WORDS * OFI_TRIG_WORD / sizeof(uint64_t);
}

static struct xport_at place(const uint64_t *word)
{
    return (struct xport_at){
        .pe = rt_job.pe, .seg = HEAP_HOST,
        .off = (uintptr_t)word - heap_segs[HEAP_HOST].base
    };
}

/* A put from one word to the next, at 2 of the counter. */
static int post_put(struct ofi_work *w, uint64_t *from, struct fid_cntr *go,
                    struct fid_cntr *done)
{
    const struct xport_trig_op op = {
        .kind = XPORT_TRIG_PUT, .len = sizeof *from, .local = from,
        .at = place(from + 1)
    };

    ofi_trig_make(w, &op);
    return ofi_trig_post(w, go, 2, done);
}

/* True: the queue has told of that one; false: of another one, or of none in
 * so many looks. */
static bool told(const struct ofi_work *w, int looks)
{
    const struct timespec nap = { .tv_nsec = 100000 };
    struct fi_cq_msg_entry e;

    for (int i = 0; i < looks; i++) {
        if (fi_cq_read(ofi_trig.ep->cq, &e, 1) == 1)
            return e.op_context == w;
        if (i > SPINS)
            nanosleep(&nap, NULL);
    }
    return false;
}

/* 1 and a failure are on the counter that a put waits for at 2.  Another put
 * has come and gone when the source changes and the second 1 is added, so what
 * arrives says when the first one went. */
static int see_what_goes(struct ofi_work *w[2], struct fid_cntr *c[3],
                         bool *counts)
{
    uint64_t *word = words_of_test();
    int rc;

    word[0] = 1;
    word[1] = word[2] = word[3] = 0;
    rc = post_put(w[0], word, c[0], c[2]);
    if (!rc)
        rc = post_put(w[1], word + 2, c[1], c[2]);
    if (rc)
        return rc;
    fi_cntr_add(c[0], 1);
    fi_cntr_adderr(c[0], 1);
    for (int i = 0; i < TRIES && !fi_cntr_readerr(c[0]); i++)
        ;
    fi_cntr_add(c[1], 2);
    *counts = told(w[0], TRIES);    /* or it was the other one, or nothing */
    if (*counts)
        return told(w[1], TRIES) ? 0 : -ETIMEDOUT;
    *counts = told(w[0], SPINS);
    __atomic_store_n(&word[0], 2, __ATOMIC_RELEASE);
    fi_cntr_add(c[0], 1);
    if (!*counts && !told(w[0], TRIES))
        return because(-ETIMEDOUT, "what a counter lets go does not end");
    *counts |= __atomic_load_n(&word[1], __ATOMIC_ACQUIRE) == 1;
    return 0;
}

int ofi_trig_probe(bool *counts)
{
    struct fid_cntr **c = ofi_trig.probe;
    struct ofi_work *w[2] = { NULL };
    int rc = 0;

    *counts = false;
    if (!ofi_trig.kind->entries)
        return 0;
    for (int i = 0; i < 3 && !rc; i++)
        rc = ofi_trig_counter(&c[i]);
    for (int i = 0; i < 2 && !rc; i++) {
        w[i] = ofi_trig_take();
        if (w[i])
            w[i]->desc = NULL;
        else
            rc = -ENOSPC;
    }
    if (!rc)
        rc = see_what_goes(w, c, counts);
    if (rc)                     /* it may have entries: see close_all */
        return rc;
    for (int i = 0; i < 2; i++)
        ofi_trig_give(w[i]);
    for (int i = 0; i < 3; i++)
        ofi_trig_counter_close(&c[i]);
    return 0;
}

/* ---- a put and its flag ---- */

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
    uint64_t *word = words_of_test();
    uint64_t value = 0x1234567812345678;
    struct xport_trig_op op = {
        .kind = XPORT_TRIG_PUT, .call = "the test's", .len = sizeof value,
        .value = true, .local = &value, .at = place(word)
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
