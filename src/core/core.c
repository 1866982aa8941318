/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the layer: the predefined teams, the control block, and
 * what the PEs of a node and of a machine agree on.  Called by api at init and
 * at finalize.  Opens no transport: sm is open before, ofi opens after it. */
#include "core/core_spin.h"
#include "core/core_report.h"
#include "core/core_stall.h"
#include "core/core_trace.h"
#include "base/env.h"
#include "diag/diag.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct core_ctx core_ctx_default = { .team = &core_world };
int core_direct_pes hot_data;
struct core_status core_status;
struct core_ctl *core_ctl;

/* Their words lie behind the control block: at one offset everywhere, though
 * nodes may have different numbers of PEs. */
static int open_team(struct core_team *t, int my_pe, int start, int n_pes)
{
    bool shared = t == &core_shared || t == &core_device_shared;
    bool kernels = t == &core_device_world || t == &core_device_shared;
    size_t size = core_team_area_size(rt_job.n_pes);
    struct core_team_area *w = heap_reserve(
        size + (kernels ? CORE_KERNEL_AREA : 0),
        _Alignof(struct core_team_area));

    if (!w) {
        log_error(ERR_HEAP, "the words of a team of %d PEs do not fit the "
                  "reserved part of the heap", rt_job.n_pes);
        return -ENOMEM;
    }
    *t = (struct core_team){
        .n_pes = n_pes, .my_pe = my_pe, .start = start, .stride = 1,
        .id = CORE_TEAM_ID | (uint64_t)start << 42 |
              ((uintptr_t)w - heap_segs[HEAP_HOST].base) / 64,
        .area_at = (uintptr_t)w - heap_segs[HEAP_HOST].base,
        .kernel_area = kernels ? size : 0,
        .mapped = shared || rt_job.n_local == rt_job.n_pes
    };
    return 0;
}

/* A team is a run of PEs.  Where those of a node are none, each is alone. */
static int open_shared(struct core_team *t)
{
    const int *pes = rt_job.local_pes;
    int n = rt_job.n_local, stride = n > 1 ? pes[1] - pes[0] : 1, rc;
    bool run = true;

    for (int i = 2; i < n; i++)
        run = run && pes[i] - pes[i - 1] == stride;
    rc = run ? open_team(t, rt_job.local, pes[0], n)
             : open_team(t, 0, rt_job.pe, 1);
    t->stride = run ? stride : 1;
    return rc;
}

/* Device teams are teams of their own: a thread may synchronize in one while
 * another does in the other. */
static int open_teams(void)
{
    int rc = open_shared(&core_shared);

    if (!rc)
        rc = open_team(&core_world, rt_job.pe, 0, rt_job.n_pes);
    if (!rc)
        rc = open_team(&core_device_world, rt_job.pe, 0, rt_job.n_pes);
    if (!rc)
        rc = open_shared(&core_device_shared);
    core_device_world.space = core_device_shared.space = &heap_device;
    return rc;
}

/* For SHMEM_STATS. */
static void print_statistics(void)
{
    core_wait_print_counts();
    core_remote_print_counts();
}

static const struct diag_source statistics = {
    .part = DIAG_OPERATIONS, .statistics = print_statistics
};

static int cpu_set_len;         /* of the machine's processors */

static void set_oversubscribed(bool is)
{
    core_status.oversubscribed = is;
    /* relaxed: the progress thread may read either. */
    __atomic_store_n(&xport_oversubscribed, is, __ATOMIC_RELAXED);
}

int core_open(int thread_level)
{
    struct core_ctl *ctl = heap_reserve(sizeof *ctl, _Alignof(struct core_ctl));
    int rc;

    if ((uintptr_t)ctl != heap_segs[HEAP_HOST].base) {
        log_error(ERR_HEAP, "the control block does not open the heap");
        return -ENOMEM;
    }
    core_ctl = ctl;
    xport_data_arrived = core_arrived;    /* before a transport's thread runs */
    rc = open_teams();
    if (rc)
        goto forget_ctl;
    core_trace_open();
    core_direct_pes = trace_is_on() ? 0 : core_world.n_pes;
    core_status.thread_level = thread_level;
    set_oversubscribed(false);
    core_spin_open();
    core_status.checks = false;
    cpu_set_len = rt_cpus(ctl->cpus, CORE_CPU_SET_LEN);
    ctl->checks = env.CHECK;
#ifdef SLUICE_DEBUG
    if (!env_is_set("CHECK"))
        ctl->checks = 1;
#endif
    if (!membarrier_open())
        log_info(LOG_CORE, "the kernel refuses membarrier: sleepers look for "
                 "stores now and then");
    core_activity_open();
    rc = core_stall_open();
    if (rc)
        goto forget_ctl;
    core_set_state(CORE_UP);
    core_report_open();
    diag_answer_requests();
    diag_register(&statistics);
    core_activity_enter("shmem_init", &core_world);
    return 0;
forget_ctl:
    __atomic_store_n(&core_ctl, NULL, __ATOMIC_RELAXED);
    return rc;
}

static int count_cores(const uint64_t *cpus)
{
    int n = 0;

    for (int w = 0; w < CORE_CPU_SET_LEN; w++)
        n += __builtin_popcountll(cpus[w]);
    return n;
}

/* PEs may be bound to one core each: the union of their cores counts.  A PE
 * that compares arguments needs partners: one that checks makes all do so. */
void core_agree_node(void)
{
    uint64_t all[CORE_CPU_SET_LEN] = { 0 };
    int cores;

    for (int i = 0; i < rt_job.n_local; i++) {
        const struct core_ctl *ctl = core_peer_ctl(rt_job.local_pes[i]);

        for (int w = 0; w < CORE_CPU_SET_LEN; w++)
            all[w] |= ctl->cpus[w];
        core_status.checks |= ctl->checks;
    }
    cores = count_cores(all);
    set_oversubscribed(rt_job.n_local > cores);
    core_status.one_core = count_cores(core_ctl->cpus) < 2;
    if (core_status.oversubscribed || xport_net)
        core_spin_impatient();
    log_info(LOG_CORE, "%d PEs on %d cores of this node", rt_job.n_local,
             cores);
}

int core_machine_cpus(uint64_t *out)
{
    if (!rt_job.one_machine)
        return 0;
    memcpy(out, core_ctl->cpus, (size_t)cpu_set_len * sizeof *out);
    return cpu_set_len;
}

/* Nodes that SHMEM_PPN makes share the cores of their machine. */
void core_agree_machine(const uint64_t *cpus)
{
    int cores = count_cores(cpus);

    core_status.one_machine = rt_job.one_machine;
    if (!rt_job.one_machine)
        return;
    set_oversubscribed(core_status.oversubscribed || rt_job.n_pes > cores);
    log_info(LOG_CORE, "%d PEs on %d cores of the machine", rt_job.n_pes,
             cores);
}

static void close_team(struct core_team *t)
{
    free(t->published);
    free(t->nodes);
    t->published = NULL;
    t->nodes = NULL;
    t->n_pes = 0;
}

void core_close(void)
{
    core_report_close();
    core_trace_close();
    core_direct_pes = 0;
    core_stall_close();
    core_remote_close();
    core_team_free_all();
    close_team(&core_world);
    close_team(&core_shared);
    close_team(&core_device_world);
    close_team(&core_device_shared);
    free(core_node_of);
    core_node_of = NULL;
    core_set_state(CORE_ENDED);
    __atomic_store_n(&core_ctl, NULL, __ATOMIC_RELAXED);
}
