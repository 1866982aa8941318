/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: sources are asked in the order of their parts, by a signal and
 * by a request of another process; the watchdog checks them in time, hands a
 * call over, and stops at the call that stops it. Timeout: 20 */
#include "unit.h"

#include "base/env.h"
#include "base/report_request.h"
#include "diag/diag.h"

#include <pthread.h>

static _Atomic int checks, calls, printed;

static void describe_heap(struct line *out)
{
    line_add(out, "; heap");
}

static void describe_wait(struct line *out)
{
    line_add(out, "wait");
}

static void check(uint64_t now_ns)
{
    checks += now_ns != 0;
}

static void call(void)
{
    calls++;
}

static void statistics(void)
{
    printed++;
}

static const struct diag_source heap = {
    .part = DIAG_MEMORY, .describe = describe_heap, .check = check
}, waits = {
    .part = DIAG_WAITS, .describe = describe_wait, .statistics = statistics
}, silent = { .part = DIAG_STREAMS };

static void open_all(void)
{
    diag_open();
    diag_register(&heap);
    diag_register(&silent);
    diag_register(&waits);
    diag_set_state_text(NULL);
}

/* Ten seconds at most, in steps of a millisecond. */
static bool comes(_Atomic int *count, int least)
{
    for (int ms = 0; ms < 10000 && *count < least; ms++)
        usleep(1000);
    return *count >= least;
}

T(a_signal_prints_the_parts_in_their_order)
{
    const char *text;

    open_all();
    unit_capture();
    kill(getpid(), SIGUSR2);
    text = unit_captured();
    T_HAS(text, "): wait; heap\n");
    T_EQ(unit_lines(text), 1);
    diag_set_state_text("a forked child");
    unit_capture();
    kill(getpid(), SIGUSR2);
    T_HAS(unit_captured(), "): a forked child\n");
    diag_close();
    unit_capture();
    kill(getpid(), SIGUSR2);
    T_HAS(unit_captured(), "): not between shmem_init and shmem_finalize\n");
}

T(another_process_gets_the_same_line)
{
    bool requested;

    open_all();
    requested = report_request_process(getpid());
    T_TRUE(!requested);             /* nothing answers yet */
    unit_capture();
    diag_answer_requests();
    for (int ms = 0; ms < 10000 &&
                     !(requested = report_request_process(getpid()));
         ms++)
        usleep(1000);
    diag_close();               /* waits for the thread, which answers first */
    T_HAS(unit_captured(), "): wait; heap\n");
    T_TRUE(requested);
    T_TRUE(!report_request_process(getpid()));
}

T(the_watchdog_checks_until_it_is_stopped)
{
    int n;

    env.STALL = 1;
    open_all();
    T_EQ(diag_stall_ns, 1000000000u);
    T_TRUE(diag_stall_is_reported());
    T_EQ(diag_watchdog_start(), 0);
    T_EQ(diag_watchdog_start(), 0);
    T_TRUE(comes(&checks, 2));
    diag_watchdog_call(call);
    T_TRUE(comes(&calls, 1));
    diag_watchdog_stop();       /* of two starts: it goes on */
    n = checks;
    T_TRUE(comes(&checks, n + 2));
    diag_stop_thread();
    T_EQ(diag_watchdog_start(), 0);     /* the thread, too */
    n = checks;
    T_TRUE(comes(&checks, n + 1));
    diag_watchdog_stop();
    diag_watchdog_stop();
    n = checks;
    usleep(300000);
    T_EQ(checks, n);
    T_EQ(diag_watchdog_start(), 0);
    T_TRUE(comes(&checks, n + 1));
    diag_close();
    T_EQ(diag_stall_ns, UINT64_MAX);
}

T(statistics_are_printed_where_they_are_wanted)
{
    open_all();
    diag_print_statistics();
    T_EQ(printed, 0);
    env.STATS.on = 1;
    diag_print_statistics();
    T_EQ(printed, 1);
    diag_close();
    diag_print_statistics();
    T_EQ(printed, 1);
}

int main(void)
{
    T_EQ(env_load(), 0);
    T_RUN(a_signal_prints_the_parts_in_their_order);
    T_RUN(another_process_gets_the_same_line);
    T_RUN(the_watchdog_checks_until_it_is_stopped);
    T_RUN(statistics_are_printed_where_they_are_wanted);
    return T_DONE();
}
