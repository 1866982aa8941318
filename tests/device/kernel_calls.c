/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches the kernels of kernel_calls.cu through CUDA's driver, a GPU's or the
 * stand-in, and checks what they have moved; for kernel_calls.sh, which names the
 * file of their PTX and what to do: all, host (no device heap), times. */
#include "../t.h"
#include "kernel_calls.h"
#include <dlfcn.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_dev.h>
#include <shmemx_st.h>
#include <shmemx_part.h>
#include <string.h>

static int me, n_pes, next_pe, prev_pe;
static shmemx_dev_t dev;
static shmemx_stream_t stream;
static struct area in_data;

/* ---- the driver ---- */

static int (*launch_kernel)(void *f, unsigned gx, unsigned gy, unsigned gz,
                            unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, void *stream, void **params,
                            void **extra);
static int (*get_function)(void **f, void *module, const char *name);
static void *module;

static void *symbol(const char *name)
{
    static void *lib;
    void *p;

    if (!lib)
        lib = dlopen("libcuda.so.1", RTLD_NOW);
    p = lib ? dlsym(lib, name) : NULL;
    if (!p) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        shmem_global_exit(3);
    }
    return p;
}

static void need(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "PE %d: %s: error %d of the driver\n", me, what, rc);
    shmem_global_exit(4);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 16 << 20);

    if (!f || !text || !fread(text, 1, (16 << 20) - 1, f)) {
        fprintf(stderr, "%s cannot be read\n", path);
        shmem_global_exit(3);
    }
    fclose(f);
    return text;
}

static void load(const char *path)
{
    int (*get_device)(int *, int), (*retain)(void **, int);
    int (*set_current)(void *), (*load_data)(void **, const void *), d;
    shmemx_device_info_t info;
    char *text = read_file(path);
    void *ctx;

    *(void **)&get_device = symbol("cuDeviceGet");
    *(void **)&retain = symbol("cuDevicePrimaryCtxRetain");
    *(void **)&set_current = symbol("cuCtxSetCurrent");
    *(void **)&load_data = symbol("cuModuleLoadData");
    *(void **)&get_function = symbol("cuModuleGetFunction");
    *(void **)&launch_kernel = symbol("cuLaunchKernel");
    T_EQ(shmemx_device_info(&info), 0);
    need(get_device(&d, info.ordinal), "cuDeviceGet");
    need(retain(&ctx, d), "cuDevicePrimaryCtxRetain");
    need(set_current(ctx), "cuCtxSetCurrent");
    need(load_data(&module, text), "cuModuleLoadData");
    free(text);
}

static void launch(const char *name, unsigned groups, unsigned threads,
                   void **params)
{
    void *f;

    need(get_function(&f, module, name), name);
    need(launch_kernel(f, groups, 1, 1, threads, 1, 1, 0, stream, params,
                       NULL), name);
    T_EQ(shmemx_stream_sync(stream), 0);
}

static void copy(void *to, const void *from, size_t n)
{
    T_EQ(shmemx_stream_copy(stream, to, from, n), 0);
    T_EQ(shmemx_stream_sync(stream), 0);
}

/* ---- moves ---- */

static char byte_of(int pe, size_t i)
{
    return (char)(pe * 16 + (int)i * 3 + 1);
}

static bool holds(const struct area *a, int s, int slot, size_t size, int pe)
{
    size_t stride = 1 + (slot == IPUT || slot == IGET), i = 0;

    while (i < N * size &&
           a->room[s][slot][i / size * size * stride + i % size] ==
               byte_of(pe, i))
        i++;
    return i == N * size;
}

/* a: symmetric; local: memory that the device reaches, for the local ends. */
static void try_type(const char *name, size_t size, struct area *a,
                     struct area *local)
{
    static struct area h, got;
    char kernel[32];
    void *params[] = { &dev, &a, &local, &next_pe };

    memset(&h, 0, sizeof h);
    for (size_t i = 0; i < N * size; i++)
        h.source[i] = byte_of(me, i);
    copy(a, &h, sizeof h);
    copy(local, &h, sizeof h);
    snprintf(kernel, sizeof kernel, "move_%s", name);
    shmem_barrier_all();
    launch(kernel, 1, 96, params);
    shmem_barrier_all();
    copy(&h, a, sizeof h);
    copy(&got, local, sizeof got);
    for (int s = 0; s < SCOPES; s++) {
        for (int slot = PUT; slot < GET; slot++)
            T_TRUE(holds(&h, s, slot, size, prev_pe));
        for (int slot = GET; slot < ONE; slot++)
            T_TRUE(holds(&got, s, slot, size, next_pe));
        T_EQ(h.signal[s], 5);
    }
    T_TRUE(holds(&h, 1, ONE, size, prev_pe));
    T_TRUE(holds(&got, 2, ONE, size, next_pe));
    shmem_barrier_all();
}

static char *device, *host;     /* a room of 1 MiB in either heap */
enum { HALF = 1 << 19 };

static void try_moves(void *a, void *local)
{
#define TRY(T, NAME) try_type(#NAME, sizeof(T), a, local);
    TYPES(TRY)
}

T(moves_in_the_device_heap) { try_moves(device, device + HALF); }
T(moves_in_the_host_heap) { try_moves(host, host + HALF); }
T(moves_in_static_data) { try_moves(&in_data, host); }

/* ---- atomics ---- */

static void try_atomics(struct counts *c, unsigned groups, unsigned threads)
{
    static struct counts h;
    unsigned long long all = (unsigned long long)groups * threads;
    void *params[] = { &dev, &c, &next_pe };
    bool seen = true;

    memset(&h, 0, sizeof h);
    h.bits_and = ~0ull;
    copy(c, &h, sizeof h);
    shmem_barrier_all();
    launch("count", groups, threads, params);
    shmem_barrier_all();
    copy(&h, c, sizeof h);
    T_EQ(h.add, all * (all - 1) / 2);
    T_EQ(h.inc, all);
    T_EQ(h.add32, 2 * all);
    T_EQ(h.inc32, all);
    T_EQ(h.bits_or, ~0ull);
    T_EQ(h.bits_and, 0);
    T_EQ(h.bits_xor >> 63, 0);
    T_EQ(h.order, all);
    for (unsigned i = 0; i < all; i++)
        seen &= h.seen[i];
    T_TRUE(seen);
    T_EQ(h.cas, 7);
    T_EQ(h.swapped, 9);
    T_TRUE(h.value == 2.5f);
    T_EQ(h.wrong, 0);
    shmem_barrier_all();
}

static unsigned blocks = 8, threads = 256;      /* of the large grids */

T(atomics_in_the_device_heap) { try_atomics((void *)device, blocks, threads); }
T(atomics_in_the_host_heap) { try_atomics((void *)host, blocks, threads); }

/* ---- signals, waits, barriers ---- */

static void try_ring(struct ring *r)
{
    static struct ring h;
    void *params[] = { &dev, &r };

    memset(&h, 0, sizeof h);
    copy(r, &h, sizeof h);
    shmem_barrier_all();
    launch("pass_on", 1, 128, params);
    shmem_barrier_all();
    launch("meet", 1, 64, params);
    shmem_barrier_all();
    copy(&h, r, sizeof h);
    T_EQ(h.wrong, 0);
    T_EQ(h.arrived, ROUNDS);
    shmem_barrier_all();
}

T(signals_in_the_device_heap) { try_ring((void *)device); }
T(signals_in_the_host_heap) { try_ring((void *)host); }

/* ---- collectives ---- */

static void try_collectives(struct coll *c)
{
    static struct coll h;
    int rounds = 6;
    void *params[] = { &dev, &c, &rounds };

    T_TRUE(n_pes <= MEMBERS);
    memset(&h, 0, sizeof h);
    copy(c, &h, sizeof h);
    shmem_barrier_all();
    launch("collect", 1, 96, params);
    shmem_barrier_all();
    copy(&h, c, sizeof h);
    T_EQ(h.wrong, 0);
    /* The kernel has come to its end: what the last call has brought. */
    for (int pe = 0; pe < n_pes; pe++)
        T_EQ(h.to[pe], pe * 1000 + rounds - 1);
    shmem_barrier_all();
}

T(collectives_in_the_device_heap) { try_collectives((void *)device); }
T(collectives_in_the_host_heap) { try_collectives((void *)host); }

/* ---- many requests ---- */

enum { MANY = 2048 * EACH };
static long many_static[MANY];

static void try_many(long *to)
{
    static long h[MANY];
    void *params[] = { &dev, &to, &next_pe };
    int all = (int)(blocks * threads) * EACH, i = 0;

    memset(h, 0, sizeof h);
    copy(to, h, sizeof h);
    shmem_barrier_all();
    launch("put_many", blocks, threads, params);
    shmem_barrier_all();
    copy(h, to, sizeof h);
    while (i < all && h[i] == i + prev_pe)
        i++;
    T_EQ(i, all);
    shmem_barrier_all();
}

T(many_puts_to_the_device_heap) { try_many((void *)device); }
T(many_puts_to_the_host_heap) { try_many((void *)host); }
T(many_puts_to_static_data) { try_many(many_static); }

/* ---- triggers ---- */

static shmemx_trig_t trig;

static void post_all(struct triggered *a, const long *of_grid, int engine)
{
    const shmemx_trig_config_t config = { engine };
    unsigned long long warps = blocks * ((threads + 31) / 32);
    uint64_t *arrived = (uint64_t *)&a->arrived;

    T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, BLOCK_TAG + (int)blocks,
                            &config, SHMEMX_TRIG_ENGINE, &trig), 0);
    T_EQ(shmemx_trig_put_signal(trig, THREADS_TAG, blocks * threads,
                                &a->threads, &of_grid[0], sizeof(long), arrived,
                                1, SHMEM_SIGNAL_ADD, next_pe), 0);
    T_EQ(shmemx_trig_put_signal(trig, WARPS_TAG, warps, &a->warps, &of_grid[1],
                                sizeof(long), arrived, 1, SHMEM_SIGNAL_ADD,
                                next_pe), 0);
    T_EQ(shmemx_trig_put(trig, CHOSEN_TAG, 1, a, a, 0, next_pe), 0);
    T_EQ(shmemx_trig_repeat(trig, CHOSEN_TAG), 0);
    for (unsigned b = 0; b < blocks; b++) {
        T_EQ(shmemx_trig_put(trig, BLOCK_TAG + (int)b, 1, &a->blocks[b],
                             &a->from[b], sizeof(long), next_pe), 0);
        T_EQ(shmemx_trig_repeat(trig, BLOCK_TAG + (int)b), 0);
    }
}

/* direct: the device adds to counts itself, or else by requests. */
static void try_engine(struct triggered *a, bool direct, int engine)
{
    static struct triggered h;
    static long of_grid[2];     /* symmetric, so the library reaches it */
    shmemx_trig_dev_t hits;
    void *params[] = { &hits, &a, &next_pe };

    memset(&h, 0, sizeof h);
    copy(a, &h, sizeof h);
    of_grid[0] = me + 7;
    of_grid[1] = me + 70;
    shmem_barrier_all();
    post_all(a, of_grid, engine);
    T_EQ(shmemx_trig_dev(trig, &hits), 0);
    T_TRUE(hits.direct);
    hits.direct = direct;
    launch("hit", blocks, threads, params);
    T_EQ(shmemx_trig_wait(trig, THREADS_TAG, 1), 0);
    T_EQ(shmemx_trig_wait(trig, WARPS_TAG, 1), 0);
    shmem_barrier_all();
    copy(&h, a, sizeof h);
    T_EQ(h.threads, prev_pe + 7);
    T_EQ(h.warps, prev_pe + 70);
    T_EQ(h.arrived, 2);
    for (long b = 0; b < (long)blocks; b++)
        T_EQ(h.blocks[b], prev_pe * 1000 + 10 * b + 3);
    for (int i = 1; i <= CHOSEN && engine != SHMEMX_TRIG_COPY; i++)
        T_EQ(h.chosen[i], prev_pe * 1000 + i);
    T_EQ(h.wrong, 0);
    T_EQ(shmemx_trig_free(&trig), 0);
    shmem_barrier_all();
}

static void try_triggers(struct triggered *a)
{
    try_engine(a, true, SHMEMX_TRIG_AUTO);
    try_engine(a, false, SHMEMX_TRIG_AUTO);
    try_engine(a, true, SHMEMX_TRIG_COPY);
}

/* ---- partitioned messages ---- */

static void parts_once(struct parts *a, int mode, int most, int all)
{
    const shmemx_prequest_config_t config = {
        .mode = mode, .calls = all ? (int)blocks : 1
    };
    static struct parts h;
    shmemx_prequest_t out, in;
    shmemx_req_t r[2];
    int scope;
    void *params[] = { &out, &in, &a, &scope, &all };

    memset(&h, 0, sizeof h);
    copy(a, &h, sizeof h);
    T_EQ(shmemx_psend_init(a->from, PARTS, PART_WORDS * sizeof(long), next_pe,
                           5, &r[0]), 0);
    T_EQ(shmemx_ptransport(r[0], most), 0);
    T_EQ(shmemx_precv_init(a->to, PARTS, PART_WORDS * sizeof(long), prev_pe, 5,
                           &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    T_EQ(shmemx_prequest_create(r[0], &config, SHMEMX_PREQUEST_MODE |
                                SHMEMX_PREQUEST_CALLS, &out), 0);
    T_EQ(shmemx_prequest_create(r[1], NULL, 0, &in), 0);
    for (scope = 0; scope < 3; scope++) {
        T_EQ(shmemx_req_startall(2, r), 0);
        launch("parts", blocks, threads, params);
        T_EQ(shmemx_req_wait(r[0]), 0);
        T_EQ(shmemx_req_wait(r[1]), 0);
        shmem_barrier_all();    /* what came has been looked at */
    }
    T_EQ(shmemx_prequest_free(&out), 0);
    T_EQ(shmemx_prequest_free(&in), 0);
    copy(&h, a, sizeof h);
    T_EQ(h.wrong, 0);
    T_EQ(shmemx_req_free(&r[0]), 0);
    T_EQ(shmemx_req_free(&r[1]), 0);
}

static void try_parts(struct parts *a)
{
    parts_once(a, SHMEMX_PREQUEST_AUTO, PARTS, 0);
    parts_once(a, SHMEMX_PREQUEST_AUTO, 2, 0);
    parts_once(a, SHMEMX_PREQUEST_ENGINE, 3, 0);
    parts_once(a, SHMEMX_PREQUEST_AUTO, PARTS, 1);
}

T(partitions_in_the_device_heap) { try_parts((void *)device); }
T(partitions_in_the_host_heap) { try_parts((void *)host); }

T(triggers_from_the_device_heap)
{
    try_triggers((void *)device);
}
T(triggers_from_the_host_heap)
{
    try_triggers((void *)host);
}

/* ---- times, of PE 0, by the clock of the device ---- */

static void time_one(const char *name, char *to, const char *kernel, int times,
                     unsigned n_threads)
{
    long long best = 0, now, *took = (long long *)(void *)(device + HALF / 2);
    char *from = device + HALF;
    int size = 65536;
    void *params[] = { &dev, &to, &from, &took, &times, &next_pe, &size };

    for (int i = 0; i < 5; i++) {
        shmem_barrier_all();
        launch(kernel, 1, n_threads, params);
        copy(&now, took, sizeof now);
        if (!i || now < best)
            best = now;
    }
    if (!me)
        printf("%-30s %-12s %10.1f cycles\n", name,
               to == device ? "device heap" : "host heap",
               (double)best / times);
}

static void measure(void)
{
    for (int k = 0; k < 2; k++) {
        char *to = k ? host : device;

        time_one("plain store, own memory", to, "time_store", 1000, 1);
        time_one("long_p", to, "time_p", 1000, 1);
        time_one("long_g", to, "time_g", 1000, 1);
        time_one("long_atomic_add", to, "time_add", 1000, 1);
        time_one("long_atomic_fetch_add", to, "time_fetch_add", 500, 1);
        time_one("copy of 64 KiB, 1024 threads", to, "time_copy", 100, 1024);
        time_one("putmem_block of the same", to, "time_put", 100, 1024);
        time_one("empty request", to, "time_empty", 5000, 1);
        if (n_pes > 1)
            time_one("barrier_all_block", to, "time_barrier", 20, 32);
    }
}

static void run_device(void)
{
    T_RUN(moves_in_the_device_heap);
    T_RUN(atomics_in_the_device_heap);
    T_RUN(signals_in_the_device_heap);
    T_RUN(collectives_in_the_device_heap);
    T_RUN(many_puts_to_the_device_heap);
    T_RUN(triggers_from_the_device_heap);
    T_RUN(partitions_in_the_device_heap);
}

static void run_host(void)
{
    T_RUN(moves_in_the_host_heap);
    T_RUN(moves_in_static_data);
    T_RUN(atomics_in_the_host_heap);
    T_RUN(signals_in_the_host_heap);
    T_RUN(collectives_in_the_host_heap);
    T_RUN(many_puts_to_the_host_heap);
    T_RUN(many_puts_to_static_data);
    T_RUN(triggers_from_the_host_heap);
    T_RUN(partitions_in_the_host_heap);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "all";

    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next_pe = (me + 1) % n_pes;
    prev_pe = (me + n_pes - 1) % n_pes;
    T_PE(me);
    device = shmem_space_malloc(SHMEM_SPACE_DEVICE, 2 * HALF);
    host = shmem_malloc(2 * HALF);
    if (argc < 2 || !device || !host ||
        shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &dev) ||
        shmemx_stream_create(&stream))
        shmem_global_exit(3);
    load(argv[1]);
    if (argc > 3)
        blocks = (unsigned)atoi(argv[3]);
    if (argc > 4)
        threads = (unsigned)atoi(argv[4]);
    if (!strcmp(what, "times")) {
        measure();
    } else {
        if (!strcmp(what, "all"))
            run_device();
        run_host();
    }
    T_EQ(shmemx_stream_destroy(stream), 0);
    shmem_finalize();
    return strcmp(what, "times") ? T_DONE() : 0;
}
