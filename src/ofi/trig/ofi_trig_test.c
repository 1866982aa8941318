/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of deferred work when it opens: a put to this PE itself and its flag,
 * released as a stream does it, by the device's own store to the doorbell, which
 * may be lost though registering it gave no error; and probes of rules that no
 * source decides.  Called by ofi_trig.c and by shmem_info --check; no other
 * operation of deferred work is under way then. */
#include "ofi/trig/ofi_trig.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { TRIES = 20000, SPINS = 100, WRONG_KEY = 0x5a5a };
/* Words of the test's line: from PUTS on, of puts, and one of both sides. */
enum { PUTS = 0, COHERENT = 5, TURNS = 16 };

__attribute__((format(printf, 2, 3)))
static int because(int rc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(ofi_trig.cause, sizeof ofi_trig.cause, fmt, ap);
    va_end(ap);
    return rc;
}

/* ---- waiting ---- */

/* Until it is so, in so many looks: false if it is not. */
static bool poll_until(bool (*is)(void *arg), void *arg, int tries)
{
    const struct timespec pause = { .tv_nsec = 100000 };

    for (int i = 0; i < tries; i++) {
        if (is(arg))
            return true;
        if (i > SPINS)
            nanosleep(&pause, NULL);
    }
    return false;
}

static bool read_entry(void *arg)
{
    return fi_cq_read(ofi_trig.ep->cq, arg, 1) == 1;
}

/* True: the queue has reported of that one; false: of another one, or of none
 * in so many looks. */
static bool reported(const struct ofi_trig_entry *w, int tries)
{
    struct fi_cq_msg_entry e;

    return poll_until(read_entry, &e, tries) && e.op_context == w;
}

struct count {
    struct fid_cntr *of;
    bool errors;
    uint64_t least, n;
};

static bool has_counted(void *arg)
{
    struct count *c = arg;

    c->n = c->errors ? fi_cntr_readerr(c->of) : fi_cntr_read(c->of);
    return c->n >= c->least;
}

/* Waits for so many failures or successes of a counter: how many there are. */
static uint64_t await_count(struct fid_cntr *c, bool errors, uint64_t least)
{
    struct count x = { c, errors, least, 0 };

    poll_until(has_counted, &x, TRIES);
    return x.n;
}

/* So many, or what it is when it has not changed for a while. */
static uint64_t await_all(struct fid_cntr *c, uint64_t least)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    uint64_t was, n = await_count(c, false, least);

    do {
        was = n;
        nanosleep(&pause, NULL);
        n = fi_cntr_read(c);
    } while (n != was);
    return n;
}

/* ---- do failures count? ---- */

/* The test's flags, which no trigger uses. */
static uint64_t *test_flags(void)
{
    return ofi_trig.flag_mem +
           OFI_TRIG_FLAGS * OFI_TRIG_FLAG_SIZE / sizeof(uint64_t);
}

static struct xport_addr place(const uint64_t *word)
{
    return (struct xport_addr){
        .pe = rt_job.pe, .seg = HEAP_HOST,
        .off = (uintptr_t)word - heap_segs[HEAP_HOST].base
    };
}

/* A put from one word to the next, at 2 of the counter; wrong: of the key's
 * bits. */
static int post_put(struct ofi_trig_entry *w, uint64_t *from, uint64_t wrong,
                    struct fid_cntr *trigger, struct fid_cntr *done)
{
    const struct xport_trig_op op = {
        .kind = XPORT_TRIG_PUT, .len = sizeof *from, .local = from,
        .at = place(from + 1)
    };

    ofi_trig_fill(w, &op);
    w->remote.rma.key ^= wrong;
    return ofi_trig_post(w, trigger, 2, done);
}

/* 1 and a failure are on the counter that a put waits for at 2.  Another put
 * has come and gone when the source changes and the second 1 is added, so what
 * arrives says when the first one went. */
static int test_error_threshold(struct ofi_trig_entry *w[2],
                                struct fid_cntr *c[3], bool *counts)
{
    uint64_t *word = test_flags() + PUTS;
    int rc;

    word[0] = 1;
    word[1] = word[2] = word[3] = 0;
    rc = post_put(w[0], word, 0, c[0], c[2]);
    if (!rc)
        rc = post_put(w[1], word + 2, 0, c[1], c[2]);
    if (rc)
        return rc;
    fi_cntr_add(c[0], 1);
    fi_cntr_adderr(c[0], 1);
    await_count(c[0], true, 1);
    fi_cntr_add(c[1], 2);
    *counts = reported(w[0], TRIES);  /* or it was the other one, or nothing */
    if (*counts)
        return reported(w[1], TRIES) ? 0 : -ETIMEDOUT;
    *counts = reported(w[0], SPINS);
    __atomic_store_n(&word[0], 2, __ATOMIC_RELEASE);
    fi_cntr_add(c[0], 1);
    if (!*counts && !reported(w[0], TRIES))
        return because(-ETIMEDOUT, "what a counter triggers does not end");
    *counts |= __atomic_load_n(&word[1], __ATOMIC_ACQUIRE) == 1;
    return 0;
}

/* ---- what does the counter of a region count? ---- */

static bool may_have_two_inputs(void)
{
    uint64_t mode = ofi.info->domain_attr->mr_mode;

    return ofi_trig.kind->entries && ofi.nic_amo && mode & FI_MR_PROV_KEY &&
           ofi.info->caps & FI_RMA_EVENT && !(mode & FI_MR_VIRT_ADDR);
}

/* The NIC adds 1 at once, and has ended it. */
static int add_now(struct ofi_trig_entry *w, struct fid_cntr *c[3],
                   const struct xport_addr *at)
{
    const struct xport_trig_op add = {
        .kind = XPORT_TRIG_AMO, .len = sizeof(uint64_t), .at = *at,
        .amo = { AMO_ADD, 8, 1, 0 }
    };
    int rc;

    ofi_trig_fill(w, &add);
    rc = ofi_trig_post(w, c[1], 0, c[2]);
    if (!rc && !reported(w, TRIES))
        rc = because(-ETIMEDOUT, "an atomic of deferred work does not end");
    return rc;
}

/* Atomics that come there one after another, as increments of two-input
 * triggers. What counts more than 1 may be past their number before all has
 * been counted, and what has lost one may come to it. */
static int add_to_region(struct ofi_trig_entry *w, struct fid_cntr *c[3],
                       struct fid_mr *region)
{
    const struct xport_addr at = { rt_job.pe, XPORT_TRIG_COUNTER,
                                   fi_mr_key(region) };
    int rc = 0;

    for (int i = 0; i < OFI_TRIG_TEST_ADDS && !rc; i++)
        rc = add_now(w, c, &at);
    if (rc)
        return rc;
    ofi_trig.region_counts = await_all(c[0], OFI_TRIG_TEST_ADDS);
    if (ofi_trig.region_counts != OFI_TRIG_TEST_ADDS)
        log_info(LOG_OFI, "%d atomics to a region count %" PRIu64 ": messages "
                 "between nodes wait for each other by a thread",
                 (int)OFI_TRIG_TEST_ADDS, ofi_trig.region_counts);
    return 0;
}

/* The flag of a two-input trigger is raised by the NIC, and by the processor
 * where the NIC had no room: does each see what the other one has stored? */
static int test_coherence(struct ofi_trig_entry *w, struct fid_cntr *c[3])
{
    uint64_t *word = test_flags() + COHERENT;
    const struct xport_addr at = place(word);
    bool seen = true;
    int rc = 0;

    for (uint64_t i = 0; i < TURNS && seen && !rc; i++) {
        __atomic_store_n(word, 2 * i, __ATOMIC_RELEASE);
        rc = add_now(w, c, &at);
        seen = __atomic_load_n(word, __ATOMIC_ACQUIRE) == 2 * i + 1;
    }
    ofi_trig.amo_coherent = seen && !rc;
    if (!seen && !rc)
        log_info(LOG_OFI, "the NIC does not see what the processor stores to "
                 "a word: messages between nodes wait for each other by a "
                 "thread");
    return rc;
}

/* Without such regions the rest is of use all the same. */
static int test_region_counter(struct ofi_trig_entry *w, struct fid_cntr *c[3])
{
    uint64_t *last = &ofi_trig.counted[ofi_trig.plan.two_inputs];
    struct fid_mr *region;
    int rc = ofi_region_open_counted(last, sizeof *last, c[0], &region);

    if (rc) {
        log_info(LOG_OFI, "no two-input triggers: %s", ofi_strerror(rc));
        return 0;
    }
    rc = add_to_region(w, c, region);
    fi_close(&region->fid);
    return rc ? rc : test_coherence(w, c);
}

/* ---- both, and what --check tries ---- */

static int open_counters(void)
{
    int rc = 0;

    for (int i = 0; i < 3 && !rc; i++)
        rc = ofi_trig_counter(&ofi_trig.probe[i]);
    return rc;
}

static void close_counters(void)
{
    for (int i = 0; i < 3; i++)
        ofi_trig_counter_close(&ofi_trig.probe[i]);
}

static void free_after_probe(struct ofi_trig_entry *w[2])
{
    for (int i = 0; i < 2; i++)
        if (w[i])
            ofi_trig_entry_free(w[i]);
    close_counters();
}

/* No trigger's: what a late report is about is none of its last owner's. */
static int take_for_probe(struct ofi_trig_entry *w[2])
{
    int rc = open_counters();

    for (int i = 0; i < 2 && !rc; i++) {
        w[i] = ofi_trig_entry_alloc();
        rc = w[i] ? 0 : -ENOSPC;
        if (w[i])
            w[i]->trig = NULL;
    }
    if (rc)
        free_after_probe(w);
    return rc;
}

int ofi_trig_probe(void)
{
    struct ofi_trig_entry *w[2] = { NULL };
    int rc = 0;

    ofi_trig.errors_count = false;
    ofi_trig.region_counts = 0;
    ofi_trig.amo_coherent = false;
    if (!ofi_trig.kind->entries)
        return 0;
    rc = take_for_probe(w);
    if (!rc)
        rc = test_error_threshold(w, ofi_trig.probe, &ofi_trig.errors_count);
    if (rc)                     /* it may have entries: see close_all */
        return rc;
    close_counters();
    if (may_have_two_inputs()) {
        rc = open_counters();
        if (!rc)
            rc = test_region_counter(w[0], ofi_trig.probe);
    }
    if (!rc)
        free_after_probe(w);
    return rc;
}

/* What the queue has reported of: a put that went, a put that failed. */
struct seen {
    const struct ofi_trig_entry *put;
    bool went, failed;
};

static bool see_both(void *arg)
{
    OFI_GROWS(fi_cq_err_entry) err = { 0 };
    struct fi_cq_msg_entry e;
    struct seen *s = arg;
    ssize_t n = fi_cq_read(ofi_trig.ep->cq, &e, 1);

    s->went |= n == 1 && e.op_context == s->put;
    s->failed |= n == -FI_EAVAIL &&
                 fi_cq_readerr(ofi_trig.ep->cq, &err.a, 0) >= 0;
    return s->went && s->failed;
}

/* A put waits for 2 of a counter: one, and one that a put with a wrong key
 * counts on. */
static int fail_one(struct ofi_trig_entry *w[2], struct fid_cntr *c[3],
                    bool *counts, bool *first)
{
    struct seen s = { w[0], false, false };
    uint64_t *word = test_flags() + PUTS;
    int rc;

    word[0] = 1;
    word[1] = 0;
    rc = post_put(w[0], word, 0, c[0], c[2]);
    if (!rc)
        rc = post_put(w[1], word + 2, WRONG_KEY, c[1], c[0]);
    if (rc)
        return rc;
    fi_cntr_add(c[0], 1);
    fi_cntr_add(c[1], 2);
    await_count(c[0], true, 1);
    see_both(&s);
    *first = s.failed;
    poll_until(see_both, &s, 4 * SPINS);
    *counts = s.went;
    fi_cntr_add(c[0], 1);
    return poll_until(see_both, &s, TRIES) ? 0 : -ETIMEDOUT;
}

int ofi_trig_try_failure(bool *counts, bool *first)
{
    struct ofi_trig_entry *w[2] = { NULL };
    int rc;

    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();
    rc = take_for_probe(w);
    if (!rc) {
        rc = fail_one(w, ofi_trig.probe, counts, first);
        if (!rc)                /* else they may be under way */
            free_after_probe(w);
    }
    lock_release(&ofi_trig.lock);
    return rc;
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

struct flag {
    struct xport_trig *of;
    uint64_t least;
};

static bool is_over(void *arg)
{
    struct flag *f = arg;
    struct xport_trig *t = f->of;
    bool over;

    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();
    over = t->is_failed ||
           (__atomic_load_n(t->word, __ATOMIC_ACQUIRE) >= f->least &&
            !t->entries);
    lock_release(&ofi_trig.lock);
    return over;
}

static int await(struct xport_trig *t, uint64_t least)
{
    struct flag f = { t, least };

    if (poll_until(is_over, &f, TRIES))
        return 0;
    if (t->mmio && !fi_cntr_read(t->trigger))
        return because(-ETIMEDOUT, "what a stream stores to a doorbell does "
                       "not get to the NIC (%s, %s)", gtl->name,
                       gtl_device.name);
    return -ETIMEDOUT;
}

static int try_trigger(struct xport_trig *t, const struct xport_trig_op *op,
                       const uint64_t *word, void *stream)
{
    uint64_t least;
    int rc = ofi_trig_arm(t, op, 1);

    if (!rc)
        rc = ofi_trig_flag(t, &least);
    if (rc)
        return rc;
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE))
        return because(-EPROTO, "an operation went before its trigger");
    if (t->mmio)
        rc = ring(t, stream);
    else
        ofi_trig_increment(t, 1);
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
    uint64_t *word = test_flags() + PUTS;
    uint64_t value = 0x1234567812345678;
    struct xport_trig_op op = {
        .kind = XPORT_TRIG_PUT, .call = "the test's", .len = sizeof value,
        .value = true, .local = &value, .at = place(word)
    };
    struct xport_trig *t;
    void *stream = NULL;
    int rc = ofi_trig_open(&t, false, note_failure, NULL);

    if (rc)
        return rc;
    *word = 0;
    if (t->mmio)
        rc = gtl->stream_create(GTL_URGENT, &stream);
    if (!rc)
        rc = fault_hit(FAULT_OFI_TEST) ? -EIO
             : try_trigger(t, &op, word, stream);
    ofi_trig_return(t);
    if (stream)
        gtl->stream_destroy(stream);
    return rc;
}
