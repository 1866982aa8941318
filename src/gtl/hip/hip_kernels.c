/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_kernels.c - the library's kernels on AMD's GPUs: hiprtc compiles them at
 * open, since machine code is for one kind of GPU only. All are loaded and
 * run once there: a first launch later may allocate, and so wait for a stream
 * that waits for this PE. */
#include "gtl/hip/hip_int.h"
#include "base/dl.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 256, MOST_GROUPS = 256, MOST_REDUCE = 2048 };

static const char source[] =
#include "gtl/hip/hip_source.inc"
    ;

enum kernel {
    AMO8, AMO4, WRITE, WAIT, REDUCE, BLOCKS8, BLOCKS4, BLOCKS1,
    PEER_COPY, PEER_COPY_NOTIFY, N_KERNELS
};
static const char *const names[N_KERNELS] = {
    "sluice_amo8", "sluice_amo4", "sluice_write", "sluice_wait",
    "sluice_reduce", "sluice_blocks8", "sluice_blocks4", "sluice_blocks1",
    "sluice_peer_copy", "sluice_peer_copy_notify"
};

static struct {
#define SLOT(result, name, args) result (*name)args;
    HIPRTC_CALLS(SLOT)
#undef SLOT
} rtc;
static struct hip_module *module;
static struct hip_kernel *kernels[N_KERNELS];

/* The compiler must be of the runtime's version; up to 6 a copy of it is in
 * the runtime. */
static int bind_compiler(void)
{
    static void *library;
    char name[24];
    const char *const list[] = { name, "libhiprtc.so", NULL };
#define NEED(result, name, args) { "hiprtc" #name, &rtc.name },
    const struct dl_sym needs[] = { HIPRTC_CALLS(NEED) };
#undef NEED
    const int n = (int)(sizeof needs / sizeof *needs);
    int rc;

    if (library)
        return 0;
    snprintf(name, sizeof name, "libhiprtc.so.%d", gtl_hip_state.major);
    rc = dl_open(list, needs, n, &library);
    if (!rc)
        return 0;
    dl_load_optional(gtl_hip_state.library, needs, n);
    for (int i = 0; i < n; i++)
        if (!*(void **)needs[i].slot)
            return gtl_fail(-ENOSYS, name, "no compiler for kernels", -rc);
    library = gtl_hip_state.library;
    return 0;
}

static int rtc_did(unsigned error, const char *call)
{
    if (!error)
        return 0;
    return gtl_fail(-ENOSYS, call, rtc.GetErrorString(error), error);
}
#define RTC(name, ...) rtc_did(rtc.name(__VA_ARGS__), "hiprtc" #name)

/* The compiler's messages are for the log only. */
static void show_log(struct hip_program *p)
{
    size_t size = 0;
    char *text;

    if (rtc.GetProgramLogSize(p, &size) || size < 2)
        return;
    text = calloc(1, size + 1);
    if (text && !rtc.GetProgramLog(p, text))
        log_info(LOG_GTL, "hiprtcCompileProgram: %s", text);
    free(text);
}

/* With no option that names one it compiles for the current device.  A product
 * and a sum are rounded apart, as on the host. */
static int compile(char **out)
{
    const char *options[] = { "-ffp-contract=off" };
    struct hip_program *p;
    char *code = NULL;
    size_t size = 0;
    int rc = RTC(CreateProgram, &p, source, "sluice", 0, NULL, NULL);

    if (rc)
        return rc;
    rc = RTC(CompileProgram, p, 1, options);
    if (rc)
        show_log(p);
    if (!rc)
        rc = RTC(GetCodeSize, p, &size);
    if (!rc) {
        code = malloc(size);
        rc = code ? RTC(GetCode, p, code)
                  : gtl_fail(-ENOMEM, "malloc", "no memory", ENOMEM);
    }
    rtc.DestroyProgram(&p);
    if (rc)
        free(code);
    else
        *out = code;
    return rc;
}

static int load(const char *code)
{
    int rc = HIP(ModuleLoadData, &module, code);

    for (int i = 0; i < N_KERNELS && !rc; i++)
        rc = HIP(ModuleGetFunction, &kernels[i], module, names[i]);
    return rc;
}

static int run(enum kernel k, unsigned groups, unsigned items, void **args,
               void *s)
{
    return HIP(ModuleLaunchKernel, kernels[k], groups, 1, 1, items, 1, 1, 0,
               s, args, NULL);
}

static int each_once(uint64_t *at, void *s)
{
    struct gtl_amo a = { .op = AMO_ADD, .word = at };
    struct gtl_blocks b = { .count = 1 };
    struct gtl_reduce r = {
        .op = GTL_RED_AND, .out = at + 8, .a = at, .b = at, .n = 1
    };
    struct gtl_peer_copy two = {
        .arrivals = at, .arrival = at + 1, .to = at + 2, .from = at + 3, .n = 8,
        .flags = { at + 4, at + 5 }
    };
    int rc = gtl_hip_kernel_write(at, 1, s);

    if (!rc)
        rc = gtl_hip_kernel_wait(at, 1, s);
    for (a.size = 4; a.size <= 8 && !rc; a.size += 4)
        rc = gtl_hip_kernel_amo(&a, s);
    for (b.len = 1; b.len <= 8 && !rc; b.len *= 2) {
        b.to_stride = b.from_stride = (ptrdiff_t)b.len;
        rc = gtl_hip_kernel_blocks(at + 8, at, &b, s);
    }
    if (!rc)
        rc = gtl_hip_kernel_reduce(&r, s);
    if (!rc)
        rc = gtl_hip_kernel_peer_copy(&two, s);
    return rc;
}

/* On words of its own. */
static int warm_up(void)
{
    void *s, *p;
    int rc = gtl_hip_alloc(4096, &p);

    if (rc)
        return rc;
    rc = gtl_hip_stream_create(GTL_NORMAL, &s);
    if (rc)
        goto free;
    rc = each_once(p, s);
    if (!rc)
        rc = gtl_hip_stream_sync(s);
    gtl_hip_stream_destroy(s);
free:
    gtl_hip_free(p);
    return rc;
}

int gtl_hip_kernels_open(void)
{
    char *code = NULL;
    int rc = bind_compiler();

    if (!rc)
        rc = compile(&code);
    if (rc)
        return rc;
    rc = load(code);
    free(code);
    if (!rc)
        rc = warm_up();
    if (rc) {
        gtl_hip_kernels_close();
        return rc;
    }
    gtl_hip_state.kernels = true;
    return 0;
}

void gtl_hip_kernels_close(void)
{
    if (module)
        HIP(ModuleUnload, module);
    module = NULL;
    gtl_hip_state.kernels = false;
}

int gtl_hip_kernel_amo(const struct gtl_amo *a, void *s)
{
    int op = (int)a->op;
    void *word = gtl_hip_device_address(a->word);
    void *result = a->result ? gtl_hip_device_address(a->result) : NULL;
    uint64_t value = a->value, cond = a->cond;
    uint32_t value4 = (uint32_t)value, cond4 = (uint32_t)cond;
    void *args8[] = { &op, &word, &value, &cond, &result };
    void *args4[] = { &op, &word, &value4, &cond4, &result };

    return a->size == 8 ? run(AMO8, 1, 1, args8, s)
                        : run(AMO4, 1, 1, args4, s);
}

/* In units of what all the addresses and lengths are multiples of. */
int gtl_hip_kernel_blocks(void *to, const void *from,
                          const struct gtl_blocks *b, void *s)
{
    void *t = gtl_hip_device_address(to), *f = gtl_hip_device_address(from);
    uint64_t all = (uintptr_t)t | (uintptr_t)f | b->len |
                   (uint64_t)b->to_stride | (uint64_t)b->from_stride;
    int unit = all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
    uint64_t len = b->len / (unsigned)unit, count = b->count;
    long long to_stride = b->to_stride / unit;
    long long from_stride = b->from_stride / unit;
    uint64_t groups = (len * count + ITEMS - 1) / ITEMS;
    void *args[] = { &t, &f, &len, &count, &to_stride, &from_stride };

    if (groups > MOST_GROUPS)
        groups = MOST_GROUPS;
    return run(unit == 8 ? BLOCKS8 : unit == 4 ? BLOCKS4 : BLOCKS1,
               (unsigned)groups, ITEMS, args, s);
}

/* As many items as give each some values; as many groups as fill a GPU. */
int gtl_hip_kernel_reduce(const struct gtl_reduce *r, void *s)
{
    void *out = gtl_hip_device_address(r->out);
    void *a = gtl_hip_device_address((void *)(uintptr_t)r->a);
    void *b = gtl_hip_device_address((void *)(uintptr_t)r->b);
    struct gtl_reduce_loop l;
    uint64_t groups;
    int rc = gtl_reduce_find(r, &l), loop = rc ? 0 : (int)l.loop;
    void *args[] = { &loop, &out, &a, &b, &l.n };

    if (rc || !r->n)
        return rc;
    groups = (l.n + ITEMS - 1) / ITEMS;
    return run(REDUCE, groups < MOST_REDUCE ? (unsigned)groups : MOST_REDUCE,
               ITEMS, args, s);
}

/* A stream's kernels run one after another: the first keeps what the others
 * go by. */
int gtl_hip_kernel_peer_copy(const struct gtl_peer_copy *p, void *s)
{
    const struct gtl_amo come = {
        .op = AMO_ADD, .size = 8, .word = p->arrivals, .value = 1,
        .result = p->arrival
    };
    void *was = gtl_hip_device_address(p->arrival),
         *to = gtl_hip_device_address(p->to);
    void *from = gtl_hip_device_address(p->from);
    void *flag = gtl_hip_device_address(p->flags[0]),
         *second_flag = gtl_hip_device_address(p->flags[1]);
    uint64_t n = p->n;
    int unit = (int)gtl_copy_unit(to, from);
    void *copies[] = { &was, &to, &from, &n, &unit };
    void *flag_args[] = { &was, &flag, &second_flag };
    int rc = gtl_hip_kernel_amo(&come, s);

    if (!rc && n)
        rc = run(PEER_COPY, gtl_copy_groups(n, (unsigned)unit), ITEMS, copies,
                 s);
    return rc ? rc : run(PEER_COPY_NOTIFY, 1, 1, flag_args, s);
}

int gtl_hip_kernel_write(uint64_t *word, uint64_t value, void *s)
{
    void *p = gtl_hip_device_address(word);
    void *args[] = { &p, &value };

    return run(WRITE, 1, 1, args, s);
}

int gtl_hip_kernel_wait(uint64_t *word, uint64_t least, void *s)
{
    void *p = gtl_hip_device_address(word);
    void *args[] = { &p, &least };

    return run(WAIT, 1, 1, args, s);
}

/* ---- modules of the program ---- */

int gtl_hip_module_symbol(void *module_of_program, const char *name,
                          void **out, size_t *size)
{
    int was = gtl_hip_enter_relaxed();
    unsigned error = gtl_hip_rt.ModuleGetGlobal(out, size, module_of_program,
                                                name);
    int rc = gtl_hip_result(error, "hipModuleGetGlobal");

    gtl_hip_leave_relaxed(was);
    return error == HIP_NOT_FOUND ? -ENOENT : rc;
}
