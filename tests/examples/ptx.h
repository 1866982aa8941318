/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx.h - examples whose kernels are the PTX that nvcc makes of the same source,
 * in the file that EXAMPLE_PTX names: the program of the host loads it by the
 * calls of CUDA's driver, or of its stand-in, and initializes the module.  The
 * kernels' functions in C are not called. */
#ifndef EXAMPLES_PTX_H
#define EXAMPLES_PTX_H

#include <dlfcn.h>
#include <shmemg.h>
#include <string.h>

typedef int (*ptx_retain)(void **context, int device);
typedef int (*ptx_current)(void *context);
typedef int (*ptx_load)(void **module, const void *text);
typedef int (*ptx_find)(void **function, void *module, const char *name);
typedef int (*ptx_start)(void *function, unsigned gx, unsigned gy, unsigned gz,
                         unsigned bx, unsigned by, unsigned bz,
                         unsigned shared, void *stream, void **args,
                         void **extra);

static inline void *ptx_call(const char *name)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    void *call = lib ? dlsym(lib, name) : NULL;

    if (!call) {
        fprintf(stderr, "no %s\n", name);
        shmem_global_exit(1);
    }
    return call;
}

static inline char *ptx_text(void)
{
    static char text[1 << 20];
    FILE *f = fopen(getenv("EXAMPLE_PTX"), "r");

    if (!*text && (!f || !fread(text, 1, sizeof text - 1, f))) {
        fprintf(stderr, "EXAMPLE_PTX cannot be read\n");
        shmem_global_exit(1);
    }
    if (f)
        fclose(f);
    return text;
}

/* The kernel's name in the text: as C++ has it, with its length before it. */
static inline const char *ptx_entry(const char *name)
{
    static char entry[128];
    char part[64];
    const char *at = ptx_text();

    snprintf(part, sizeof part, "%zu%s", strlen(name), name);
    while ((at = strstr(at, ".entry "))) {
        at += strlen(".entry ");
        snprintf(entry, sizeof entry, "%.*s", (int)strcspn(at, "("), at);
        if (strstr(entry, part))
            return entry;
    }
    fprintf(stderr, "no kernel %s\n", name);
    shmem_global_exit(1);
    return NULL;
}

static inline int ptx_launch(void *stream, const char *name, unsigned n,
                             const void *arg)
{
    static void *context, *module;
    void *function, *args[] = { (void *)(uintptr_t)arg, &n };
    int error = 0;

    if (!module) {
        error = ((ptx_retain)ptx_call("cuDevicePrimaryCtxRetain"))(&context,
                                                                   0);
        if (!error)
            error = ((ptx_current)ptx_call("cuCtxSetCurrent"))(context);
        if (!error)
            error = ((ptx_load)ptx_call("cuModuleLoadData"))(&module,
                                                             ptx_text());
#ifndef PTX_WITHOUT_STATE
        if (!error)
            error = shmemx_module_init(module);
#endif
    }
    if (!error)
        error = ((ptx_find)ptx_call("cuModuleGetFunction"))(
            &function, module, ptx_entry(name));
    if (error)
        return error;
    return ((ptx_start)ptx_call("cuLaunchKernel"))(
        function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, args, NULL);
}

#define KERNEL(name, type)                                                  \
    static __attribute__((unused)) void name##_item(const type *arg,        \
                                                    unsigned i)
#define LAUNCH(stream, name, n, arg)                                        \
    TRY(ptx_launch(stream, #name, (unsigned)(n), arg))

#endif
