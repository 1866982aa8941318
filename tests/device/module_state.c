/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of the state of kernels in modules and in code of the runtime API; see
 * module_state.sh. */
#include "../memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <shmemg.h>
#include <shmemx_st.h>
#include <string.h>

static int (*load)(void **, const void *), (*unload)(void *);
static int (*global)(void **, size_t *, void *, const char *);
static int (*wait_for)(void *stream);
/* CUDA's with options; of HIP the kind of copy. */
static int (*load_ex)(void **, const void *, unsigned, int *, void **);
static int (*copy)(void *, const void *, size_t, void *stream);
static int (*copy_kind)(void *, const void *, size_t, unsigned, void *stream);

static int (*stream_create)(void **, unsigned, int), (*stream_destroy)(void *);
static int (*begin)(void *stream, int mode), (*end)(void *stream, void **graph);
static int (*graph_destroy)(void *), (*alloc)(void **, size_t), (*free_it)(void *);

static int load_plain(void **out, const void *image)
{
    return load_ex(out, image, 0, NULL, NULL);
}

static int copy_default(void *to, const void *from, size_t n, void *stream)
{
    return copy_kind(to, from, n, 4, stream);
}

static bool is_cuda(void)
{
    return !strcmp(getenv("SHMEM_DEVICE"), "cuda");
}

static void bind_call(void *driver, const char *cuda, const char *hip,
                      void *out)
{
    void *call = dlsym(driver, is_cuda() ? cuda : hip);

    T_TRUE(call != NULL);
    memcpy(out, &call, sizeof call);
}

static void bind_driver(void)
{
    void *driver = dlopen(is_cuda() ? "libcuda.so.1" : "libamdhip64.so.6",
                          RTLD_NOW);

    T_TRUE(driver != NULL);
    load = load_plain;
    copy = copy_default;
    bind_call(driver, "cuModuleLoadDataEx", "hipModuleLoadData",
              is_cuda() ? (void *)&load_ex : (void *)&load);
    bind_call(driver, "cuMemcpyAsync", "hipMemcpyAsync",
              is_cuda() ? (void *)&copy : (void *)&copy_kind);
    bind_call(driver, "cuModuleUnload", "hipModuleUnload", &unload);
    bind_call(driver, "cuModuleGetGlobal_v2", "hipModuleGetGlobal", &global);
    bind_call(driver, "cuStreamSynchronize", "hipStreamSynchronize", &wait_for);
    bind_call(driver, "cuStreamCreateWithPriority", "hipStreamCreateWithPriority",
              &stream_create);
    bind_call(driver, "cuStreamDestroy_v2", "hipStreamDestroy",
              &stream_destroy);
    bind_call(driver, "cuStreamBeginCapture_v2", "hipStreamBeginCapture",
              &begin);
    bind_call(driver, "cuStreamEndCapture", "hipStreamEndCapture", &end);
    bind_call(driver, "cuGraphDestroy", "hipGraphDestroy", &graph_destroy);
    bind_call(driver, "cuMemAlloc_v2", "hipMalloc", &alloc);
    bind_call(driver, "cuMemFree_v2", "hipFree", &free_it);
}

/* A module with a variable of so many bytes, as nvcc writes it. */
static void *module_with(const char *name, size_t size)
{
    char image[256] = "FAKEHIP";
    void *m = NULL;

    if (is_cuda())
        snprintf(image, sizeof image, ".version 6.0\n.target sm_60\n"
                 ".address_size 64\n\n.const .align 8 .b8 %s[%zu];\n", name,
                 size);
    else
        snprintf(image + 8, sizeof image - 8, "%s %zu", name, size);
    T_EQ(load(&m, image), 0);
    return m;
}

static void *variable_of(void *module)
{
    void *at = NULL;
    size_t size = 0;

    T_EQ(global(&at, &size, module, "shmemi_dev_state"), 0);
    T_EQ(size, sizeof(shmemx_dev_t));
    return at;
}

/* What the copy has is the state of the default context, or nothing. */
static void expect(void *at, bool full)
{
    shmemx_dev_t want, none;

    memset(&none, 0, sizeof none);
    T_EQ(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &want), 0);
    T_EQ(want.my_pe, me);
    mem_expect(at, full ? &want : &none, sizeof want);
}

/* ---- code of the runtime API ---- */

static void *early_copy, *late_copy;
static bool late_known;
static int calls;

static int early(void **out)
{
    calls++;
    *out = early_copy;
    return 0;
}

static int late(void **out)
{
    if (!late_known)
        return 13;              /* cudaErrorInvalidSymbol */
    *out = late_copy;
    return 0;
}

static int without_kernels(void **out)
{
    (void)out;
    calls += 100;
    return -1;
}

static int misfit(void **out)
{
    (void)out;
    T_TRUE(!"called");
    return 0;
}

static void *empty_copy(void)
{
    void *p = mem_alloc_private(sizeof(shmemx_dev_t));

    T_TRUE(p != NULL);
    return p;
}

static void late_code(void)
{
    late_copy = empty_copy();
    mem_fill(late_copy, 0, sizeof(shmemx_dev_t));
    shmemx_dev_register(late, sizeof(shmemx_dev_t));
    mem_fill(late_copy, 0, sizeof(shmemx_dev_t));
    late_known = true;
    expect(late_copy, true);    /* shmemx_dev_get() tries again */
    shmemx_dev_unregister(late);
    mem_free_private(late_copy);
    shmemx_dev_register(misfit, sizeof(shmemx_dev_t) + 8);
}

/* As a runtime that loads code at the first use of its symbol. */
static int allocates(void **out)
{
    void *p;

    if (alloc(&p, 64) || free_it(p))
        return 900;
    *out = late_copy;
    return 0;
}

/* In mode 0, in which a driver refuses such calls to all threads. */
static void code_during_a_capture(void)
{
    void *s, *graph = NULL;

    late_copy = empty_copy();
    mem_fill(late_copy, 0, sizeof(shmemx_dev_t));
    T_EQ(stream_create(&s, 1, 0), 0);
    T_EQ(begin(s, 0), 0);
    shmemx_dev_register(allocates, sizeof(shmemx_dev_t));
    T_EQ(end(s, &graph), 0);
    T_TRUE(graph != NULL);
    expect(late_copy, true);
    T_EQ(graph_destroy(graph), 0);
    T_EQ(stream_destroy(s), 0);
    shmemx_dev_unregister(allocates);
    mem_free_private(late_copy);
}

/* ---- modules ---- */

static void modules(void)
{
    void *m = module_with("shmemi_dev_state", sizeof(shmemx_dev_t));
    void *other = module_with("something_else", sizeof(shmemx_dev_t));
    void *longer = module_with("shmemi_dev_state", sizeof(shmemx_dev_t) + 8);

    expect(variable_of(m), false);
    T_EQ(shmemx_module_init(m), 0);
    expect(variable_of(m), true);
    T_EQ(shmemx_module_init(m), 0);
    T_EQ(shmemx_module_init(other), -ENOENT);
    T_EQ(shmemx_module_init(longer), -EINVAL);
    T_EQ(shmemx_module_init(NULL), -EINVAL);
    T_EQ(shmemx_module_finalize(other), -EINVAL);
    T_EQ(shmemx_module_finalize(m), 0);
    expect(variable_of(m), false);
    T_EQ(shmemx_module_finalize(m), -EINVAL);
    T_EQ(unload(m), 0);
    T_EQ(unload(other), 0);
    T_EQ(unload(longer), 0);
}

/* The device heap comes after the copies, and is found in them. */
static void heap_opens(void *module)
{
    shmemx_dev_t was, is;
    void *p;

    mem_load(&was, variable_of(module), sizeof was);
    T_EQ(was.size[SHMEMI_DEV_DEVICE], 0);
    p = shmemg_malloc(64);
    T_TRUE(p != NULL);
    mem_load(&is, variable_of(module), sizeof is);
    T_TRUE((uintptr_t)p - is.base[SHMEMI_DEV_DEVICE] <
           is.size[SHMEMI_DEV_DEVICE]);
    expect(variable_of(module), true);
    expect(early_copy, true);
    shmemg_free(p);
}

/* The device in software has no modules, and does not ask for symbols. */
static int in_software(void)
{
    shmemx_dev_register(misfit, sizeof(shmemx_dev_t));
    memory_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmemx_module_init(&calls), -ENOSYS);
    shmemx_dev_unregister(misfit);
    return memory_end();
}

int main(int argc, char **argv)
{
    static shmemx_dev_t left = { .magic = 1 }, none;
    void *module;

    if (argc > 1 && !strcmp(argv[1], "software"))
        return in_software();
    early_copy = empty_copy();
    shmemx_dev_register(early, sizeof(shmemx_dev_t));
    shmemx_dev_register(early, sizeof(shmemx_dev_t));
    shmemx_dev_register(without_kernels, sizeof(shmemx_dev_t));
    device_begin(SHMEM_THREAD_SINGLE);
    bind_driver();
    T_EQ(calls, 0);
    module = module_with("shmemi_dev_state", sizeof(shmemx_dev_t));
    T_EQ(shmemx_module_init(module), 0);
    T_EQ(calls, 101);
    expect(early_copy, true);
    heap_opens(module);
    modules();
    late_code();
    code_during_a_capture();
    T_EQ(memory_end(), 0);
    /* Nothing of the library is left in them. */
    T_EQ(copy(&left, early_copy, sizeof left, NULL), 0);
    T_EQ(wait_for(NULL), 0);
    T_TRUE(!memcmp(&left, &none, sizeof left));
    left.magic = 1;
    T_EQ(copy(&left, variable_of(module), sizeof left, NULL), 0);
    T_EQ(wait_for(NULL), 0);
    T_TRUE(!memcmp(&left, &none, sizeof left));
    T_EQ(unload(module), 0);
    return T_DONE();
}
