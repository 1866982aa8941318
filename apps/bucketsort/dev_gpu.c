/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_gpu.c - kernels by the vendors' calls, from libraries that the library
 * has loaded already (the drivers), or that are there or not (the compilers).
 * The declarations are of what is used, as the vendors' manuals have it. */
#include "dev_gpu.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both compilers have the same calls: 0 is success. */
static struct compiler {
    const char *(*GetErrorString)(int error);
    int (*CreateProgram)(void **out, const char *text, const char *name,
                         int headers, const char *const *header,
                         const char *const *header_name);
    int (*CompileProgram)(void *program, int options,
                          const char *const *option);
    int (*GetProgramLogSize)(void *program, size_t *out);
    int (*GetProgramLog)(void *program, char *out);
    int (*GetCodeSize)(void *program, size_t *out);
    int (*GetCode)(void *program, char *out);
    int (*DestroyProgram)(void **program);
} rtc;

static struct {
    int (*cuDeviceGet)(int *out, int ordinal);
    int (*cuDeviceGetAttribute)(int *out, int which, int device);
    int (*cuDevicePrimaryCtxRetain)(void **out, int device);
    int (*cuCtxGetCurrent)(void **out);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuModuleLoadDataEx)(void **out, const void *image, unsigned n,
                              int *option, void **value);
    int (*cuModuleUnload)(void *module);
    int (*cuModuleGetFunction)(void **out, void *module, const char *name);
    int (*cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared, void *stream,
                          void **args, void **extra);
    int (*cuGetErrorName)(int error, const char **out);
    int (*cuGetErrorString)(int error, const char **out);
} cu;

static struct {
    int (*hipSetDevice)(int device);
    int (*hipModuleLoadData)(void **out, const void *image);
    int (*hipModuleUnload)(void *module);
    int (*hipModuleGetFunction)(void **out, void *module, const char *name);
    int (*hipModuleLaunchKernel)(void *function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared,
                                 void *stream, void **args, void **extra);
    const char *(*hipGetErrorString)(int error);
} hip;

struct symbol {
    const char *name;
    void *slot;
};
#define CU(name) { #name, &cu.name }
#define HIP(name) { #name, &hip.name }

enum { COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76 };        /* attributes */

static bool bind(void *library, const char *prefix, const struct symbol *s,
                 size_t n)
{
    char name[64];
    void *at;

    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s%s", prefix, s[i].name);
        at = dlsym(library, name);
        if (!at)
            return false;
        memcpy(s[i].slot, &at, sizeof(at));
    }
    return true;
}

/* The first of these that is there; loaded: already. */
static void *library(const char *const *list, bool loaded)
{
    void *found = NULL;

    for (; *list && !found; list++)
        found = dlopen(*list, RTLD_NOW | (loaded ? RTLD_NOLOAD : 0));
    return found;
}

/* ------------------------------------------------------------- compilers ---- */

static bool bind_compiler(void *from, const char *prefix, const char *code)
{
    char code_size[32], code_get[32];
    const struct symbol symbols[] = {
        { "GetErrorString", &rtc.GetErrorString },
        { "CreateProgram", &rtc.CreateProgram },
        { "CompileProgram", &rtc.CompileProgram },
        { "GetProgramLogSize", &rtc.GetProgramLogSize },
        { "GetProgramLog", &rtc.GetProgramLog },
        { code_size, &rtc.GetCodeSize }, { code_get, &rtc.GetCode },
        { "DestroyProgram", &rtc.DestroyProgram },
    };

    snprintf(code_size, sizeof(code_size), "Get%sSize", code);
    snprintf(code_get, sizeof(code_get), "Get%s", code);
    return bind(from, prefix, symbols, sizeof(symbols) / sizeof(symbols[0]));
}

/* The first line of what the compiler says, if it says anything. */
static void complaint(struct dev_gpu *g, void *program, int error)
{
    size_t n = 0;
    char *log;

    snprintf(g->said, sizeof(g->said), "the compiler: %s",
             rtc.GetErrorString(error));
    if (rtc.GetProgramLogSize(program, &n) || n < 2)
        return;
    log = calloc(1, n + 1);
    if (log && rtc.GetProgramLog(program, log) == 0 && log[0])
        snprintf(g->said, sizeof(g->said), "the compiler: %.*s",
                 (int)strcspn(log, "\n"), log);
    free(log);
}

/* The code, to be freed; NULL: said. */
static char *compile(struct dev_gpu *g, const char *text,
                     const char *const *options, int n)
{
    void *program = NULL;
    char *code = NULL;
    size_t size = 0;
    int error = rtc.CreateProgram(&program, text, "kernels", 0, NULL, NULL);

    if (error) {
        snprintf(g->said, sizeof(g->said), "the compiler: %s",
                 rtc.GetErrorString(error));
        return NULL;
    }
    error = rtc.CompileProgram(program, n, options);
    if (!error)
        error = rtc.GetCodeSize(program, &size);
    if (!error)
        code = calloc(1, size + 1);
    if (!error && code)
        error = rtc.GetCode(program, code);
    if (error)
        complaint(g, program, error);
    else if (!code)
        snprintf(g->said, sizeof(g->said), "no memory for their code");
    if (error) {
        free(code);
        code = NULL;
    }
    rtc.DestroyProgram(&program);
    return code;
}

/* ------------------------------------------------------------------ CUDA ---- */

static int cuda_did(struct dev_gpu *g, const char *call, int error)
{
    const char *name = NULL, *text = NULL;

    if (error == 0)
        return 0;
    if (cu.cuGetErrorName(error, &name) || !name)
        name = "an error without a name";
    if (cu.cuGetErrorString(error, &text) || !text)
        text = "no text";
    snprintf(g->said, sizeof(g->said), "%s: %s (%d): %s", call, name, error,
             text);
    return -1;
}
#define DID(call, args) cuda_did(g, #call, cu.call args)

/* The driver takes PTX; its age is that of the device, which all later ones
 * read. */
static char *cuda_code(struct dev_gpu *g, int device, const char *text)
{
    static const char *const names[] = {
        "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
        NULL
    };
    char arch[48];
    const char *options[] = { arch };
    void *compiler = library(names, false);
    int major = 0, minor = 0;

    if (!compiler || !bind_compiler(compiler, "nvrtc", "PTX")) {
        snprintf(g->said, sizeof(g->said), "libnvrtc.so is not there: install "
                 "CUDA's run-time compiler (Debian: libnvrtc11.2) or use %s",
                 g->otherwise);
        return NULL;
    }
    if (DID(cuDeviceGetAttribute, (&major, COMPUTE_MAJOR, device)) ||
        DID(cuDeviceGetAttribute, (&minor, COMPUTE_MINOR, device)))
        return NULL;
    snprintf(arch, sizeof(arch), "--gpu-architecture=compute_%d%d", major,
             minor);
    return compile(g, text, options, 1);
}

static int cuda_bind(struct dev_gpu *g)
{
    static const char *const names[] = { "libcuda.so.1", NULL };
    const struct symbol symbols[] = {
        CU(cuDeviceGet), CU(cuDeviceGetAttribute),
        CU(cuDevicePrimaryCtxRetain), CU(cuCtxGetCurrent), CU(cuCtxSetCurrent),
        CU(cuModuleLoadDataEx), CU(cuModuleUnload), CU(cuModuleGetFunction),
        CU(cuLaunchKernel), CU(cuGetErrorName), CU(cuGetErrorString),
    };
    void *driver = library(names, true);

    if (driver && bind(driver, "", symbols,
                       sizeof(symbols) / sizeof(symbols[0])))
        return 0;
    snprintf(g->said, sizeof(g->said), "libcuda.so.1 lacks a call");
    return -1;
}

/* The program's own context if it has one, as the library took it. */
static int cuda_context(struct dev_gpu *g, int device)
{
    void *context = NULL;

    if (DID(cuCtxGetCurrent, (&context)))
        return -1;
    if (context)
        return 0;
    return DID(cuDevicePrimaryCtxRetain, (&context, device)) ||
           DID(cuCtxSetCurrent, (context)) ? -1 : 0;
}

/* PTX that the driver is too old for, or the device, is compiled anew. */
static int cuda_load(struct dev_gpu *g, int ordinal, const char *ptx,
                     const char *text)
{
    char *code = NULL;
    int device, rc = -1;

    if (cuda_bind(g) || DID(cuDeviceGet, (&device, ordinal)) ||
        cuda_context(g, device))
        return -1;
    if (ptx[0])
        rc = DID(cuModuleLoadDataEx, (&g->module, ptx, 0, NULL, NULL));
    if (rc && text) {
        code = cuda_code(g, device, text);
        rc = code ? DID(cuModuleLoadDataEx, (&g->module, code, 0, NULL, NULL))
                  : -1;
        free(code);
    }
    for (int k = 0; k < g->count && !rc; k++)
        rc = DID(cuModuleGetFunction, (&g->function[k], g->module,
                                       g->names[k]));
    return rc;
}

static int cuda_launch(struct dev_gpu *g, int kernel, unsigned groups,
                       unsigned items, void **args, void *stream)
{
    return DID(cuLaunchKernel, (g->function[kernel], groups, 1, 1, items, 1, 1,
                               0, stream, args, NULL));
}
#undef DID

/* ------------------------------------------------------------------- HIP ---- */

static int hip_did(struct dev_gpu *g, const char *call, int error)
{
    if (error == 0)
        return 0;
    snprintf(g->said, sizeof(g->said), "%s: %s (%d)", call,
             hip.hipGetErrorString(error), error);
    return -1;
}
#define DID(call, args) hip_did(g, #call, hip.call args)

/* Up to HIP 6 the runtime has a copy of the compiler, which is of its
 * version. */
static void *hip_bind(struct dev_gpu *g)
{
    static const char *const runtimes[] = {
        "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", NULL
    };
    static const char *const compilers[] = {
        "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", NULL
    };
    const struct symbol symbols[] = {
        HIP(hipSetDevice), HIP(hipModuleLoadData), HIP(hipModuleUnload),
        HIP(hipModuleGetFunction), HIP(hipModuleLaunchKernel),
        HIP(hipGetErrorString),
    };
    void *runtime = NULL, *compiler = NULL;

    for (int i = 0; runtimes[i] && !runtime; i++) {
        const char *const list[] = { compilers[i], "libhiprtc.so", NULL };

        runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_NOLOAD);
        compiler = runtime ? library(list, false) : NULL;
    }
    if (!runtime || !bind(runtime, "", symbols,
                          sizeof(symbols) / sizeof(symbols[0]))) {
        snprintf(g->said, sizeof(g->said), "libamdhip64.so lacks a call");
        return NULL;
    }
    if ((compiler && bind_compiler(compiler, "hiprtc", "Code")) ||
        bind_compiler(runtime, "hiprtc", "Code"))
        return runtime;
    snprintf(g->said, sizeof(g->said), "libhiprtc.so is not there: install "
             "HIP's run-time compiler (Debian: libhiprtc-builtins5) or use %s",
             g->otherwise);
    return NULL;
}

static int hip_load(struct dev_gpu *g, int ordinal, const char *text)
{
    char *code;
    int rc;

    if (!hip_bind(g) || DID(hipSetDevice, (ordinal)))
        return -1;
    code = compile(g, text, NULL, 0);
    if (!code)
        return -1;
    rc = DID(hipModuleLoadData, (&g->module, code));
    free(code);
    for (int k = 0; k < g->count && !rc; k++)
        rc = DID(hipModuleGetFunction, (&g->function[k], g->module,
                                        g->names[k]));
    return rc;
}

static int hip_launch(struct dev_gpu *g, int kernel, unsigned groups,
                      unsigned items, void **args, void *stream)
{
    return DID(hipModuleLaunchKernel, (g->function[kernel], groups, 1, 1, items,
                                      1, 1, 0, stream, args, NULL));
}
#undef DID

/* ------------------------------------------------------------------- both ---- */

int dev_gpu_load(struct dev_gpu *g, const char *driver, int ordinal,
                 const char *ptx, const char *text)
{
    g->hip = strcmp(driver, "cuda") != 0;
    return g->hip ? hip_load(g, ordinal, text)
                  : cuda_load(g, ordinal, ptx, text);
}

void dev_gpu_unload(struct dev_gpu *g)
{
    if (g->module && g->hip)
        hip.hipModuleUnload(g->module);
    else if (g->module)
        cu.cuModuleUnload(g->module);
    g->module = NULL;
}

int dev_gpu_launch(struct dev_gpu *g, int kernel, unsigned groups,
                   unsigned items, void *argument, void *stream)
{
    void *args[] = { argument };

    return (g->hip ? hip_launch : cuda_launch)(g, kernel, groups, items, args,
                                               stream);
}
