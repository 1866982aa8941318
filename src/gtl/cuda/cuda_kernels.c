/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_kernels.c - small kernels for NVIDIA's devices, as PTX text that the
 * driver compiles for the device at hand: loads and launches them. A kernel
 * is launched once at open, since a first launch later could wait for a stream
 * that waits for this PE. */
#include "gtl/cuda/cuda_int.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] =
#include "gtl/cuda/cuda_kernels.inc"
    ;

static void *module, *amo, *write64, *wait64, *blocks, *reduce;
static void *peer_copy, *peer_copy_notify;

static int launch(void *kernel, unsigned groups, unsigned threads, void *s,
                  void **args)
{
    if (!kernel)
        return gtl_fail(-ENOSYS, "cuLaunchKernel", "the driver has compiled "
                        "no kernels", 0);
    return CU(cuLaunchKernel, kernel, groups, 1, 1, threads, 1, 1, 0, s, args,
              NULL);
}

int gtl_cu_kernel_write64(uint64_t *word, uint64_t value, void *s)
{
    uint64_t w = gtl_cu_ptr(word);
    void *args[] = { &w, &value };

    return launch(write64, 1, 1, s, args);
}

/* One thread, which takes the device's time from other processes. */
int gtl_cu_kernel_wait64(uint64_t *word, uint64_t least, void *s)
{
    uint64_t w = gtl_cu_ptr(word);
    void *args[] = { &w, &least };

    if (gtl_device.pes > 1)
        return gtl_fail_spin("cuStreamWaitValue64");
    return launch(wait64, 1, 1, s, args);
}

int gtl_cu_kernel_amo(const struct gtl_amo *a, void *s)
{
    uint32_t op = a->op, size = (uint32_t)a->size;
    uint64_t word = gtl_cu_ptr(a->word), value = a->value, cond = a->cond;
    uint64_t result = gtl_cu_ptr(a->result);
    void *args[] = { &op, &size, &word, &value, &cond, &result };

    return launch(amo, 1, 1, s, args);
}

int gtl_cu_kernel_blocks(void *to, const void *from,
                         const struct gtl_blocks *b, void *s)
{
    uint64_t t = gtl_cu_ptr(to), f = gtl_cu_ptr(from);
    uint64_t ts = (uint64_t)b->to_stride, fs = (uint64_t)b->from_stride;
    uint64_t odd = t | f | ts | fs | b->len;
    uint64_t unit = odd & 3 ? 1 : odd & 4 ? 4 : 8;
    uint64_t per = b->len / unit, units = per * b->count;
    uint64_t groups = (units + 255) / 256;
    void *args[] = { &t, &f, &per, &units, &ts, &fs, &unit };

    return launch(blocks, groups < 1024 ? (unsigned)groups : 1024, 256, s,
                  args);
}

/* As many threads as fill a GPU, each with elements of its own. */
int gtl_cu_kernel_reduce(const struct gtl_reduce *r, void *s)
{
    uint64_t out = gtl_cu_ptr(r->out), a = gtl_cu_ptr(r->a);
    uint64_t b = gtl_cu_ptr(r->b), groups;
    struct gtl_reduce_loop l;
    int rc = gtl_reduce_find(r, &l);
    uint32_t loop = rc ? 0 : (uint32_t)l.loop;
    void *args[] = { &loop, &out, &a, &b, &l.n };

    if (rc || !r->n)
        return rc;
    groups = (l.n + 255) / 256;
    return launch(reduce, groups < 2048 ? (unsigned)groups : 2048, 256, s,
                  args);
}

/* Kernels end where a stream looks: the first one, or a thread of the driver,
 * keeps in p->arrival what the others go by. */
int gtl_cu_peer_copy(const struct gtl_peer_copy *p, void *s)
{
    const struct gtl_amo come = {
        .op = AMO_ADD, .size = 8, .word = p->arrivals, .value = 1,
        .result = p->arrival
    };
    unsigned unit = gtl_copy_unit(p->to, p->from);
    uint64_t was = gtl_cu_ptr(p->arrival), to = gtl_cu_ptr(p->to);
    uint64_t from = gtl_cu_ptr(p->from), n = p->n, size = unit;
    uint64_t whole = unit > 1 ? n / unit * unit : 0;
    uint64_t flag = gtl_cu_ptr(p->flags[0]),
    second_flag = gtl_cu_ptr(p->flags[1]);
    void *copies[] = { &was, &to, &from, &whole, &n, &size };
    void *flag_args[] = { &was, &flag, &second_flag };
    int rc;

    if (!peer_copy_notify)
        return launch(NULL, 1, 1, s, flag_args);
    rc = gtl_cu_amo(&come, s);
    if (!rc && n)
        rc = launch(peer_copy, gtl_copy_groups(n, unit), GTL_COPY_ITEMS, s,
                    copies);
    return rc ? rc : launch(peer_copy_notify, 1, 1, s, flag_args);
}

static int warm_kernels(uint64_t *word, void *s)
{
    struct gtl_amo a = { .op = AMO_FETCH, .size = 8, .word = word };
    struct gtl_blocks once = { 8, 1, 8, 8 };
    struct gtl_reduce r = {
        .type = GTL_U64, .out = word + 1, .a = word, .b = word, .n = 1
    };
    struct gtl_peer_copy p = {
        .arrivals = word, .arrival = word + 1, .to = word + 2, .from = word + 3,
        .n = 8, .flags = { word + 4, word + 5 }
    };
    int rc = gtl_cu_kernel_write64(word, 1, s);

    if (!rc)
        rc = gtl_cu_kernel_wait64(word, 1, s);
    if (!rc)
        rc = gtl_cu_kernel_amo(&a, s);
    if (!rc)
        rc = gtl_cu_kernel_blocks(word + 1, word, &once, s);
    if (!rc)
        rc = gtl_cu_kernel_reduce(&r, s);
    return rc ? rc : gtl_cu_peer_copy(&p, s);
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Every kind of command, once, on words of the device: the driver's own
 * copies and fills may be kernels as well. */
static int warm_up(uint64_t *word, void *s)
{
    struct gtl_blocks rows = { 4, 2, 8, 8 };
    int rc = gtl_cu_fill(word, 0, 64, s);

    if (!rc && amo)
        rc = warm_kernels(word, s);
    if (!rc)
        rc = gtl_cu_copy(word + 2, word, 8, s);
    if (!rc)
        rc = gtl_cu_copy_blocks(word + 4, word + 2, &rows, s);
    if (!rc)
        rc = gtl_cu_host_call(nothing, NULL, s);
    if (!rc)
        rc = gtl_cu_write64(word, 2, s);
    if (!rc)
        rc = gtl_cu_wait64(word, 2, s);
    return rc ? rc : gtl_cu_stream_sync(s);
}

static int run_once(void)
{
    void *word = NULL, *s = NULL;
    int rc = gtl_cu_alloc(64, &word);

    if (rc)
        return rc;
    rc = gtl_cu_stream_create(GTL_NORMAL, &s);
    if (!rc) {
        rc = warm_up(word, s);
        gtl_cu_stream_destroy(s);
    }
    gtl_cu_free(word);
    return rc;
}

/* With what the driver's compiler says, where it is that which fails. */
static int load_module(void)
{
    static char log_text[1024];
    int options[] = { CU_JIT_ERROR_LOG_BUFFER,
                      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log_text, (void *)(uintptr_t)sizeof log_text };
    char said[112];
    int rc;

    log_text[0] = '\0';
    rc = CU_RELAXED(cuModuleLoadDataEx, &module, ptx, 2, options, values);
    if (!rc || !log_text[0])
        return rc;
    log_text[sizeof log_text - 1] = '\0';
    snprintf(said, sizeof said, "%.*s", (int)strcspn(log_text, "\n"), log_text);
    return gtl_fail(rc, "cuModuleLoadDataEx", said, rc);
}

static int load_kernels(void)
{
    static const struct { const char *name; void **kernel; } names[] = {
        { "gtl_amo", &amo }, { "gtl_write", &write64 },
        { "gtl_wait", &wait64 }, { "gtl_blocks", &blocks },
        { "gtl_reduce", &reduce }, { "gtl_peer_copy", &peer_copy },
        { "gtl_peer_copy_notify", &peer_copy_notify }
    };
    int rc = load_module();

    for (unsigned i = 0; i < sizeof names / sizeof *names && !rc; i++)
        rc = CU(cuModuleGetFunction, names[i].kernel, module, names[i].name);
    return rc;
}

int gtl_cu_kernels_load(bool *out)
{
    int rc = load_kernels();

    /* Copies and waits go without. */
    if (rc == -ENOSYS && gtl_cu_device.memops) {
        log_warn(ERR_DEVICE, "no kernels on the device: %s; atomics on its "
                 "memory fail, blocks are copied one by one", gtl_error());
        gtl_cu_kernels_unload();
        rc = 0;
    }
    if (!rc)
        rc = run_once();
    if (rc)
        gtl_cu_kernels_unload();
    else
        *out = amo;
    return rc;
}

void gtl_cu_kernels_unload(void)
{
    if (module)
        CU_RELAXED(cuModuleUnload, module);
    module = amo = write64 = wait64 = blocks = reduce = NULL;
    peer_copy = peer_copy_notify = NULL;
}

/* ---- modules of the program ---- */

int gtl_cu_module_symbol(void *module_of_program, const char *name,
                         void **out, size_t *size)
{
    uint64_t at = 0;
    int code, rc;

    gtl_cu_enter();
    gtl_cu_relax();             /* it may load what was not needed before */
    code = gtl_cu.cuModuleGetGlobal_v2(&at, size, module_of_program, name);
    rc = gtl_cu_leave("cuModuleGetGlobal", gtl_cu_relaxed(code));
    if (code == CUDA_ERROR_NOT_FOUND)
        return -ENOENT;
    if (!rc)
        *out = (void *)(uintptr_t)at;
    return rc;
}
