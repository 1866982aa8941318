/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of functions, and what may be asked and set of them. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is built in ---- */

static uint64_t long_arg(const struct grid_of *g, int i)
{
    return *(uint64_t *)g->args[i];
}

static void *pointer_arg(const struct grid_of *g, int i)
{
    return (void *)(uintptr_t)long_arg(g, i);
}

static void run_amo(const struct grid_of *g)
{
    struct dev_amo a = {
        .op = (enum dev_word_op)*(uint32_t *)g->args[0],
        .size = (int)*(uint32_t *)g->args[1],
        .word = pointer_arg(g, 2), .value = long_arg(g, 3),
        .cond = long_arg(g, 4), .result = pointer_arg(g, 5)
    };

    dev_amo(g->s, &a);
}

static void run_write(const struct grid_of *g)
{
    dev_store(g->s, pointer_arg(g, 0), long_arg(g, 1));
}

static void run_wait(const struct grid_of *g)
{
    dev_spin(g->s, "gtl_wait", pointer_arg(g, 0), long_arg(g, 1), ~0ULL,
             DEV_GEQ_UNSIGNED);
}

static void run_blocks(const struct grid_of *g)
{
    uint64_t per = long_arg(g, 2), unit = long_arg(g, 6);
    struct dev_blocks b = {
        .to = pointer_arg(g, 0), .from = pointer_arg(g, 1),
        .len = per * unit, .count = long_arg(g, 3) / per,
        .to_stride = (ptrdiff_t)long_arg(g, 4),
        .from_stride = (ptrdiff_t)long_arg(g, 5), .kernel = true
    };

    dev_copy_blocks(g->s, &b);
}

struct function *fake_built_in(const char *name)
{
    static struct function all[] = {
        { .magic = FUNCTION, .name = "gtl_amo", .run = run_amo },
        { .magic = FUNCTION, .name = "gtl_write", .run = run_write },
        { .magic = FUNCTION, .name = "gtl_wait", .run = run_wait },
        { .magic = FUNCTION, .name = "gtl_blocks", .run = run_blocks }
    };

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

/* ---- what is interpreted ---- */

/* A launch, on its way; it keeps its module. */
struct flight {
    struct ptx_launch l;
    struct module *m;
    unsigned char params[];
};
struct start {
    struct flight *f;
    bool once;                  /* else a graph has it */
};

static void release(void *arg)
{
    struct flight *f = arg;

    fake_module_release(f->m);
    free(f);
}

static int start_step(void *arg)
{
    const struct start *s = arg;
    int rc = ptx_run(&s->f->l);

    if (s->once)
        release(s->f);
    return rc;
}

enum { FEW_BLOCKS = 2, FEW_THREADS = 32 };

static int start(struct dev_stream *s, struct function *f,
                 struct ptx_launch l, void **args)
{
    size_t size = ptx_params_size(f->kernel);
    struct flight *fly = calloc(1, sizeof *fly + size + 1);
    struct start st = { fly, !s->graph };

    if (!fly)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l.kernel = f->kernel;
    l.device = s->device;
    l.params = fly->params;
    if (f->few && l.grid.x > FEW_BLOCKS)
        l.grid.x = FEW_BLOCKS;
    if (f->few && l.block.x > FEW_THREADS)
        l.block.x = FEW_THREADS;
    ptx_params(f->kernel, args, fly->params);
    fly->l = l;
    fly->m = f->module;
    __atomic_fetch_add(&f->module->refs, 1, __ATOMIC_RELAXED);
    if (s->graph)
        dev_graph_keep(s->graph, release, fly);
    dev_launch(s, start_step, &st, sizeof st);
    return CUDA_SUCCESS;
}

static bool fits(const struct function *f, const struct ptx_launch *l)
{
    unsigned want[3], most = ptx_most_threads(f->kernel, want);

    if (l->block.x * l->block.y * l->block.z > most || l->shared > f->shared ||
        l->shared + ptx_shared_size(f->kernel) > PTX_SHARED_MOST)
        return false;
    return !want[0] || (l->block.x == want[0] && l->block.y == want[1] &&
                        l->block.z == want[2]);
}

/* ---- launches ---- */

/* Loading may wait for the device, unless all was loaded at once. */
static void load_first(struct function *f, int device)
{
    const char *how = getenv("CUDA_MODULE_LOADING");

    if (f->launched)
        return;
    f->launched = true;
    if (f->kernel && !f->few && how && !strcmp(how, "EAGER"))
        return;
    dev_note("cuLaunchKernel", "waits: first");
    dev_sync_all(device);
}

static int launch(struct context *c, void *function, struct ptx_launch l,
                  void *handle, void **args, void **extra)
{
    struct function *f = function;
    struct dev_stream *s;
    int rc = fake_stream(handle, c, true, &s);

    if (rc)
        return rc;
    if (!f || f->magic != FUNCTION)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!l.grid.x || !l.grid.y || !l.grid.z || !l.block.x || !l.block.y ||
        !l.block.z || l.grid.y > 65535 || l.grid.z > 65535 ||
        l.block.x > PTX_THREADS || l.block.y > PTX_THREADS || l.block.z > 64 ||
        l.block.x * l.block.y * l.block.z > PTX_THREADS || extra ||
        (!args && !(f->kernel && !ptx_params_size(f->kernel))))
        return CUDA_ERROR_INVALID_VALUE;
    if (f->kernel && !fits(f, &l))
        return CUDA_ERROR_INVALID_VALUE;
    load_first(f, c->dev);
    if (f->own)
        return dev_kernel_run(s, f->own, l.grid.x, l.block.x, args[0])
               ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (f->kernel)
        return start(s, f, l, args);
    f->run(&(struct grid_of){ s, args });
    return CUDA_SUCCESS;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *handle,
                   void **args, void **extra)
{
    struct context *c;

    CALL_IN("cuLaunchKernel", &c);
    return launch(c, function, (struct ptx_launch){
        .grid = { grid_x, grid_y, grid_z },
        .block = { block_x, block_y, block_z }, .shared = shared
    }, handle, args, extra);
}

static unsigned resident(const struct function *f, unsigned threads,
                         size_t shared)
{
    return ptx_blocks_each(threads, shared + ptx_shared_size(f->kernel));
}

/* As many blocks wait for each other as are resident at once. */
static int together(void *function, const struct ptx_launch *l)
{
    struct function *f = function;
    uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;

    if (!f || f->magic != FUNCTION || !f->kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!threads || threads > PTX_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    if ((uint64_t)l->grid.x * l->grid.y * l->grid.z >
        (uint64_t)PTX_PROCESSORS * resident(f, (unsigned)threads, l->shared))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return CUDA_SUCCESS;
}

/* Of the attributes, one asks for blocks that run together. */
int cuLaunchKernelEx(const struct cuda_launch *how, void *function,
                     void **args, void **extra)
{
    struct ptx_launch l = {
        .grid = { how->grid[0], how->grid[1], how->grid[2] },
        .block = { how->block[0], how->block[1], how->block[2] },
        .shared = how->shared
    };
    struct context *c;
    int rc;

    CALL_IN("cuLaunchKernelEx", &c);
    for (unsigned k = 0; k < how->n_attributes; k++)
        l.together |= how->attributes[k].id ==
                      CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
                      how->attributes[k].value;
    rc = l.together ? together(function, &l) : CUDA_SUCCESS;
    return rc ? rc : launch(c, function, l, how->stream, args, extra);
}

int cuLaunchCooperativeKernel(void *function, unsigned grid_x,
                              unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y,
                              unsigned block_z, unsigned shared, void *handle,
                              void **args)
{
    struct ptx_launch l = {
        .grid = { grid_x, grid_y, grid_z },
        .block = { block_x, block_y, block_z }, .shared = shared,
        .together = true
    };
    struct context *c;
    int rc;

    CALL_IN("cuLaunchCooperativeKernel", &c);
    rc = together(function, &l);
    return rc ? rc : launch(c, function, l, handle, args, NULL);
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    struct function *f = function;
    struct context *c;

    CALL_IN("cuFuncSetAttribute", &c);
    if (!f || f->magic != FUNCTION || !f->kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return CUDA_SUCCESS;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value < 0 ||
        (size_t)value + ptx_shared_size(f->kernel) > PTX_SHARED_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    f->shared = (size_t)value;
    return CUDA_SUCCESS;
}

int cuFuncGetAttribute(int *out, int attribute, void *function)
{
    struct function *f = function;
    unsigned want[3];
    struct context *c;

    CALL_IN("cuFuncGetAttribute", &c);
    if (!f || f->magic != FUNCTION || !f->kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out = (int)ptx_most_threads(f->kernel, want);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = (int)ptx_shared_size(f->kernel);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *out = (int)ptx_local_size(f->kernel);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *out = (int)f->shared;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, void *function,
                                                int threads, size_t shared)
{
    struct function *f = function;
    struct context *c;

    CALL_IN("cuOccupancyMaxActiveBlocksPerMultiprocessor", &c);
    if (!f || f->magic != FUNCTION || !f->kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (threads <= 0 || threads > PTX_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (int)resident(f, (unsigned)threads, shared);
    return CUDA_SUCCESS;
}
