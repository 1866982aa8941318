/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: the stand-in for CXI refuses deferred work that the NIC refuses,
 * and is loud about what the NIC would take with undefined results.  Run by
 * cxi.sh, which looks for the lines of broken rules.
 */
#include "work.h"

#include <signal.h>
#include <sys/resource.h>

#define WRITE(...) ((struct rma){ .buf = &source[0], __VA_ARGS__ })
#define SUM(...)   ((struct amo){ .buf = &source[0], .op = FI_SUM,          \
                                  __VA_ARGS__ })

/* ---- in a process of its own, which must die ---- */

static void four_bytes(void)
{
    *(volatile uint32_t *)(uintptr_t)doorbell[0] = 1;
}

static void a_load(void)
{
    source[0] = doorbell[0][0];
}

static void an_exchange(void)
{
    __atomic_exchange_n((uint64_t *)(uintptr_t)doorbell[0], 1,
                        __ATOMIC_SEQ_CST);
}

static void a_wrong_place(void)
{
    doorbell[0][1] = 1;
}

static void a_wrong_reset(void)
{
    doorbell[0][16] = 1;
}

static void too_many_entries(void)
{
    for (int i = 0; i < 17; i++)
        put(WRITE(.word = 0), 0, 1, 1);
}

static void plain_fault(void)
{
    *(volatile char *)mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0) = 0;
}

static int dies(void (*of)(void))
{
    struct rlimit none = { 0, 0 };
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL);
        begin(0, false);
        of();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

T(what_no_hardware_stands_is_loud)
{
    T_EQ(dies(four_bytes), SIGABRT);
    T_EQ(dies(a_load), SIGABRT);
    T_EQ(dies(an_exchange), SIGABRT);
    T_EQ(dies(a_wrong_place), SIGABRT);
    T_EQ(dies(a_wrong_reset), SIGABRT);
    T_EQ(dies(too_many_entries), SIGABRT);
    T_EQ(dies(plain_fault), SIGSEGV);   /* has nothing to do with doorbells */
}

/* ---- refused without a word ---- */

T(arguments_that_it_refuses)
{
    static const uint64_t flags[] = { FI_INJECT, FI_FENCE, FI_REMOTE_CQ_DATA,
        FI_TRIGGER, 1ull << 57, 1ull << 60, 1ull << 61 };
    struct fi_deferred_work none = { .op_type = FI_OP_WRITE };
    struct fi_deferred_work odd = { .op_type = 99,
                                    .op.rma = &(struct fi_op_rma){ 0 } };

    T_EQ(put(WRITE(.word = 0), -1, 1, 1), -FI_EINVAL);
    T_EQ(put(WRITE(.iovs = 2), 0, 1, 1), -FI_EINVAL);
    T_EQ(put(WRITE(.word = 0), 0, 1ull << 48, 1), -FI_EINVAL);
    T_EQ(queue(&none, 0, 1, 1), -FI_EINVAL);
    T_EQ(queue(&odd, 0, 1, 1), -FI_EINVAL);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        T_EQ(put(WRITE(.flags = flags[i]), 0, 1, 1), -FI_EINVAL);
        T_EQ(amo(SUM(.flags = flags[i]), 0, 1, 1), -FI_EINVAL);
    }
    T_EQ(amo(SUM(.count = 2), 0, 1, 1), -FI_EINVAL);
    T_EQ(amo(SUM(.result = &source[1], .flags = FI_DELIVERY_COMPLETE), 0, 1,
             1), -FI_EINVAL);
    T_EQ(amo((struct amo){ .buf = &source[0], .op = FI_PROD }, 0, 1, 1),
         -FI_EOPNOTSUPP);
    T_EQ(increment(FI_OP_CNTR_ADD, 1, 1, 0, 1, 2), -FI_EINVAL);
    T_EQ(increment(FI_OP_CNTR_SET, 1, 1ull << 48, 0, 1, -1), -FI_EINVAL);
}

T(flags_that_it_takes)
{
    static const uint64_t flags[] = { FI_MORE, FI_COMPLETION,
        FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        T_EQ(put(WRITE(.flags = flags[i]), 0, 1, -1), 0);
        T_EQ(amo(SUM(.flags = flags[i]), 0, 1, 1), 0);
    }
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 5));
}

/* ---- broken rules, each of which has a line ---- */

T(no_more_entries_than_the_nic_has)
{
    size_t depth = 0;

    T_EQ(dom_ops->get_dwq_depth(&me.domain->fid, &depth), 0);
    T_EQ(depth, 16);
    for (int i = 0; i < 15; i++)
        T_EQ(put(WRITE(.word = 0), 0, 100, 1), 0);
    /* One that writes back takes two; a wait takes one until it ends. */
    T_EQ(put(WRITE(.flags = 1ull << 62), 1, 100, 1), -FI_ENOSPC);
    T_EQ(fi_cntr_wait(cntr[2], 1, 1), -FI_ETIMEDOUT);
    T_EQ(increment(FI_OP_CNTR_ADD, 1, 1, 0, 1, -1), -FI_ENOSPC);
    doorbell[2][0] = 1;
    T_TRUE(counts(2, 1));
    T_EQ(increment(FI_OP_CNTR_ADD, 1, 1, 0, 101, -1), 0);
    doorbell[0][0] = 100;
    T_TRUE(counts(1, 15));
    reap();
    T_EQ(put(WRITE(.word = 0), 3, 1, -1), 0);
    doorbell[0][0] = 1;
    doorbell[3][0] = 1;
    T_TRUE(counts(1, 16));
}

T(an_operand_of_a_write_is_final)
{
    source[9] = 1;
    T_EQ(amo((struct amo){ .word = 9, .buf = &source[9],
                           .op = FI_ATOMIC_WRITE }, 0, 1, 1), 0);
    source[9] = 2;
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 1));
}

T(a_write_back_needs_one_counter_for_both)
{
    T_EQ(put(WRITE(.flags = 1ull << 62), 0, 1, 1), -FI_EINVAL);
}

T(what_deferred_work_uses_stays_open)
{
    T_EQ(put(WRITE(.word = 0), 0, 1, 1), 0);
    T_EQ(fi_close(&cntr[0]->fid), -FI_EBUSY);
    T_EQ(fi_close(&cntr[1]->fid), -FI_EBUSY);
    T_EQ(fi_control(&me.domain->fid, FI_FLUSH_WORK, NULL), 0);
}

T(an_endpoint_needs_counters)
{
    struct fid_ep *whole = me.ep, *bare;

    T_EQ(fi_endpoint(me.domain, me.info, &bare, NULL), 0);
    T_EQ(fi_ep_bind(bare, &me.av->fid, 0), 0);
    T_EQ(fi_ep_bind(bare, &me.txcq->fid, FI_TRANSMIT | FI_RECV), 0);
    T_EQ(fi_enable(bare), 0);
    me.ep = bare;
    T_EQ(put(WRITE(.word = 0), 0, 1, 1), -FI_EINVAL);
    T_EQ(amo(SUM(.word = 0), 0, 1, 1), -FI_EINVAL);
    T_EQ(fi_ep_bind(bare, &me.writes->fid, FI_WRITE), 0);
    T_EQ(amo(SUM(.word = 0), 0, 1, 1), -FI_EINVAL);
    T_EQ(fi_ep_bind(bare, &me.reads->fid, FI_READ), 0);
    T_EQ(amo(SUM(.word = 0), 0, 1, 1), 0);
    T_EQ(fi_close(&bare->fid), -FI_EBUSY);
    doorbell[0][0] = 1;
    T_TRUE(counts(1, 1));
    me.ep = whole;
    T_EQ(fi_close(&bare->fid), 0);
}

T(no_more_counters_than_the_nic_has)
{
    struct fi_cntr_attr attr = { 0 };
    struct fid_cntr *more;

    T_EQ(fi_cntr_open(me.domain, &attr, &more, NULL), -FI_EDOMAIN);
    T_EQ(fi_close(&cntr[3]->fid), 0);
    T_EQ(fi_cntr_open(me.domain, &attr, &cntr[3], NULL), 0);
}

T(atomics_with_a_descriptor_have_neither_event_nor_credit)
{
    void *desc = fi_mr_desc(source_mr);
    uint64_t elsewhere = 1;

    for (uint64_t i = 1; i <= 3 * TX; i++) {
        T_EQ(amo(SUM(.word = 5, .desc = desc,
                     .flags = FI_DELIVERY_COMPLETE), 0, i, 1), 0);
        doorbell[0][0] = 1;
        T_TRUE(counts(1, i));
    }
    T_EQ(amo((struct amo){ .buf = &elsewhere, .op = FI_SUM, .desc = desc },
             0, 1, 1), -FI_EINVAL);
    T_EQ(reap(), 0);
}

/* Each from zero. */
static void all(void (*test)(void), const char *name, bool hybrid)
{
    begin(0, hybrid);
    source[0] = 1;
    t_run(name, test);
    end();
}
#define ALL(test, hybrid) all(test, #test, hybrid)

int main(void)
{
    setenv("FAKE_CXI_DEPTH", "16", 1);
    unsetenv("FAKE_CXI_SOFT");
    T_RUN(what_no_hardware_stands_is_loud);     /* before any thread */
    setenv("FAKE_CXI_SOFT", "1", 1);
    setenv("FAKE_CXI_FLUSH_MS", "1", 1);
    setenv("FAKE_CXI_CNTRS", "6", 1);
    ALL(arguments_that_it_refuses, false);
    ALL(flags_that_it_takes, false);
    ALL(no_more_entries_than_the_nic_has, false);
    ALL(an_operand_of_a_write_is_final, false);
    ALL(a_write_back_needs_one_counter_for_both, false);
    ALL(what_deferred_work_uses_stays_open, false);
    ALL(an_endpoint_needs_counters, false);
    ALL(no_more_counters_than_the_nic_has, false);
    ALL(atomics_with_a_descriptor_have_neither_event_nor_credit, true);
    return T_DONE();
}
