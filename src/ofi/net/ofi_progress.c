/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent: a thread that lets operations advance while the program computes.
 *
 * It stays out of the owner's way.  Whoever looks at the queues counts it in
 * ofi_progress_polls; as long as that number changes, the agent rests a
 * millisecond at a time, or longer and longer where puts, gets and atomics are
 * the NIC's.  Once nobody has looked for that long, or the owner
 * goes to sleep (ofi_progress_owner_sleeps), it sleeps in poll() on the file
 * descriptor of the endpoint that peers address, and serves what comes; where
 * there is none, or operations of this PE are under way, it naps, longer and
 * longer up to a millisecond. */
#include "ofi/net/ofi_rail.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "ofi/am/ofi_am_target.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where the NIC does what is asked of this PE's memory, rests beside an owner
 * that looks grow to REST_MOST_MS, and end with a message; or to REST_BLIND_MS,
 * where no descriptor tells of one. */
enum { REST_MOST_MS = 128, REST_BLIND_MS = 8 };
enum { REST_MS = 1, NAP_LEAST_US = 50, NAP_MOST_US = 1000, POLL_MS = 200 };

uint64_t ofi_progress_polls;
static struct {
    pthread_t thread;
    bool runs;
    int stop_fd;                /* wakes it to stop, or where a nap ends */
    int stop;                   /* atomic */
    int dozing;                 /* atomic: threads of the owner that sleep */
    uint32_t call;              /* futex word: raised to end a rest */
    bool rests;                 /* atomic: may have to be called */
    bool polls;                 /* atomic: the same, by stop_fd */
    long rest_ms;               /* the next one's */
    uint64_t wakes;             /* atomic: how often it slept */
    uint64_t events;            /* atomic: what it served */
} agent = { .stop_fd = -1 };

static bool on_duty(void)
{
    return __atomic_load_n(&agent.dozing, __ATOMIC_RELAXED) > 0;
}

static bool stopping(void)
{
    return __atomic_load_n(&agent.stop, __ATOMIC_RELAXED);
}

static void futex_sleep(uint32_t seen, long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    syscall(SYS_futex, &agent.call, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
    __atomic_fetch_add(&agent.wakes, 1, __ATOMIC_RELAXED);
}

/* Is something of the program's under way, of which no descriptor tells? */
static bool under_way(void)
{
    int n = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);

    /* A NIC needs nobody's look for what it does itself. */
    for (int i = 1; i < n && !ofi.offloads; i++)
        if (__atomic_load_n(&ofi.eps[i]->in_flight, __ATOMIC_RELAXED))
            return true;
    return ofi_rails_in_flight() || ofi_stripe_has_deferred() ||
           ofi_am_target_has_deferred() || ofi_stage_target_busy() ||
           ofi_stage_has_polled() || ofi_stage_has_network_ops() ||
           ofi_amo_has_deferred() || ofi_amo_awaits_puts();
}

/* Until something comes, or the agent is called or is to stop; true where
 * something may have come. */
static bool poll_for(int ms)
{
    struct pollfd p[1 + OFI_RAILS] = {
        { .fd = agent.stop_fd, .events = POLLIN },
        { .fd = ofi.eps[0]->fd, .events = POLLIN }
    };
    struct fid *fid = &ofi.eps[0]->rx->fid;
    int fds[OFI_RAILS], rails = ofi_rails_wait_fds(fds);
    uint64_t calls;
    bool came;

    for (int i = 0; i < rails; i++)
        p[2 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
    /* seq_cst: pairs with ofi_progress_request(), which counts before it
     * looks. */
    __atomic_store_n(&agent.polls, true, __ATOMIC_SEQ_CST);
    came = rails < 0 || under_way() || fi_trywait(ofi.fabric, &fid, 1) ||
           poll(p, 2 + (nfds_t)rails, ms) > 0;
    __atomic_store_n(&agent.polls, false, __ATOMIC_RELAXED);
    if (p[0].revents && read(agent.stop_fd, &calls, sizeof calls) < 0)
        log_info(LOG_OFI, "a call of the agent: %m");
    __atomic_fetch_add(&agent.wakes, 1, __ATOMIC_RELAXED);
    return came;
}

/* So long, or until somebody dozes; true where something may have come. */
static bool rest(uint32_t seen, long ms)
{
    if (ms > REST_MS && ofi.wait_fd)
        return poll_for((int)ms);
    /* Who dozes after this finds that it has to call. */
    __atomic_store_n(&agent.rests, true, __ATOMIC_SEQ_CST);
    if (ms <= REST_MS || !under_way())
        futex_sleep(seen, ms * 1000);
    __atomic_store_n(&agent.rests, false, __ATOMIC_RELAXED);
    return false;
}

static long most_rest(void)
{
    return !ofi.offloads || under_way() ? REST_MS
           : ofi.wait_fd ? REST_MOST_MS : REST_BLIND_MS;
}

/* The owner works on its own as long as it looks: false once it does not. */
static bool owner_looks(void)
{
    uint32_t seen = __atomic_load_n(&agent.call, __ATOMIC_ACQUIRE);
    uint64_t looks = __atomic_load_n(&ofi_progress_polls, __ATOMIC_RELAXED);
    long ms = agent.rest_ms, most = most_rest();

    agent.rest_ms = REST_MS;
    if (on_duty() || stopping())
        return false;
    ms = ms < most ? ms : most;
    if (rest(seen, ms) || on_duty() || stopping() ||
        (ofi.offloads && under_way()) ||
        __atomic_load_n(&ofi_progress_polls, __ATOMIC_RELAXED) == looks)
        return false;
    agent.rest_ms = 2 * ms;
    return true;
}

void ofi_progress_request(void)
{
    uint64_t one = 1;

    if (__atomic_load_n(&agent.polls, __ATOMIC_SEQ_CST)) {
        if (write(agent.stop_fd, &one, sizeof one) < 0)
            log_info(LOG_OFI, "calling the agent: %m");
    } else if (ofi.offloads &&
               __atomic_load_n(&agent.rests, __ATOMIC_SEQ_CST)) {
        __atomic_fetch_add(&agent.call, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &agent.call, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

uint64_t ofi_progress_sleeps(void)
{
    return __atomic_load_n(&agent.wakes, __ATOMIC_RELAXED);
}

static void nap(long *us)
{
    uint32_t seen = __atomic_load_n(&agent.call, __ATOMIC_ACQUIRE);

    futex_sleep(seen, *us);
    *us = *us * 2 > NAP_MOST_US ? NAP_MOST_US : *us * 2;
}

/* Until the owner looks again.  Remote puts and gets leave no entry in the
 * queue, so after any event whoever waits for memory is to look. */
static void serve(void)
{
    uint64_t before = __atomic_load_n(&ofi_progress_polls, __ATOMIC_RELAXED);
    uint64_t looks;
    long us = NAP_LEAST_US;
    bool event = false, advanced;
    uint32_t seen;

    for (; !stopping(); before = looks) {
        advanced = ofi_progress();
        seen = __atomic_load_n(&agent.call, __ATOMIC_ACQUIRE);
        if (advanced || event) {
            __atomic_fetch_add(&agent.events, 1, __ATOMIC_RELAXED);
            xport_data_arrived(NULL, 0);
            /* Who was woken looks for himself, perhaps on this very core. */
            if (on_duty())
                rest(seen, REST_MS);
        }
        looks = __atomic_load_n(&ofi_progress_polls, __ATOMIC_RELAXED);
        /* One look was this thread's own; the owner may also have looked
         * while it slept. */
        if (looks != before + 1 && !on_duty())
            return;
        event = false;
        if (advanced)
            us = NAP_LEAST_US;
        else if (ofi.wait_fd && !under_way())
            event = poll_for(POLL_MS);
        else
            nap(&us);
    }
}

static void *run(void *arg)
{
    while (!stopping()) {
        if (!owner_looks())
            serve();
    }
    return arg;
}

uint64_t ofi_progress_owner_sleeps(bool asleep)
{
    if (!asleep) {
        __atomic_fetch_sub(&agent.dozing, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_add(&agent.dozing, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&agent.call, 1, __ATOMIC_SEQ_CST);
    }
    if (asleep && __atomic_load_n(&agent.rests, __ATOMIC_SEQ_CST)) {
        syscall(SYS_futex, &agent.call, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return __atomic_load_n(&agent.events, __ATOMIC_RELAXED);
}

int ofi_progress_open(void)
{
    agent.stop_fd = fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (agent.stop_fd < 0) {
        log_error(ERR_LIMIT, "eventfd: %m");
        return -errno;
    }
    agent.stop = 0;
    agent.dozing = 0;
    agent.rest_ms = REST_MS;
    agent.wakes = 0;
    errno = -thread_start(&agent.thread, run, NULL);
    if (errno) {
        log_error(ERR_LIMIT, "progress needs a thread: pthread_create: %m; "
                  "raise the limit of processes of this user (ulimit -u)");
        close(agent.stop_fd);
        return -EAGAIN;
    }
    agent.runs = true;
    return 0;
}

void ofi_progress_close(void)
{
    uint64_t one = 1;

    if (!agent.runs)
        return;
    __atomic_store_n(&agent.stop, 1, __ATOMIC_RELAXED);
    if (write(agent.stop_fd, &one, sizeof one) < 0)
        log_info(LOG_OFI, "waking the agent: %m");
    __atomic_fetch_add(&agent.call, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &agent.call, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(agent.thread, NULL);
    close(agent.stop_fd);
    agent.runs = false;
    if (env.STATS)
        log_print("progress thread: %lu sleeps", (unsigned long)agent.wakes);
}
