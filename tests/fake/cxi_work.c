/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: deferred work on the stand-in for CXI fires, reads its memory,
 * completes and fails as on that NIC.  Run by cxi.sh.
 */
#include "work.h"

#include <pthread.h>

static void pause_ms(void)
{
    nanosleep(&(struct timespec){ 0, 3000000 }, NULL);
}

static void restart(void)
{
    reap();
    pause_ms();                      /* what is late has arrived */
    for (int i = 0; i < CNTRS; i++)
        T_EQ(fi_cntr_set(cntr[i], 0), 0);
    memset((void *)(uintptr_t)word, 0, sizeof word);
}

/* ---- when it fires ---- */

T(armed_before_its_trigger)
{
    source[0] = 1;
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0],
                           .flags = FI_DELIVERY_COMPLETE }, 0, 1, 1), 0);
    pause_ms();
    source[0] = 7;              /* it is read when it fires */
    T_EQ(fi_cntr_read(cntr[1]), 0);
    T_EQ(atomic_load(&word[0]), 0);
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 1));
    T_EQ(atomic_load(&word[0]), 7);
}

T(armed_after_its_trigger)
{
    doorbell[0][0] = 1;
    T_TRUE(counts(0, 1));
    source[0] = 8;
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0],
                           .flags = FI_DELIVERY_COMPLETE }, 0, 1, 1), 0);
    T_TRUE(counts(1, 1));
    T_EQ(atomic_load(&word[0]), 8);
}

T(thresholds_in_any_order)
{
    static const int thresholds[] = { 5, 3, 4, 6, 3 };

    for (int i = 0; i < 5; i++) {
        source[i] = 1;
        T_EQ(put((struct rma){ .word = i, .buf = &source[i],
                               .flags = FI_DELIVERY_COMPLETE }, 0,
                 (uint64_t)thresholds[i], 1), 0);
    }
    for (int at = 1; at <= 6; at++) {
        uint64_t due = 0;

        for (int i = 0; i < 5; i++)
            due += thresholds[i] <= at;
        doorbell[0][0] = 1;
        T_TRUE(counts(1, due));
        for (int i = 0; i < 5; i++)
            T_EQ(atomic_load(&word[i]), thresholds[i] <= at);
    }
}

T(one_increment_triggers_many_in_the_order_of_thresholds)
{
    enum { N = 32 };

    /* Of the same word, so that the last one shows; the NIC orders writes. */
    for (int i = N; i > 0; i--) {
        source[i] = (uint64_t)i;
        T_EQ(put((struct rma){ .word = 0, .buf = &source[i],
                               .flags = FI_DELIVERY_COMPLETE }, 0,
                 (uint64_t)i, 1), 0);
    }
    doorbell[0][0] = N;
    T_TRUE(counts(1, N));
    T_EQ(atomic_load(&word[0]), N);
}

T(an_atomic_raises_a_flag_after_the_data)
{
    for (uint64_t i = 1; i <= 20; i++) {
        source[1] = i;
        source[2] = 1;
        T_EQ(amo((struct amo){ .word = 1, .buf = &source[2], .op = FI_SUM },
                 1, i, 2), 0);
        T_EQ(put((struct rma){ .word = 0, .buf = &source[1],
                               .flags = FI_DELIVERY_COMPLETE }, 0, i, 1), 0);
        doorbell[0][0] = 1;
        T_TRUE(is(1, i));
        T_EQ(atomic_load(&word[0]), i);
        reap();
    }
}

T(without_delivery_completion_the_flag_may_be_early)
{
    int early = 0;

    for (uint64_t i = 1; i <= 40; i++) {
        source[1] = i;
        source[2] = 1;
        T_EQ(amo((struct amo){ .word = 1, .buf = &source[2], .op = FI_SUM,
                               .flags = FI_DELIVERY_COMPLETE }, 1, i, 2), 0);
        T_EQ(put((struct rma){ .word = 0, .buf = &source[1] }, 0, i, 1), 0);
        doorbell[0][0] = 1;
        T_TRUE(is(1, i));
        early += atomic_load(&word[0]) != i;
        T_TRUE(is(0, i));
        reap();
    }
    T_LT(0, early);
}

T(counters_drive_counters)
{
    T_EQ(increment(FI_OP_CNTR_ADD, 1, 10, 0, 1, -1), 0);
    T_EQ(increment(FI_OP_CNTR_SET, 2, 77, 1, 10, -1), 0);
    T_EQ(increment(FI_OP_CNTR_ADD, 3, 5, 2, 77, -1), 0);
    T_EQ(fi_cntr_add(cntr[0], 1), 0);
    T_TRUE(counts(3, 5));
    T_EQ(fi_cntr_read(cntr[1]), 10);
    T_EQ(fi_cntr_read(cntr[2]), 77);
}

T(a_counter_may_trigger_what_it_counts)
{
    for (uint64_t i = 1; i <= 8; i++)
        T_EQ(amo((struct amo){ .word = 0, .buf = &source[2], .op = FI_SUM,
                               .flags = FI_DELIVERY_COMPLETE }, 0, i, 0), 0);
    source[2] = 3;
    doorbell[0][0] = 1;
    T_TRUE(counts(0, 9));
    T_EQ(atomic_load(&word[0]), 24);
}

/* ---- the other operations ---- */

T(reads_and_fetching_atomics)
{
    atomic_store(&word[0], 40);
    atomic_store(&word[1], 50);
    atomic_store(&word[2], 60);
    atomic_store(&word[3], 70);
    memset(source, 0, sizeof source);
    source[5] = 1;
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0],
                           .type = FI_OP_READ }, 0, 1, 1), 0);
    T_EQ(amo((struct amo){ .word = 1, .buf = &source[5], .op = FI_SUM,
                           .result = &source[1] }, 0, 1, 1), 0);
    T_EQ(amo((struct amo){ .word = 2, .op = FI_ATOMIC_READ,
                           .result = &source[2] }, 0, 1, 1), 0);
    T_EQ(amo((struct amo){ .word = 3, .buf = &source[5],
                           .op = FI_ATOMIC_WRITE, .result = &source[3] },
             0, 1, 1), 0);
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 4));
    T_EQ(source[0], 40);
    T_EQ(source[1], 50);
    T_EQ(source[2], 60);
    T_EQ(source[3], 70);
    T_EQ(atomic_load(&word[1]), 51);
    T_EQ(atomic_load(&word[3]), 1);
}

/* What is compared is in the command, what is stored is not. */
T(comparing_atomics)
{
    uint64_t compare = 5;

    atomic_store(&word[0], 5);
    atomic_store(&word[1], 0xff00);
    source[0] = 1;
    source[1] = 0x1234;
    T_EQ(amo((struct amo){ .word = 0, .buf = &source[0], .op = FI_CSWAP,
                           .result = &source[2], .compare = &compare },
             0, 1, 1), 0);
    compare = 0xf0f0;
    T_EQ(amo((struct amo){ .word = 1, .buf = &source[1], .op = FI_MSWAP,
                           .result = &source[3], .compare = &compare },
             0, 1, 1), 0);
    compare = 99;
    source[0] = 6;
    source[1] = 0;              /* FI_MSWAP has its operand already */
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 2));
    T_EQ(source[2], 5);
    T_EQ(source[3], 0xff00);
    T_EQ(atomic_load(&word[0]), 6);
    T_EQ(atomic_load(&word[1]), (0xff00 & ~0xf0f0) | (0x1234 & 0xf0f0));
}

T(messages)
{
    static char from[] = "deferred", to[sizeof from];
    int err;

    T_EQ(message(FI_OP_RECV, to, sizeof to, 0, 1, 1), -FI_EINVAL);
    T_EQ(message(FI_OP_RECV, to, sizeof to, 0, 0, 1), 0);
    T_EQ(message(FI_OP_SEND, from, sizeof from, 0, 1, 2), 0);
    pause_ms();
    T_EQ(fi_cntr_read(cntr[1]), 0);
    doorbell[0][0] = 1;
    T_TRUE(counts(2, 1));
    T_TRUE(counts(1, 1));
    fabric_wait(me.rxcq, &err);
    T_EQ(err, 0);
    T_STR(to, from);
}

/* ---- completions ---- */

T(a_queue_entry_for_who_asked_and_no_counter_of_the_endpoint)
{
    uint64_t before = fi_cntr_read(me.writes);

    T_EQ(put((struct rma){ .word = 0, .buf = &source[0] }, 0, 1, 1), 0);
    T_EQ(put((struct rma){ .word = 1, .buf = &source[1],
                           .flags = FI_COMPLETION }, 0, 1, 1), 0);
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 2));
    T_EQ(reap(), 1);
    T_EQ(fi_cntr_read(me.writes), before);
}

T(a_credit_from_queueing_until_the_queue_was_read)
{
    int n = 0;

    while (!put((struct rma){ .word = 0, .buf = &source[0] }, 0, 1, 1))
        if (++n > TX)
            break;
    T_EQ(n, TX);
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0] }, 0, 1, 1),
         -FI_EAGAIN);
    T_EQ(fi_write(me.ep, &source[0], 8, NULL, self, 0, fi_mr_key(mr), NULL),
         -FI_EAGAIN);
    doorbell[0][0] = 1;
    T_TRUE(counts(1, TX));
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0] }, 0, 1, 1),
         -FI_EAGAIN);
    reap();
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0] }, 0, 1, 1), 0);
    T_TRUE(counts(1, TX + 1));
}

T(a_failure_is_an_entry_and_fires_nothing)
{
    int err;

    T_EQ(amo((struct amo){ .word = 1, .buf = &source[0], .op = FI_SUM },
             1, 1, 2), 0);
    T_EQ(put((struct rma){ .word = 0, .buf = &source[3], .key = 4711,
                           .flags = FI_DELIVERY_COMPLETE }, 0, 1, 1), 0);
    doorbell[0][0] = 1;
    T_TRUE(fabric_wait(me.txcq, &err) == &source[3]);
    T_EQ(err, FI_EIO);
    T_EQ(fi_cntr_readerr(cntr[1]), 1);
    T_EQ(fi_cntr_read(cntr[1]), 0);
    pause_ms();
    T_EQ(fi_cntr_read(cntr[2]), 0);
    T_EQ(atomic_load(&word[1]), 0);
    T_EQ(fi_control(&me.domain->fid, FI_FLUSH_WORK, NULL), 0);
    T_EQ(fi_cntr_seterr(cntr[1], 0), 0);
}

/* By fi_trigger(3); the queue reports it later than the counter. */
T(a_failure_counts_towards_thresholds_where_it_does)
{
    struct fi_cq_msg_entry entry;
    int err;

    T_EQ(amo((struct amo){ .word = 1, .buf = &source[0], .op = FI_SUM },
             1, 1, 2), 0);
    T_EQ(put((struct rma){ .word = 0, .buf = &source[3], .key = 4711,
                           .flags = FI_DELIVERY_COMPLETE }, 0, 1, 1), 0);
    doorbell[0][0] = 1;
    T_TRUE(counts(2, 1));
    T_EQ(fi_cq_read(me.txcq, &entry, 1), -FI_EAGAIN);
    T_EQ(fi_cntr_read(cntr[1]), 0);
    T_EQ(fi_cntr_readerr(cntr[1]), 1);
    T_TRUE(fabric_wait(me.txcq, &err) == &source[3]);
    T_EQ(err, FI_EIO);
    T_EQ(fi_cntr_seterr(cntr[1], 0), 0);
    /* What a processor adds counts as well. */
    T_EQ(amo((struct amo){ .word = 1, .buf = &source[0], .op = FI_SUM },
             1, 2, 2), 0);
    T_EQ(fi_cntr_add(cntr[1], 1), 0);
    T_EQ(fi_cntr_adderr(cntr[1], 1), 0);
    T_TRUE(counts(2, 2));
    T_EQ(fi_cntr_seterr(cntr[1], 0), 0);
}

T(the_depth_is_what_is_reserved_less_eight)
{
    size_t depth;

    T_EQ(dom_ops->get_dwq_depth(&me.domain->fid, &depth), 0);
    T_EQ(depth, (size_t)-7);
}

T(a_flush_takes_all_and_gives_credits_back)
{
    for (int i = 0; i < TX; i++)
        T_EQ(put((struct rma){ .word = 0, .buf = &source[0] }, i % CNTRS, 1,
                 1), 0);
    T_EQ(fi_control(&me.domain->fid, FI_CANCEL_WORK, NULL), -FI_EINVAL);
    T_EQ(fi_control(&me.domain->fid, FI_FLUSH_WORK, NULL), 0);
    for (int i = 0; i < CNTRS; i++)
        doorbell[i][0] = 1;
    pause_ms();
    for (int i = 0; i < CNTRS; i++)
        T_EQ(fi_cntr_read(cntr[i]), 1);
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0] }, 0, 1, 1), 0);
    T_TRUE(counts(1, 2));
}

/* ---- doorbells ---- */

static void *ring(void *arg)
{
    for (int i = 0; i < 300; i++)
        *(volatile uint64_t *)arg = 1;
    return NULL;
}

T(no_store_at_a_doorbell_is_lost)
{
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        T_EQ(pthread_create(&thread[i], NULL, ring,
                            (void *)(uintptr_t)doorbell[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    T_TRUE(counts(0, 300));
    T_TRUE(counts(1, 300));
}

T(doorbells_add_and_reset_successes_and_failures)
{
    double tiny;
    uint64_t bits = 1000;

    memcpy(&tiny, &bits, sizeof tiny);
    doorbell[0][0] = 1ull << 40;
    /* From a vector register. */
    *(volatile double *)(uintptr_t)doorbell[0] = tiny;
    doorbell[0][8] = 3;
    T_TRUE(counts(0, (1ull << 40) + 1000));
    T_EQ(fi_cntr_readerr(cntr[0]), 3);
    doorbell[0][16] = 0;
    doorbell[0][0] = 2;
    doorbell[0][24] = 0;
    T_TRUE(counts(0, 2));
    T_EQ(fi_cntr_readerr(cntr[0]), 0);
}

T(write_backs_come_when_asked_for)
{
    _Atomic uint64_t *back = &word[100];
    uint64_t written = 1ull << 63;

    T_EQ(cntr_ops->set_wb_buffer(&cntr[0]->fid, NULL, 8), -FI_EINVAL);
    T_EQ(cntr_ops->set_wb_buffer(&cntr[0]->fid, (void *)back, 7), -FI_EINVAL);
    T_EQ(cntr_ops->set_wb_buffer(&cntr[0]->fid, (void *)back, 8), 0);
    T_EQ(atomic_load(back), written);
    T_EQ(fi_cntr_add(cntr[0], 1), 0);
    pause_ms();
    T_EQ(atomic_load(back), written);           /* not by itself */
    T_EQ(put((struct rma){ .word = 0, .buf = &source[0],
                           .flags = 1ull << 62 }, 0, 2, 0), 0);
    doorbell[0][0] = 1;
    T_TRUE(is(100, written | 3));
    doorbell[0][8] = 1;
    T_TRUE(is(100, written | 1ull << 48 | 3));  /* the first failure does */
    doorbell[0][16] = 0;
    T_TRUE(is(100, written | 1ull << 48));      /* and a reset */
    doorbell[0][24] = 0;
    T_TRUE(is(100, written));
    doorbell[0][0] = 9;
    T_TRUE(counts(0, 9));
    T_EQ(atomic_load(back), written | 9);       /* and a read */
}

/* ---- counters of regions ---- */

static struct fid_mr *counted_region(struct fid_cntr *with)
{
    struct fid_mr *r;

    T_EQ(fi_mr_reg(me.domain, (void *)(uintptr_t)&word[256], 2048,
                   FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 0, FI_RMA_EVENT, &r,
                   NULL), 0);
    T_EQ(fi_mr_bind(r, &me.ep->fid, 0), 0);
    T_EQ(fi_mr_bind(r, &with->fid, 0), -FI_EINVAL);
    T_EQ(fi_mr_bind(r, &with->fid, FI_REMOTE_WRITE), 0);
    T_EQ(fi_mr_bind(r, &with->fid, FI_REMOTE_WRITE), -FI_EINVAL);
    T_EQ(fi_mr_enable(r), 0);
    T_EQ(fi_mr_bind(r, &with->fid, FI_REMOTE_WRITE), -FI_EINVAL);
    return r;
}

T(what_is_written_to_a_region_counts_and_fires)
{
    struct fid_mr *r = counted_region(cntr[0]), *whole = mr;
    uint64_t one = 1, got;

    T_EQ(fi_mr_bind(whole, &cntr[0]->fid, FI_REMOTE_WRITE), -FI_EINVAL);
    T_EQ(amo((struct amo){ .word = 0, .buf = &source[0], .op = FI_SUM },
             0, 4, 1), 0);
    source[0] = 6;
    mr = r;
    T_EQ(put((struct rma){ .word = 0, .buf = &source[1] }, 2, 0, 3), 0);
    T_EQ(put((struct rma){ .word = 1, .buf = &source[1],
                           .flags = FI_DELIVERY_COMPLETE }, 2, 0, 3), 0);
    T_EQ(put((struct rma){ .word = 1, .buf = &source[2],
                           .type = FI_OP_READ }, 2, 0, 3), 0);
    T_EQ(amo((struct amo){ .word = 2, .buf = &one, .op = FI_SUM }, 2, 0, 3),
         0);
    T_TRUE(counts(3, 4));
    T_TRUE(counts(0, 3));
    T_EQ(atomic_load(&word[0]), 0);
    T_EQ(amo((struct amo){ .word = 2, .buf = &one, .op = FI_SUM,
                           .result = &got }, 2, 0, 3), 0);
    T_TRUE(is(0, 6));
    T_TRUE(counts(1, 1));
    T_EQ(atomic_load(&word[258]), 2);
    mr = whole;
    T_EQ(fi_close(&r->fid), 0);
}

int main(void)
{
    begin(FI_RMA_EVENT, false);
#define RUN(test) (T_RUN(test), restart())
    RUN(armed_before_its_trigger);
    RUN(armed_after_its_trigger);
    RUN(thresholds_in_any_order);
    RUN(one_increment_triggers_many_in_the_order_of_thresholds);
    RUN(an_atomic_raises_a_flag_after_the_data);
    RUN(without_delivery_completion_the_flag_may_be_early);
    RUN(counters_drive_counters);
    RUN(a_counter_may_trigger_what_it_counts);
    RUN(reads_and_fetching_atomics);
    RUN(comparing_atomics);
    RUN(messages);
    RUN(a_queue_entry_for_who_asked_and_no_counter_of_the_endpoint);
    RUN(a_credit_from_queueing_until_the_queue_was_read);
    RUN(a_failure_is_an_entry_and_fires_nothing);
    RUN(a_flush_takes_all_and_gives_credits_back);
    RUN(no_store_at_a_doorbell_is_lost);
    RUN(doorbells_add_and_reset_successes_and_failures);
    RUN(write_backs_come_when_asked_for);
    RUN(what_is_written_to_a_region_counts_and_fires);
    end();
    setenv("FAKE_CXI_ERRORS_COUNT", "1", 1);
    setenv("FAKE_CXI_LATE_MS", "200", 1);
    begin(0, false);
    RUN(a_failure_counts_towards_thresholds_where_it_does);
    end();
    unsetenv("FAKE_CXI_LATE_MS");
    setenv("FAKE_CXI_RESERVED", "1", 1);
    begin(0, false);
    RUN(the_depth_is_what_is_reserved_less_eight);
    end();
    return T_DONE();
}
