/* SPDX-License-Identifier: BSD-3-Clause */
/* standin.h - the examples on stand-ins for GPUs' drivers: what CUDA and HIP
 * give them, by the calls of the drivers, which the library has loaded. */
#ifndef EXAMPLES_STANDIN_H
#define EXAMPLES_STANDIN_H

#include "../fake/device/dev.h"

#include <dlfcn.h>
#include <string.h>

typedef void *standin_Stream_t;
#define GPU(word) standin_##word

struct dev_kernel *example_kernels(void);       /* the last has no name */

/* The call of whichever driver there is. */
static inline void *driver(const char *cuda, const char *hip)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *call;

    call = lib ? dlsym(lib, cuda) : NULL;
    if (!lib && (lib = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD)))
        call = dlsym(lib, hip);
    if (!call) {
        fprintf(stderr, "no %s, no %s\n", cuda, hip);
        shmem_global_exit(1);
    }
    return call;
}
#define DRIVER(types, cuda, hip) ((int (*) types)driver(cuda, hip))

static inline int standin_SetDevice(int ordinal)
{
    static void *context;
    int error;

    if (dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD))
        return DRIVER((int), "", "hipSetDevice")(ordinal);
    error = DRIVER((void **, int), "cuDevicePrimaryCtxRetain",
                   "")(&context, ordinal);
    return error ? error : DRIVER((void *), "cuCtxSetCurrent", "")(context);
}

enum { standin_StreamNonBlocking = 1 };
static inline int standin_StreamCreateWithFlags(void **s, unsigned flags)
{
    return DRIVER((void **, unsigned, int), "cuStreamCreateWithPriority",
                  "hipStreamCreateWithPriority")(s, flags, 0);
}

static inline int standin_StreamSynchronize(void *s)
{
    return DRIVER((void *), "cuStreamSynchronize", "hipStreamSynchronize")(s);
}

static inline int standin_StreamDestroy(void *s)
{
    return DRIVER((void *), "cuStreamDestroy_v2", "hipStreamDestroy")(s);
}

static inline void standin_add(struct dev_kernel kernel)
{
    struct dev_kernel *k = example_kernels();

    while (k->name)
        k++;
    *k = kernel;
}

/* Groups of one item. */
static inline int standin_launch(void *stream, const char *name, unsigned n,
                                 const void *arg, size_t size)
{
    static const char text[] = "FAKEHIP", ptx[] =
        ".version 6.0\n.target sm_50\n// fake nvrtc\n";
    struct dev_kernel *k = example_kernels();
    static void *module;                /* of all of this process's */
    void *function, *args[] = { (void *)(uintptr_t)arg, NULL };
    uint64_t words[32];
    unsigned pointers = 0;
    int error = 0;

    while (strcmp(k->name, name))
        k++;
    /* The addresses, which come first, are large. */
    memcpy(words, arg, size);
    while (pointers < size / 8 && words[pointers] >> 32 != 0)
        pointers++;
    if (k->pointers != pointers)        /* else a launch before this one runs */
        k->pointers = pointers;
    if (!module && dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD))
        error = DRIVER((void **, const void *, unsigned, void *, void *),
                       "cuModuleLoadDataEx", "")(&module, ptx, 0, NULL, NULL);
    else if (!module)
        error = DRIVER((void **, const void *), "",
                       "hipModuleLoadData")(&module, text);
    if (!error)
        error = DRIVER((void **, void *, const char *), "cuModuleGetFunction",
                       "hipModuleGetFunction")(&function, module, name);
    if (error)
        return error;
    return DRIVER((void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void *, void **, void **),
                  "cuLaunchKernel", "hipModuleLaunchKernel")(
        function, n, 1, 1, 1, 1, 1, 0, stream, args, NULL);
}

#define KERNEL(name, type)                                                  \
    static void name##_item(const type *arg, unsigned i);                   \
    static void name(const struct dev_item *item, const void *arg)          \
    {                                                                       \
        name##_item((const type *)arg, item->group);                        \
    }                                                                       \
    static __attribute__((constructor)) void name##_known(void)             \
    {                                                                       \
        standin_add((struct dev_kernel){ #name, name, 1, 0,                 \
                                         sizeof(type) });                   \
    }                                                                       \
    static void name##_item(const type *arg, unsigned i)
#define LAUNCH(stream, name, n, arg) \
    TRY(standin_launch(stream, #name, n, arg, sizeof *(arg)))

#endif
