/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialisation and finalisation: opens and closes all layers, in order, once
 * for all threads.  Called by the program, at exit, and in a forked child.
 * The only file that names sm and ofi as layers to open. */
#include "api/api.h"
#include "api/api_env.h"
#include "api/api_stream.h"
#include "base/crash.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/membarrier.h"
#include "coll/coll.h"
#include "core/core_device.h"
#include "core/core_report.h"
#include "base/clock.h"
#include "base/symbol.h"
#include "base/trace_merge.h"
#include "diag/diag.h"
#include "gtl/gtl.h"
#include "heap/heap.h"
#include "heap/heap_pages.h"
#include "kernel/kernel.h"
#include "kernel/kernel_memory.h"
#include "msg/msg.h"
#include "ofi/ofi.h"
#include "rt/rt.h"
#include "shmemx.h"
#include "sm/sm.h"
#include "stream/stream.h"
#include "trig/trig.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thread that opens or closes the library has it to the end, so that no
 * other thread's init returns before, or opens what is being closed. */
static struct base_lock setup = LOCK_INIT;
/* Taken before: finalizes of threads, all of which are barriers, take turns. */
static struct base_lock ending = LOCK_INIT;
/* How many inits wait for their finalize.  Atomic; changed with the lock. */
static int init_count;
/* The device bits that shmem_init_thread has granted. */
static int granted;
/* start_pes has no finalize of its own: it happens at exit. */
static bool finalize_at_exit;
/* Standard descriptors that were closed, as fd_hold() says: libfabric's threads
 * accept connections at any time. */
static int held_fds;
/* exit() does what the program has left out. */
static bool exiting;
/* The last shmem_finalize in a trace, or NULL. */
static struct trace_event *finalizing;

/* release: pairs with a query of another thread. */
static void set_inits(int n)
{
    __atomic_store_n(&init_count, n, __ATOMIC_RELEASE);
}

static int inits(void)
{
    return __atomic_load_n(&init_count, __ATOMIC_ACQUIRE);
}

static void become_child(void)
{
    if (core_state() != CORE_UP)
        return;
    sm_fork_child();
    trace_forget();
    core_direct_pes = 0;
    core_team_fork_child();
    core_set_state(CORE_FORKED);
    diag_set_state_text("a forked child, which is no PE");
    set_inits(0);
    fd_release(held_fds);
}

/* Opens it; its first use would be later otherwise. */
static void print_device_name(void)
{
    if (!api_stream_open())
        printf("device: %s\n", gtl_device.name);
    else
        printf("device: none (%s)\n", env.DEVICE == ENV_DEVICE_NONE
               ? "SHMEM_DEVICE=none" : gtl_error());
}

static void print_device(void)
{
    struct heap_usage heap;
    char size[24], text[API_SHARED_TEXT];
    int users;

    print_device_name();
    if (!heap_device.arena) {
        printf("device heap: %s\n", api_device_possible()
               ? "made when it is first used" : "none");
        return;
    }
    heap_usage_get(&heap_device, &heap);
    printf("device heap: %s (%zu bytes) for each PE, on %s\n",
           log_size(size, (double)heap.total), heap.total, gtl_device.name);
    printf("device heap: takes %s\n", api_device_growth());
    if (ofi_device_text()[0])
        printf("device heap of other nodes: %s\n", ofi_device_text());
    users = api_device_users();
    if (users > 1 && !gtl_device.host_streams)
        printf("device: %s\n", api_device_shared(text, users));
}

static void print_info(void)
{
    struct heap_usage heap;
    char size[24], pages[HEAP_PAGES_TEXT];

    heap_usage_get(&heap_default, &heap);
    env_print(stdout, heap.total);
    printf("heap: %s (%zu bytes) for each PE\n",
           log_size(size, (double)heap.total), heap.total);
    printf("heap pages: %s\n", heap_pages_text(pages));
    print_device();
    printf("sleeping PEs: %s\n", membarrier_works()
           ? "woken by each store (membarrier)"
           : "look for stores now and then: the kernel refuses membarrier");
    printf("network: %s\n", ofi_text());
    api_stream_print(ofi_trig_why);
}

static void print_banner(void)
{
    if (rt_job.pe)
        return;
    if (env.VERSION || env.INFO)
        printf("Sluice %d.%d.%d, OpenSHMEM %d.%d\n", SLUICE_VERSION_MAJOR,
               SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH, SHMEM_MAJOR_VERSION,
               SHMEM_MINOR_VERSION);
    if (env.INFO)
        print_info();
    if (env.VERSION || env.INFO)
        fflush(stdout);
}

/* All of it, however slow its reader: a thread that prints to that holds the
 * lock.  But where the output takes more, the thread that holds the lock waits
 * for something else, perhaps for ever. */
static void flush_stdout(void)
{
    enum { MOST_MS = 200 };
    struct pollfd out = { .fd = fileno(stdout), .events = POLLOUT };

    for (int ms = 0; ftrylockfile(stdout); usleep(1000)) {
        bool waits = out.fd >= 0 && !poll(&out, 1, 0);

        ms = waits ? 0 : ms + 1;
        if (ms == MOST_MS)
            return;
    }
    fflush(stdout);
    funlockfile(stdout);
}

static void at_exit(int status)
{
    bool left;

    if (core_state() != CORE_UP)
        return;
    if (status && !finalize_at_exit) {
        log_error(ERR_EXIT, "exit with status %d without shmem_finalize; the "
                  "job ends", status);
        flush_stdout();
        rt_abort(status);
    }
    lock_acquire(&ending);
    left = core_state() == CORE_UP; /* else another thread did it */
    if (left) {
        if (!finalize_at_exit)
            log_warn(ERR_EXIT, "exit without shmem_finalize: it is done now, "
                     "and waits for the other PEs to finalize too");
        exiting = !finalize_at_exit || status;
        lock_acquire(&setup);
        set_inits(1);
        lock_release(&setup);
    }
    lock_release(&ending);
    if (left)
        pshmem_finalize();
}

/* The handler belongs to this library: where a plug-in holds the archive, its
 * dlclose() runs the handler while its code is there.  glibc hands the exit
 * status to handlers of this kind as a second argument.  Other C libraries
 * hand over none: there each exit counts as one with status 0. */
#ifdef __GLIBC__
extern int __cxa_atexit(void (*handler)(void *, int), void *arg, void *dso);
extern hidden void *__dso_handle;

/* The thread sanitizer, in the library or in the program alone, hands over no
 * second argument, but has a place for on_exit(). */
extern void __tsan_init(void) __attribute__((weak));

static void exit_handler(void *unused, int status)
{
    (void)unused;
    at_exit(status);
}

static void exit_handler_tsan(int status, void *unused)
{
    (void)unused;
    at_exit(status);
}

static void register_exit(void)
{
    if (__tsan_init)
        on_exit(exit_handler_tsan, NULL);
    else
        __cxa_atexit(exit_handler, NULL, &__dso_handle);
}
#else
static void exit_handler(void)
{
    at_exit(0);
}

static void register_exit(void)
{
    atexit(exit_handler);
}
#endif

static int read_environment(void)
{
    int rc = env_load();

    if (!rc)
        rc = fault_load();
    if (!rc)
        rc = api_env_check();
    return rc;
}

/* Synchronises all PEs, and makes them agree on what each has chosen. */
static int agree(void)
{
    int rc;

    /* No PE touches a peer's memory before the peer has opened it. */
    coll_sync(&core_world);
    core_agree_node();
    coll_check_choices();
    if (core_status.checks)
        heap_guard_on(rt_job.pe);
    /* Nor does any PE start to wait before all agree how to. */
    coll_sync(&core_world);
    core_trace_compare_clocks(0);
    rc = api_device_start();
    log_debug(LOG_API, "start: all PEs are there");
    return rc;
}

/* The layers that need the memory of the node's PEs.  On error core stays
 * open, and so does the network, if it was. */
static int open_upper_layers(void)
{
    int rc = ofi_open();

    if (!rc)
        rc = core_remote_open();
    if (!rc)
        rc = msg_reserve();
    if (rc)
        return rc;
    log_debug(LOG_API, "start: network: %s", ofi_text());
    coll_open();
    api_heap_open();
    api_space_open();
    return api_device_open();
}

static int open_layers(int thread_level)
{
    static bool registered;
    int rc;

    log_start_clock();
    rc = read_environment();
    if (!rc)
        rc = rt_open();
    if (rc)
        return rc;
    log_identify(rt_job.pe, log_host());
    crash_open();
    trace_start(rt_job.pe, rt_job.n_pes);
    if (rt_job.pe == 0) {
        env_warn_unknown();
        heap_env_warn();
    }
    core_report_start("shmem_init");
    log_debug(LOG_RT, "start: PE %d of %d", rt_job.pe, rt_job.n_pes);
    rc = xport_open(rt_job.n_pes);
    if (rc)
        goto close_rt;
    rc = sm_open();
    if (rc)
        goto close_xport;
    rc = core_open(thread_level);
    if (rc)
        goto close_sm;
    log_debug(LOG_API, "start: the memory of the node's PEs is there");
    rc = open_upper_layers();
    if (rc)
        goto close_core;
    heap_fork_child = become_child;
    if (!registered)
        register_exit();
    registered = true;
    log_debug(LOG_API, "start: waits for the other PEs");
    rc = agree();
    if (!rc)
        return 0;
close_core:
    if (xport_net)              /* its thread still uses the heap */
        rt_fail();
    core_close();
    core_set_state(CORE_DOWN);
close_sm:
    sm_close();
close_xport:
    xport_close();
close_rt:
    /* The other PEs wait in the start-up: end them too. */
    if (rt_job.n_pes > 1)
        rt_fail();
    trace_stop(false);
    core_report_end();
    crash_close();
    rt_close();
    return rc;
}

static void close_layers(void)
{
    api_mpi_check();
    finalize_at_exit = false;
    granted = 0;
    api_graphs_close();
    stream_close();
    kernel_close();
    trig_close();               /* a ring may have had hits */
    core_quiet("shmem_finalize", &core_ctx_default);
    core_ctx_destroy_all();     /* they may copy to what is given back next */
    api_device_leave();
    api_statistics_of_calls();
    coll_barrier_last(exiting);
    core_trace_compare_clocks(1);
    msg_close();
    fault_report();
    coll_active_set_close();
    heap_space_destroy_all();
    diag_print_statistics();
    core_close();
    ofi_close();
    kernel_memory_close();
    api_device_close();
    sm_close();
    xport_close();
    trace_end(finalizing);
    finalizing = NULL;
    trace_stop(rt_job.n_local < rt_job.n_pes && !rt_job.one_machine);
    if (rt_job.pe == 0)
        trace_merge_all((uint32_t)rt_job.n_pes);
    core_report_end();
    crash_close();
    rt_close();
    fd_release(held_fds);
}

static int start(int level) REQUIRES(setup)
{
    const struct trace_what init = { .name = "shmem_init", .kind = TRACE_CALL,
                                     .at = TRACE_NOWHERE };
    uint64_t began_ns = clock_ns();
    int n = inits(), rc = 0;

    if (!n) {
        held_fds = fd_hold();
        rc = open_layers(level);
        if (rc) {
            fd_release(held_fds);
            return rc;
        }
        print_banner();
        api_mpi_check();
    }
    if (trace_is_on())
        trace_span_since(&init, began_ns);
    set_inits(n + 1);
    return 0;
}

static void need_no_child(const char *call)
{
    if (core_state() == CORE_FORKED)
        core_refuse_state(call);
}

void pshmem_init(void)
{
    need_no_child(__func__);
    lock_acquire(&setup);
    /* The call cannot fail, so it ends the job; the cause is in the log. */
    if (start(SHMEM_THREAD_SINGLE))
        rt_fail();
    lock_release(&setup);
}
API_ALIAS(shmem_init)

int pshmem_init_thread(int requested, int *provided)
{
    const int device = SHMEM_DEVICE_HOST_INIT | SHMEM_DEVICE_KERNEL_INIT;
    int level = requested & SHMEMX_THREAD_MASK, rc;

    if (requested & ~(SHMEMX_THREAD_MASK | device)) {
        log_error(ERR_ARG, "shmem_init_thread: %d is no thread level",
                  requested);
        return -EINVAL;
    }
    need_no_child(__func__);
    lock_acquire(&setup);
    rc = start(level);
    if (rc)
        goto unlock;
    /* A later init may ask for more: nothing here depends on the level. */
    if (level > core_status.thread_level)
        core_status.thread_level = level;
    if (requested & device && !api_device_require() && !core_unaware)
        granted |= requested & SHMEM_DEVICE_HOST_INIT;
    if (requested & SHMEM_DEVICE_KERNEL_INIT && api_device_known() &&
        !api_kernel_open(__func__))
        granted |= SHMEM_DEVICE_KERNEL_INIT;
    if (provided)
        *provided = core_status.thread_level | granted;
unlock:
    lock_release(&setup);
    return rc;
}
API_ALIAS(shmem_init_thread)

/* Programs that call it in a library of theirs and in main() are many. */
static void warn_finalized(const char *call)
{
    static bool warned;         /* relaxed: nothing is ordered by it */

    if (!__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        log_warn(ERR_STATE, "%s: called after the last shmem_finalize; the "
                 "call does nothing", symbol_public(call));
}

void pshmem_finalize(void)
{
    int n = 0;

    if (core_state() == CORE_ENDED) {
        warn_finalized(__func__);
        return;
    }
    core_need_up(__func__);
    lock_acquire(&ending);
    if (!inits())               /* another thread has ended it meanwhile */
        goto unlock;
    API_COLL_ENTER(&core_world, ERR_COLL, __func__);
    api_heap_check_guards(__func__);
    lock_acquire(&setup);
    n = inits();
    set_inits(n - 1);
    if (n == 1 && trace_is_on())
        finalizing = trace_begin(&(struct trace_what){
            .name = __func__, .kind = TRACE_CALL, .at = TRACE_NOWHERE });
    if (n == 1)
        close_layers();
    lock_release(&setup);
    /* Without it: another thread's init must not wait for other PEs here. */
    if (n > 1)
        coll_barrier_world();
unlock:
    lock_release(&ending);
    if (!n)
        warn_finalized(__func__);
}
API_ALIAS(shmem_finalize)

void pstart_pes(int npes)
{
    (void)npes;
    need_no_child(__func__);
    lock_acquire(&setup);
    if (!inits()) {
        if (start(SHMEM_THREAD_SINGLE))
            rt_fail();
        finalize_at_exit = true;
    }
    lock_release(&setup);
}
API_ALIAS(start_pes)

void pshmem_global_exit(int status)
{
    core_need_up(__func__);
    flush_stdout();
    rt_abort(status);
}
API_ALIAS(shmem_global_exit)

void pshmem_query_thread(int *provided)
{
    core_need_up(__func__);
    *provided = core_status.thread_level | granted;
}
API_ALIAS(shmem_query_thread)

void pshmem_query_initialized(int *initialized)
{
    *initialized = core_state() == CORE_UP && inits() > 0;
}
API_ALIAS(shmem_query_initialized)
