/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a kernel packs a message, another PE's kernel answers it, and
 * so on: the round trip when the host drives each step, when all of it is on
 * a stream, as a put or as matched messages, and by the device's own copy,
 * store and wait.  2 PEs; every element of every answer is checked in a pass
 * of its own, and those of the last one in each timed loop.  pp_pack --help. */
#include "pp_message.h"

#include "bench.h"

#include "../apps/bucketsort/dev_gpu.h"
#include "../apps/progress.h"
#include "base/env.h"
#include "msg/msg.h"
#include "stream/stream_int.h"
#include "xport/xport.h"

#include <errno.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_st.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pp_inside.h"

__asm__(".pushsection .rodata\n"
        "pp_text:\n"
        ".incbin \"bench/pp_kernels.inc\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pp_text[] __attribute__((visibility("hidden")));

enum { PIECES = 200, HD_CALLS = 4 };    /* kernel, sync, put, wait */

/* What the other PE reports after a loop. */
struct notified {
    uint64_t charged, launches, armed;
};

static struct pp {
    struct pp_opts o;
    int me, peer;
    struct progress progress;
    shmemx_device_info_t device;
    shmemx_stream_t stream;
    /* Symmetric device memory. */
    void *sent[2], *got[2];     /* of ready sends, which take turns */
    word32 *wrong;
    int phase;                  /* of this round */
    struct pp_pair pair[PP_MODES];
    struct msg_eager_limit eager;    /* by SHMEM_ST_EAGER; st changes it */
    uint64_t *flag;             /* symmetric host memory: the last round */
    struct notified *notified;
    char *peer_got;             /* the peer's, as this device reaches them */
    uint64_t *peer_flag;
    size_t bytes;
    uint64_t round, launches;
    unsigned long verified;     /* round trips, by PE 0 */
    struct packing *steps;      /* what kernels of the software device read */
    size_t step, n_steps;
    struct dev_gpu gpu;
} pp;

static __attribute__((format(printf, 2, 3), noreturn))
void die(const char *code, const char *fmt, ...)
{
    char text[400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fflush(stdout);
    fprintf(stderr, "pp_pack: %s [P-E-%s]\n", text, code);
    shmem_global_exit(1);
    abort();
}

static void need(int rc, const char *what)
{
    if (rc)
        die("DEVICE", "PE %d, messages of %zu bytes: %s fails: %s", pp.me,
            pp.bytes, what, strerror(-rc));
}

/* ---- kernels ---- */

static void launch_on_gpu(enum kernel k, struct step *s)
{
    word64 groups = (s->n + 255) / 256;
    int rc;

    groups = groups > 256 ? 256 : groups ? groups : 1;
    rc = dev_gpu_launch(&pp.gpu, k, (unsigned)groups, 256, s, pp.stream);
    if (rc)
        die("DEVICE", "PE %d: %s: %s", pp.me, kernel_names[k], pp.gpu.said);
}

static struct step this_step(void)
{
    return (struct step){
        .from = pp.got[pp.phase], .to = pp.sent[pp.phase], .wrong = pp.wrong,
        .n = pp.bytes / sizeof(word32), .round = (word32)pp.round,
        .spoilt = pp.o.spoil && pp.round == (uint64_t)pp.o.spoil
    };
}

/* The message at hand, by a kernel that makes its parts ready. */
static void launch_parts(struct pp_pair *p)
{
    struct packing *w = &pp.steps[pp.step++];

    pp.launches++;
    *w = (struct packing){ .step = this_step(), .send = p->dev,
                           .parts = (word32)pp_parts(pp.bytes),
                           .answers = pp.me != 0 };
    need(pp_calling_launch(PACK_PARTS, w, pp.stream), "a kernel");
}

static void run_kernel(enum kernel k)
{
    static const shmemx_kernel_t soft[] = { soft_pack, soft_echo, soft_check };
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    struct step s = this_step();

    pp.launches++;
    if (strcmp(pp.device.driver, "host")) {
        launch_on_gpu(k, &s);
        return;
    }
    pp.steps[pp.step].step = s;
    need(shmemx_stream_launch(pp.stream, &grid, soft[k],
                              &pp.steps[pp.step++].step), "a kernel");
}

static void sync_stream(void)
{
    need(shmemx_stream_sync(pp.stream), "what was enqueued");
    pp.step = 0;
}

static void load_kernels(void)
{
    pp.gpu.names = kernel_names;
    pp.gpu.count = N_KERNELS;
    pp.gpu.otherwise = "SHMEM_DEVICE=software";
    if (strcmp(pp.device.driver, "host") &&
        dev_gpu_load(&pp.gpu, pp.device.driver, pp.device.ordinal, "", pp_text))
        die("DEVICE", "kernels for %s: %s", pp.device.name, pp.gpu.said);
}

/* ---- one message, and the wait for one ---- */

static void send_by(enum pp_mode m)
{
    switch (m) {
    case PP_HOST:
        sync_stream();
        shmem_putmem_signal(pp.got[0], pp.sent[0], pp.bytes, pp.flag,
                            pp.round, SHMEM_SIGNAL_SET, pp.peer);
        break;
    case PP_PUT_SIGNAL:
        need(shmemx_putmem_signal_on_stream(pp.got[0], pp.sent[0], pp.bytes,
                                            pp.flag, pp.round,
                                            SHMEM_SIGNAL_SET, pp.peer,
                                            pp.stream),
             "shmemx_putmem_signal_on_stream");
        break;
    default:
        need(gtl->copy(pp.peer_got, pp.sent[0], pp.bytes, pp.stream), "a copy");
        need(gtl->write64(pp.peer_flag, pp.round, pp.stream), "a store");
        break;
    }
}

static void wait_by(enum pp_mode m)
{
    switch (m) {
    case PP_HOST:
        shmem_signal_wait_until(pp.flag, SHMEM_CMP_GE, pp.round);
        break;
    case PP_PUT_SIGNAL:
        need(shmemx_signal_wait_until_on_stream(NULL, pp.flag, SHMEM_CMP_GE,
                                                pp.round, pp.stream),
             "shmemx_signal_wait_until_on_stream");
        break;
    default:
        need(gtl->wait64(pp.flag, pp.round, pp.stream), "a wait");
        break;
    }
}

/* The next round's receive is started before this one's answer is sent: so
 * the other PE knows that it was. */
static void start(struct pp_pair *p, uint64_t recv, uint64_t send)
{
    need(pp_pair_start(p, recv, send), "shmemx_enqueue_startall");
}

static void wait(struct pp_pair *p)
{
    need(pp_pair_wait(p), "shmemx_enqueue_waitall");
}

/* Of a partitioned message the kernel comes behind the start. */
static void pack_and_start(struct pp_pair *p, uint64_t recv)
{
    if (!p->dev.req)
        run_kernel(pp.me ? ECHO : PACK);
    start(p, recv, pp.round);
    if (p->dev.req)
        launch_parts(p);
}

static void messages(struct pp_pair *p, int n, bool checked)
{
    for (int i = 0; i < n; i++) {
        pp.round++;
        pp.phase = (int)(pp.round % (unsigned)p->phases);
        if (pp.me == 0) {
            pack_and_start(p, pp.round);
            wait(p);
            if (checked)
                run_kernel(CHECK);
        } else {
            wait(p);
            pack_and_start(p, i + 1 < n ? pp.round + 1 : 0);
        }
    }
    if (n && pp.me)
        wait(p);
    sync_stream();
}

/* Before so many. */
static void get_ready(enum pp_mode m, int n)
{
    if (n && pp.me && pp_matched(m)) {
        start(&pp.pair[m], pp.round + 1, 0);
        sync_stream();          /* what that costs is none of a round's */
    }
    shmem_barrier_all();
}

static void inside(enum pp_mode m, int n, bool checked)
{
    struct step first;

    pp.phase = 0;
    first = this_step();
    first.round++;
    pp.round += (uint64_t)n;
    pp.launches += n > 0;
    need(n ? pp_inside_run(m, &first, n, pp.me != 0, checked, pp.o.spoil,
                           pp.peer, pp.stream) : 0, "a kernel");
}

static void round_trips(enum pp_mode m, int n, bool checked)
{
    if (pp_inside(m)) {
        inside(m, n, checked);
        return;
    }
    if (pp_matched(m)) {
        messages(&pp.pair[m], n, checked);
        return;
    }
    pp.phase = 0;
    for (int i = 0; i < n; i++) {
        pp.round++;
        if (pp.me == 0) {
            run_kernel(PACK);
            send_by(m);
            wait_by(m);
            if (checked)
                run_kernel(CHECK);
        } else {
            wait_by(m);
            run_kernel(ECHO);
            send_by(m);
        }
    }
    sync_stream();
}

/* ---- loops ---- */

static void expect_right(enum pp_mode m, int rounds)
{
    word32 wrong = 0;

    if (pp.me)
        return;
    need(shmemx_stream_copy(pp.stream, &wrong, pp.wrong, sizeof wrong),
         "a copy");
    sync_stream();
    if (wrong)
        die("VERIFY", "%s, messages of %zu bytes: of the answers of %d round "
            "trip%s, %u element%s wrong", pp_mode_names[m], pp.bytes, rounds,
            rounds == 1 ? "" : "s", wrong, wrong == 1 ? " is" : "s are");
    pp.verified += (unsigned long)rounds;
}

static void check_all(enum pp_mode m)
{
    get_ready(m, pp.o.verify);
    round_trips(m, pp.o.verify, true);
    expect_right(m, pp.o.verify);
}

/* This PE's share and the other's. */
static struct notified both(struct notified mine)
{
    struct notified all;

    shmem_putmem(pp.notified, &mine, sizeof mine, pp.peer);
    shmem_barrier_all();
    all = (struct notified){
        mine.charged + pp.notified->charged,
        mine.launches + pp.notified->launches,
        mine.armed + pp.notified->armed
    };
    shmem_barrier_all();
    return all;
}

static void measure(enum pp_mode m, int trial, struct pp_cell *out)
{
    int n = pp_iters(&pp.o, pp.bytes);
    struct notified t;
    double began;

    get_ready(m, pp.o.warmup);
    round_trips(m, pp.o.warmup, false);
    get_ready(m, n);
    pp.launches = 0;
    t.armed = stream_posted_ops();
    t.charged = gtl_charged_ns();
    began = bench_now_ns();
    round_trips(m, n, false);
    out->rtt[trial] = (bench_now_ns() - began) / n / 1e3;
    t.charged = gtl_charged_ns() - t.charged;
    t.armed = stream_posted_ops() - t.armed;
    t.launches = pp.launches;
    if (pp.me == 0) {
        run_kernel(CHECK);
        expect_right(m, 1);
    }
    t = both(t);
    out->charged_us = (double)t.charged / n / 1e3;
    out->launches = (double)t.launches / n / 2;
    out->armed = (double)t.armed / n / 2;
    out->host_acts = m == PP_HOST ? HD_CALLS : out->armed;
}

/* ---- what the times are made of ---- */

static double piece(bool kernel, bool flag)
{
    double us[PIECES];

    for (int i = 0; i < PIECES; i++) {
        double began = bench_now_ns();

        if (kernel)
            run_kernel(CHECK);      /* of nothing */
        if (flag) {
            need(gtl->write64(pp.flag, pp.round, pp.stream), "a store");
            need(gtl->wait64(pp.flag, pp.round, pp.stream), "a wait");
        }
        sync_stream();
        us[i] = (bench_now_ns() - began) / 1e3;
    }
    return bench_median(us, PIECES);
}

static void pieces(struct pp_head *out)
{
    pp.bytes = 0;
    out->launch_us = piece(true, false);
    out->sync_us = piece(false, false);
    out->flag_us = pp.o.mode[PP_PUT_SIGNAL] || pp.o.mode[PP_RAW]
                   ? piece(false, true)
                                                          : 0;
}

/* ---- set-up ---- */

static void *room(bool device, size_t bytes)
{
    void *p = shmem_space_calloc(device ? SHMEM_SPACE_DEVICE : SHMEM_SPACE_CPU,
                                 1, bytes);

    if (p)
        return p;
    if (pp.me == 0)
        die("HEAP", "no room for %zu bytes of %s memory: set "
            "SHMEM_%sSYMMETRIC_SIZE, or smaller --sizes", bytes,
            device ? "device" : "host", device ? "DEVICE_" : "");
    shmem_barrier_all();        /* PE 0 ends the job */
    return NULL;
}

/* The mode raw is there if the device reaches the other PE's memory. */
static void find_mapped(void)
{
    pp.peer_got = (char *)stream_device_address(pp.peer, pp.got[0], pp.o.max);
    pp.peer_flag =
        (uint64_t *)stream_device_address(pp.peer, pp.flag, sizeof *pp.flag);
    if ((pp.peer_got && pp.peer_flag) || !pp.o.mode[PP_RAW])
        return;
    if (pp.o.chosen && pp.me == 0)
        die("MODE", "--mode raw: the device does not reach the memory of "
            "PE %d: they share no node, or %s exports none", pp.peer,
            pp.device.name);
    if (pp.o.chosen)
        shmem_barrier_all();    /* PE 0 ends the job */
    pp.o.mode[PP_RAW] = false;
}

/* The most bytes of a message that is eager. */
static size_t eager(void)
{
    return xport_net ? pp.eager.off_node : pp.eager.on_node;
}

/* And those whose kernels call the library where these run. */
static void find_calling(void)
{
    const char *why = NULL;

    for (int m = 0; m < PP_MODES; m++)
        if (pp.o.mode[m] && pp_calls((enum pp_mode)m)) {
            why = why ? why : pp_calling_load(&pp.device);
            if (why && pp.o.chosen && pp.me == 0)
                die("MODE", "--mode %s: kernels for %s: %s", pp_mode_names[m],
                    pp.device.name, why);
            if (why && pp.o.chosen)
                shmem_barrier_all();    /* PE 0 ends the job */
            pp.o.mode[m] = !why;
        }
}

/* And eager if the smallest message is. */
static void find_eager(void)
{
    pp.eager = msg_eager_limit;
    if (pp.o.min <= eager() || !pp.o.mode[PP_EAGER])
        return;
    if (pp.o.chosen && pp.me == 0)
        die("MODE", "--mode eager: SHMEM_ST_EAGER is %zu bytes here", eager());
    if (pp.o.chosen)
        shmem_barrier_all();    /* PE 0 ends the job */
    pp.o.mode[PP_EAGER] = false;
}

static void set_up(void)
{
    int most = pp_iters(&pp.o, pp.o.min);
    int rc;

    most = most > pp.o.warmup ? most : pp.o.warmup;
    most = most > PIECES ? most : PIECES;
    most = most > pp.o.verify ? most : pp.o.verify;
    pp.n_steps = 2 * (size_t)most + 1;
    pp.steps = calloc(pp.n_steps, sizeof *pp.steps);
    if (!pp.steps)
        die("MEMORY", "no memory for %zu steps", pp.n_steps);
    for (int i = 0; i < (pp.o.mode[PP_READY_SEND] ? 2 : 1); i++) {
        pp.sent[i] = room(true, pp.o.max);
        pp.got[i] = room(true, pp.o.max);
    }
    pp.wrong = room(true, sizeof *pp.wrong);
    pp.flag = room(false, sizeof *pp.flag);
    pp.notified = room(false, sizeof *pp.notified);
    pp_calling.came = room(false, sizeof *pp_calling.came);
    rc = shmemx_stream_create(&pp.stream);
    need(rc, "a stream");
    load_kernels();
    find_mapped();
    find_calling();
    find_eager();
}

/* False: said; status is main's. */
static bool begin(int argc, char **argv, int *status)
{
    char error[160];
    bool good = pp_options(argc, argv, &pp.o, error);
    int rc;

    pp.me = shmem_my_pe();
    pp.peer = 1 - pp.me;
    *status = good ? 0 : 2;
    if (!good && pp.me == 0)
        fprintf(stderr, "pp_pack: %s [P-E-USAGE]\n", error);
    if (good && pp.o.help && pp.me == 0)
        pp_help();
    if (!good || pp.o.help)
        return false;
    *status = 1;
    if (shmem_n_pes() != 2) {
        if (pp.me == 0)
            fprintf(stderr, "pp_pack: %d PEs: it takes 2: oshrun -n 2 "
                    "[P-E-USAGE]\n", shmem_n_pes());
        return false;
    }
    rc = shmemx_device_info(&pp.device);
    if (rc != -ENODEV)          /* else the same is said as of no memory */
        need(rc, "shmemx_device_info");
    if (rc || !shmemx_space_usable(SHMEM_SPACE_DEVICE)) {
        if (pp.me == 0)
            fprintf(stderr, "pp_pack: there is no device memory: "
                    "SHMEM_DEVICE=software is a device in software "
                    "[P-E-DEVICE]\n");
        return false;
    }
    *status = 0;
    return true;
}

/* How messages go is decided where a receive is matched. */
static void match(enum pp_mode m)
{
    msg_eager_limit = m == PP_SEND ? (struct msg_eager_limit){ 0, 0 }
                                   : pp.eager;
    need(pp_pair_make(&pp.pair[m], m, pp.stream, pp.sent, pp.got, pp.bytes,
                      pp.peer), "matching");
}

/* What round trips of n bytes take, beside other sizes. */
static double work_of(size_t n)
{
    return pp_iters(&pp.o, n) * (1 + (double)n / 16384);
}

static void show_progress(size_t n, int trial)
{
    double done = work_of(n) * trial / pp.o.trials, all = 0;

    for (size_t i = pp.o.min; i <= pp.o.max; i *= 2) {
        all += work_of(i);
        done += i < n ? work_of(i) : 0;
    }
    progress_show(&pp.progress, done / all, "%zu bytes, run %d of %d,", n,
                  trial + 1, pp.o.trials);
}

static void run_size(size_t n, struct pp_cell cells[PP_MODES])
{
    pp.bytes = n;
    if (n > eager())
        pp.o.mode[PP_EAGER] = false;
    for (int m = 0; m < PP_MODES; m++)
        if (pp.o.mode[m] && pp_matched(m))
            match(m);
    if (pp.o.mode[PP_KT])
        need(pp_trig_make(pp.sent[0], pp.got[0], n, pp.peer), "a trigger");
    for (int m = 0; m < PP_MODES; m++)
        if (pp.o.mode[m] && pp.o.verify)
            check_all(m);
    for (int t = 0; t < pp.o.trials; t++) {
        show_progress(n, t);
        for (int m = 0; m < PP_MODES; m++)
            if (pp.o.mode[m])
                measure(m, t, &cells[m]);
    }
    progress_clear(&pp.progress);
    for (int m = 0; m < PP_MODES; m++)
        if (pp.o.mode[m] && pp_matched(m))
            need(pp_pair_free(&pp.pair[m]), "freeing");
    if (pp.o.mode[PP_KT])
        need(shmemx_trig_free(&pp_calling.trig), "freeing");
}

int main(int argc, char **argv)
{
    static struct pp_cell cells[PP_MODES];
    struct pp_head head = { .version = "Sluice " SLUICE_VERSION };
    int status;

    shmem_init();
    if (!begin(argc, argv, &status)) {
        shmem_finalize();
        return status;
    }
    set_up();
    head.device = pp.device.name;
    head.driver = pp.device.driver;
    head.costs = env.DEVICE_COSTS;
    head.between = xport_net ? "on two nodes" : "on one node";
    pieces(&head);
    shmem_barrier_all();
    if (pp.me == 0)
        pp_begin(&pp.o, &head);
    progress_begin(&pp.progress, "pp_pack", pp.me == 0, false);
    for (size_t n = pp.o.min; n <= pp.o.max; n *= 2) {
        run_size(n, cells);
        if (pp.me == 0)
            pp_rows(&pp.o, n, cells);
    }
    if (pp.me == 0)
        pp_end(&pp.o, pp.verified);
    dev_gpu_unload(&pp.gpu);
    dev_gpu_unload(&pp_calling.kernels.gpu);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
