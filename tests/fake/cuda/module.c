/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules: what their text has is read here, and found by its name.  Some of
 * the library's kernels are built in, and so are the program's of what the
 * stand-in for nvrtc has made; the text of all others is run. */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the program's: every module has it anew. */
static struct function *own_function(const struct module *m, const char *name)
{
    static struct function *all;
    const struct dev_kernel *k = m->ptx ? NULL : dev_kernel_find(name);
    struct function *f = k ? calloc(1, sizeof *f) : NULL;

    if (f) {
        f->magic = FUNCTION;
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

/* The first line that is no comment. */
static const char *first_line(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (strncmp(text, "//", 2))
            return text;
        text += strcspn(text, "\n");
    }
}

/* The capability that the device says it has; the library's kernels are for
 * the oldest one. */
static int newest(const char *text)
{
    if (strstr(text, ".entry gtl_amo("))
        return 60;
    return dev_setup()->is == DEV_BARE ? 75 : 90;
}

/* PTX 8 is CUDA 12's, and so on; of a driver that is not named, all are. */
static bool too_new(const char *version)
{
    int major = 0, minor = 0;

    sscanf(version, ".version %d.%d", &major, &minor);
    return dev_setup()->driver &&
           (major + 4) * 1000 + minor * 10 > fake_version();
}

static int load(const char *image, unsigned n, int *options, void **values,
                struct context *c, void **out)
{
    const char *version = first_line(image), *target;
    struct module *m;
    char why[200] = "";
    int sm = 0, rc;

    if (strncmp(version, ".version ", 9))
        return refuse(n, options, values, "missing .version directive");
    target = strstr(version, "\n.target sm_");
    if (!target || sscanf(target, "\n.target sm_%d", &sm) != 1)
        return refuse(n, options, values, "missing .target directive");
    if (sm > newest(image))
        return refuse(n, options, values, "the device is older");
    if (too_new(version))
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    m = calloc(1, sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    rc = strstr(image, "// fake nvrtc") ? 0
       : ptx_load(image, c->dev, why, sizeof why, &m->ptx);
    if (rc) {
        free(m);
        return rc == -EINVAL ? refuse(n, options, values, why)
                             : CUDA_ERROR_OUT_OF_MEMORY;
    }
    m->magic = MODULE;
    m->refs = 1;
    *out = m;
    return CUDA_SUCCESS;
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned n,
                       int *options, void **values)
{
    struct context *c;
    int rc;

    rc = fake_call_in("cuModuleLoadDataEx", &c);
    if (rc == CUDA_ERROR_INVALID_PTX)
        return refuse(n, options, values, "as FAKE_DEVICE_FAIL has it");
    return rc ? rc : load(image, n, options, values, c, out);
}

int cuModuleLoadData(void **out, const void *image)
{
    struct context *c;

    CALL_IN("cuModuleLoadData", &c);
    return load(image, 0, NULL, NULL, c, out);
}

void fake_module_release(struct module *m)
{
    struct function *f;

    if (__atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (m->ptx)
        ptx_unload(m->ptx);
    while ((f = m->functions)) {
        m->functions = f->next;
        free(f);
    }
    free(m);
}

static struct module *module_of(void *handle)
{
    struct module *m = handle;

    return m && m->magic == MODULE ? m : NULL;
}

/* Kernels of it that still run keep what they need. */
int cuModuleUnload(void *module)
{
    struct module *m = module_of(module);
    struct context *c;

    CALL_IN("cuModuleUnload", &c);
    UNSAFE();
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    m->magic = 0;
    for (struct function *f = m->functions; f; f = f->next)
        f->magic = 0;
    fake_module_release(m);
    return CUDA_SUCCESS;
}

static struct function *interpreted(struct module *m, const char *name)
{
    static const char *const few[] = {
        "gtl_reduce", "gtl_peer_copy", "gtl_peer_copy_notify"
    };
    const struct ptx_kernel *k = m->ptx ? ptx_kernel(m->ptx, name) : NULL;
    struct function *f = m->functions;

    if (!k)
        return NULL;
    while (f && f->kernel != k)
        f = f->next;
    if (f)
        return f;
    f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (struct function){ .magic = FUNCTION, .kernel = k, .module = m,
                            .next = m->functions };
    f->shared = PTX_SHARED;
    for (unsigned i = 0; i < sizeof few / sizeof *few; i++)
        f->few |= !strcmp(name, few[i]);
    m->functions = f;
    return f;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
    struct module *m = module_of(module);
    struct function *f;
    struct context *c;

    CALL_IN("cuModuleGetFunction", &c);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    f = own_function(m, name);
    if (!f && m->ptx && ptx_kernel(m->ptx, name))
        f = fake_built_in(name);
    if (!f)
        f = interpreted(m, name);
    if (!f)
        return CUDA_ERROR_NOT_FOUND;
    *out = f;
    return CUDA_SUCCESS;
}

int cuModuleGetGlobal_v2(uint64_t *out, size_t *size, void *module,
                         const char *name)
{
    struct module *m = module_of(module);
    struct context *c;
    uint64_t at;
    size_t n;

    CALL_IN("cuModuleGetGlobal_v2", &c);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!m->ptx || !ptx_variable(m->ptx, name, &at, &n))
        return CUDA_ERROR_NOT_FOUND;
    if (out)
        *out = at;
    if (size)
        *size = n;
    return CUDA_SUCCESS;
}
