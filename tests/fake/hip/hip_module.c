/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules: kernels are found by name, and are those of the library, compiled
 * for the processor from the same text, and those of FAKE_DEVICE_KERNELS. */
#include "hip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long word64;
typedef unsigned int word32;

static __thread word64 group, groups, item, items;

#define KERNEL static void
#define DEVICE static
#define FETCH_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define SWAP(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#define CAS(p, was, v) \
    __atomic_compare_exchange_n(p, was, v, 0, __ATOMIC_ACQ_REL, \
                                __ATOMIC_ACQUIRE)
#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define PAUSE() usleep(50)
#define GROUP group
#define GROUPS groups
#define ITEM item
#define ITEMS items
#define TEXT(...) __VA_ARGS__
#include "gtl/gtl_int.h"
#include "gtl/reduce.inc"
#define LOOPS(X) GTL_LOOPS(X)
#define LOOP(name, type, value) \
    case GTL_LOOP_##name: \
        for (word64 i = first; i < n; i += step) { \
            type a = ((const type *)x)[i], b = ((const type *)y)[i]; \
            ((type *)out)[i] = value; \
        } \
        break;
#include "gtl/hip/hip_kernels.inc"

/* The arguments of one launch. */
union arg {
    void *p;
    uint64_t u;
    long long d;
    uint32_t w;
    int i;
};
enum { MOST = 6 };
struct run {
    const struct hip_kernel *k;
    int device;
    unsigned groups, items;
    union arg a[MOST];
};

static __thread int device;     /* whose thread this is */

static void *at(const union arg *a, size_t n)
{
    return a->p && hip_mapped(device, a->p) ? dev_reach(hip_here(a->p), n)
                                            : NULL;
}

static int run_amo8(struct run *r)
{
    void *word = at(&r->a[1], 8), *result = at(&r->a[4], 8);

    if (!word || (r->a[4].p && !result) || !dev_atomic(r->device, r->a[1].p))
        return -EFAULT;
    sluice_amo8(r->a[0].i, word, r->a[2].u, r->a[3].u, result);
    dev_stored(word, 8);
    if (result)
        dev_stored(result, 8);
    return 0;
}

static int run_amo4(struct run *r)
{
    void *word = at(&r->a[1], 4), *result = at(&r->a[4], 4);

    if (!word || (r->a[4].p && !result) || !dev_atomic(r->device, r->a[1].p))
        return -EFAULT;
    sluice_amo4(r->a[0].i, word, r->a[2].w, r->a[3].w, result);
    dev_stored(word, 4);
    if (result)
        dev_stored(result, 4);
    return 0;
}

static int run_write(struct run *r)
{
    void *word = at(&r->a[0], 8);

    if (!word)
        return -EFAULT;
    sluice_write(word, r->a[1].u);
    dev_stored(word, 8);
    return 0;
}

/* dev_spin() has waited before. */
static int run_wait(struct run *r)
{
    void *word = at(&r->a[0], 8);

    if (!word)
        return -EFAULT;
    sluice_wait(word, r->a[1].u);
    return 0;
}

static const unsigned loop_sizes[] = {
#define SIZE(name, type, value) sizeof(type),
    GTL_LOOPS(SIZE)
#undef SIZE
};

static int run_reduce(struct run *r)
{
    size_t n = r->a[4].u * loop_sizes[r->a[0].i];
    void *out = at(&r->a[1], n), *a = at(&r->a[2], n), *b = at(&r->a[3], n);

    if (!out || !a || !b)
        return -EFAULT;
    groups = r->groups < 2 ? r->groups : 2;
    items = r->items;
    for (group = 0; group < groups; group++)
        for (item = 0; item < items; item++)
            sluice_reduce(r->a[0].i, out, a, b, r->a[4].u);
    dev_stored(out, n);
    return 0;
}

static int run_peer_copy(struct run *r)
{
    size_t n = r->a[3].u;
    void *was = at(&r->a[0], 8), *to = at(&r->a[1], n), *from = at(&r->a[2], n);

    if (!was || !to || !from || (uintptr_t)to % r->a[4].w ||
        (uintptr_t)from % r->a[4].w)
        return -EFAULT;
    groups = r->groups;
    items = r->items;
    for (group = 0; group < groups; group++)
        for (item = 0; item < items; item++)
            sluice_peer_copy(was, to, from, n, r->a[4].i);
    dev_stored(to, n);
    return 0;
}

static int run_peer_copy_notify(struct run *r)
{
    void *was = at(&r->a[0], 8), *flag = at(&r->a[1], 8);
    void *also = at(&r->a[2], 8);

    if (!was || !flag || !also)
        return -EFAULT;
    sluice_peer_copy_notify(was, flag, also);
    dev_stored(flag, 8);
    dev_stored(also, 8);
    return 0;
}

/* The first and the last block are the device's to touch. */
static void *span(const union arg *a, const struct run *r,
                  const union arg *stride, size_t unit)
{
    size_t len = r->a[2].u * unit;
    long long offset = (long long)(r->a[3].u - 1) * stride->d * (long long)unit;
    char *first = at(a, len);
    union arg last = { .p = (char *)a->p + offset };

    return first && at(&last, len) == first + offset ? first : NULL;
}

#define BLOCKS(unit) \
static int run_blocks##unit(struct run *r) \
{ \
    void *to = span(&r->a[0], r, &r->a[4], unit); \
    void *from = span(&r->a[1], r, &r->a[5], unit); \
    if (!to || !from) \
        return -EFAULT; \
    groups = r->groups; \
    items = r->items; \
    for (group = 0; group < groups; group++) \
        for (item = 0; item < items; item++) \
            sluice_blocks##unit(to, from, r->a[2].u, r->a[3].u, r->a[4].d, \
                                r->a[5].d); \
    dev_stored(NULL, 0); \
    return 0; \
}
BLOCKS(1)
BLOCKS(4)
BLOCKS(8)

/* sizes: of the arguments, in bytes. */
struct hip_kernel {
    const char *name, *sizes;
    int (*run)(struct run *r);
    const struct dev_kernel *own;       /* the program's, in place of run */
    struct hip_kernel *next;    /* of the program's: they stay */
};
static const struct hip_kernel kernels[] = {
    { "sluice_amo8", "48888", run_amo8, NULL, NULL },
    { "sluice_amo4", "48448", run_amo4, NULL, NULL },
    { "sluice_write", "88", run_write, NULL, NULL },
    { "sluice_wait", "88", run_wait, NULL, NULL },
    { "sluice_reduce", "48888", run_reduce, NULL, NULL },
    { "sluice_peer_copy", "88884", run_peer_copy, NULL, NULL },
    { "sluice_peer_copy_notify", "888", run_peer_copy_notify, NULL, NULL },
    { "sluice_blocks1", "888888", run_blocks1, NULL, NULL },
    { "sluice_blocks4", "888888", run_blocks4, NULL, NULL },
    { "sluice_blocks8", "888888", run_blocks8, NULL, NULL },
};

/* An image is "FAKEHIP" and, behind the 0, its variable "NAME SIZE", or "". */
enum { MODULE = 0x484d4f44 };
struct hip_module {
    unsigned magic;
    char name[64];
    size_t size;
    void *at;                   /* of the variable */
};

unsigned hipModuleLoadData(struct hip_module **out, const void *image)
{
    const char *variable = (const char *)image + 8;
    struct hip_module *m;
    int rc = 0;

    WORK(ModuleLoadData);
    if (memcmp(image, "FAKEHIP", 8))
        return hip_result(HIP_NO_BINARY);
    m = calloc(1, sizeof *m);
    if (!m)
        return hip_result(HIP_OUT_OF_MEMORY);
    m->magic = MODULE;
    if (sscanf(variable, "%63s %zu", m->name, &m->size) == 2)
        rc = dev_alloc(hip_current(), m->size, 4096, DEV_COARSE, &m->at);
    if (rc) {
        free(m);
        return hip_result(hip_error(rc));
    }
    if (m->at)
        memset(dev_reach(m->at, m->size), 0, m->size);
    *out = m;
    return hip_result(HIP_OK);
}

unsigned hipModuleUnload(struct hip_module *m)
{
    CALL(ModuleUnload);
    if (!m || m->magic != MODULE)
        return hip_result(HIP_INVALID_HANDLE);
    UNSAFE();
    m->magic = 0;
    if (m->at)
        dev_free(m->at);
    free(m);
    return hip_result(HIP_OK);
}

unsigned hipModuleGetGlobal(void **out, size_t *size, struct hip_module *m,
                            const char *name)
{
    CALL(ModuleGetGlobal);
    if (!out || !size || !name)
        return hip_result(HIP_INVALID_VALUE);
    if (!m || m->magic != MODULE)
        return hip_result(HIP_INVALID_HANDLE);
    if (!m->at || strcmp(name, m->name))
        return hip_result(HIP_NOT_FOUND);
    *out = m->at;
    *size = m->size;
    return hip_result(HIP_OK);
}

static struct hip_kernel *own_kernel(const char *name)
{
    static struct hip_kernel *all;
    const struct dev_kernel *k = dev_kernel_find(name);
    struct hip_kernel *f = k ? calloc(1, sizeof *f) : NULL;

    if (f) {
        f->name = k->name;
        f->own = k;
        f->next = all;
        all = f;
    }
    return f;
}

unsigned hipModuleGetFunction(struct hip_kernel **out, struct hip_module *m,
                              const char *name)
{
    (void)m;
    CALL(ModuleGetFunction);
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!strcmp(kernels[i].name, name)) {
            *out = (struct hip_kernel *)(uintptr_t)&kernels[i];
            return hip_result(HIP_OK);
        }
    }
    *out = own_kernel(name);
    return hip_result(*out ? HIP_OK : HIP_NOT_FOUND);
}

static int step(void *arg)
{
    struct run *r = arg;

    device = r->device;
    return r->k->run(r);
}

unsigned hipModuleLaunchKernel(struct hip_kernel *f, unsigned gx, unsigned gy,
                               unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared,
                               struct hip_stream *s, void **args,
                               void **extra)
{
    struct run r = { .k = f, .groups = gx, .items = bx };
    struct dev_stream *d;

    WORK(ModuleLaunchKernel);
    dev_note("launch", f->name);
    d = hip_stream_of(s);
    if (!d || !gx || bx > 1024 || gy != 1 || gz != 1 || by != 1 || bz != 1 ||
        shared || extra)
        return hip_result(HIP_INVALID_VALUE);
    if (f->own)
        return hip_result(dev_kernel_run(d, f->own, gx, bx, args[0])
                          ? HIP_INVALID_VALUE : HIP_OK);
    r.device = d->device;
    for (unsigned i = 0; f->sizes[i]; i++)
        memcpy(&r.a[i], args[i], (size_t)(f->sizes[i] - '0'));
    if (f->run == run_wait)
        dev_spin(d, f->name, hip_here(r.a[0].p), r.a[1].u, ~(uint64_t)0,
                 DEV_GEQ_UNSIGNED);
    dev_launch(d, step, &r, sizeof r);
    return hip_result(HIP_OK);
}
