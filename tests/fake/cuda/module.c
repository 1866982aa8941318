/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules: the names of functions are looked up in their text, and what these
 * do is built in; but of reductions and pairs the text itself is run. */
#include "fake.h"
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULE = 0x4d4f4455, FUNCTION = 0x46554e43 };

struct module {
    unsigned magic;
    char *text;
};

struct grid {
    struct dev_stream *s;
    void **args;
    unsigned groups, threads;
};

struct function {
    unsigned magic;
    const char *name;
    void (*run)(const struct grid *g);
    const struct dev_kernel *own;       /* the program's, in place of run */
    const struct ptx *text;     /* the same, of so many arguments */
    int params;
    bool narrow;                /* the first has 4 bytes */
    bool launched;
    struct function *next;      /* of the program's: they stay */
};

static uint64_t long_arg(const struct grid *g, int i)
{
    return *(uint64_t *)g->args[i];
}

static void *pointer_arg(const struct grid *g, int i)
{
    return (void *)(uintptr_t)long_arg(g, i);
}

static void run_amo(const struct grid *g)
{
    struct dev_amo a = {
        .op = (enum dev_word_op)*(uint32_t *)g->args[0],
        .size = (int)*(uint32_t *)g->args[1],
        .word = pointer_arg(g, 2), .value = long_arg(g, 3),
        .cond = long_arg(g, 4), .result = pointer_arg(g, 5)
    };

    dev_amo(g->s, &a);
}

static void run_write(const struct grid *g)
{
    dev_store(g->s, pointer_arg(g, 0), long_arg(g, 1));
}

static void run_wait(const struct grid *g)
{
    dev_spin(g->s, "gtl_wait", pointer_arg(g, 0), long_arg(g, 1), ~0ULL,
             DEV_GEQ_UNSIGNED);
}

static void run_blocks(const struct grid *g)
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

/* Whatever the grid, its threads share the elements: few will do. */
enum { GROUPS = 2, THREADS = 32, PARAMS = 6 };
struct text {
    const struct ptx *text;
    uint64_t params[PARAMS];
    unsigned groups, threads;
};

static int text_step(void *arg)
{
    const struct text *t = arg;

    return ptx_run(t->text, t->params, t->groups, t->threads);
}

static void run_text(const struct grid *g, const struct function *f)
{
    struct text t = { .text = f->text,
                      .groups = g->groups < GROUPS ? g->groups : GROUPS,
                      .threads = g->threads < THREADS ? g->threads
                                                      : THREADS };

    for (int i = 0; i < f->params; i++)
        memcpy(&t.params[i], g->args[i], i || !f->narrow ? 8 : 4);
    dev_launch(g->s, text_step, &t, sizeof t);
}

static struct function functions[] = {
    { .name = "gtl_amo", .run = run_amo },
    { .name = "gtl_write", .run = run_write },
    { .name = "gtl_wait", .run = run_wait },
    { .name = "gtl_blocks", .run = run_blocks },
    { .name = "gtl_reduce", .params = 5, .narrow = true },
    { .name = "gtl_pair_copy", .params = 6 },
    { .name = "gtl_pair_notify", .params = 3 }
};

/* One of the program's: every module has it anew. */
static struct function *own_function(const struct module *m, const char *name)
{
    static struct function *all;
    const struct dev_kernel *k = strstr(m->text, "// fake nvrtc")
                               ? dev_kernel_find(name) : NULL;
    struct function *f = k ? calloc(1, sizeof *f) : NULL;

    if (f) {
        f->name = k->name;
        f->own = k;
        f->next = all;
        all = f;
    }
    return f;
}

/* What the compiler says goes where the options ask for it. */
static int refuse(unsigned n, const int *options, void **values,
                  const char *why)
{
    char *log = NULL;
    size_t room = 0;

    for (unsigned i = 0; i < n; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            room = (size_t)(uintptr_t)values[i];
    }
    if (log && room)
        snprintf(log, room, "fake ptx input, line 1; fatal   : %s\n", why);
    return CUDA_ERROR_INVALID_PTX;
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned n,
                       int *options, void **values)
{
    struct context *c;
    struct module *m;
    const char *target;
    int sm = 0, rc;

    rc = fake_call_in("cuModuleLoadDataEx", &c);
    if (rc == CUDA_ERROR_INVALID_PTX)
        return refuse(n, options, values, "as FAKE_DEVICE_FAIL has it");
    if (rc)
        return rc;
    if (strncmp(image, ".version ", 9))
        return refuse(n, options, values, "missing .version directive");
    target = strstr(image, "\n.target sm_");
    if (!target || sscanf(target, "\n.target sm_%d", &sm) != 1)
        return refuse(n, options, values, "missing .target directive");
    if (sm > 60)
        return refuse(n, options, values, "the device is older");
    m = malloc(sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->magic = MODULE;
    m->text = strdup(image);
    *out = m;
    return CUDA_SUCCESS;
}

int cuModuleUnload(void *module)
{
    struct module *m = module;
    struct context *c;

    CALL_IN("cuModuleUnload", &c);
    UNSAFE();
    if (!m || m->magic != MODULE)
        return CUDA_ERROR_INVALID_HANDLE;
    m->magic = 0;
    free(m->text);
    free(m);
    return CUDA_SUCCESS;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
    struct module *m = module;
    struct function *own;
    struct context *c;
    char entry[96];

    CALL_IN("cuModuleGetFunction", &c);
    if (!m || m->magic != MODULE)
        return CUDA_ERROR_INVALID_HANDLE;
    own = own_function(m, name);
    if (own) {
        own->magic = FUNCTION;
        *out = own;
        return CUDA_SUCCESS;
    }
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    if (!strstr(m->text, entry))
        return CUDA_ERROR_NOT_FOUND;
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name))
            continue;
        if (functions[i].params && !functions[i].text)
            functions[i].text = ptx_read(m->text, name);
        if (functions[i].params && !functions[i].text)
            return CUDA_ERROR_NOT_FOUND;
        functions[i].magic = FUNCTION;
        *out = &functions[i];
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *handle,
                   void **args, void **extra)
{
    struct function *f = function;
    struct dev_stream *s;
    struct context *c;
    int rc;

    (void)shared;
    CALL_IN("cuLaunchKernel", &c);
    rc = fake_stream(handle, c, true, &s);
    if (rc)
        return rc;
    if (!f || f->magic != FUNCTION)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z ||
        block_x * block_y * block_z > 1024 || !args || extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (!f->launched) {
        dev_note("cuLaunchKernel", "waits: first");
        dev_sync_all(c->dev);
        f->launched = true;
    }
    if (f->own)
        return dev_kernel_run(s, f->own, grid_x, block_x, args[0])
               ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (f->text)
        run_text(&(struct grid){ s, args, grid_x, block_x }, f);
    else
        f->run(&(struct grid){ s, args, grid_x, block_x });
    return CUDA_SUCCESS;
}
