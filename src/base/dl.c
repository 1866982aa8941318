/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds libraries that may be absent.  Called by rt, gtl and ofi at start-up.
 * Leaves either all function pointers of a table set or none. */
#include "base/dl.h"
#include "base/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

/* The dynamic linker has a name in every program that uses one. */
static int find_linker(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)out = true;
    return 1;                   /* the first object is the main program */
}

bool dl_static(void)
{
    bool linker = false;

    dl_iterate_phdr(find_linker, &linker);
    return !linker;
}

static int bind_all(void *handle, const char *lib, const struct dl_sym *syms,
                    int n_syms)
{
    void *p;

    for (int i = 0; i < n_syms; i++) {
        p = dlsym(handle, syms[i].name);
        if (!p) {
            log_info(LOG_BASE, "%s lacks %s", lib, syms[i].name);
            goto unbind;
        }
        /* A function pointer has the size of a data pointer in POSIX. */
        memcpy(syms[i].slot, &p, sizeof p);
    }
    return 0;
unbind:
    p = NULL;
    for (int i = 0; i < n_syms; i++)
        memcpy(syms[i].slot, &p, sizeof p);
    return -ENOSYS;
}

int dl_open(const char *const *names, const struct dl_sym *syms, int n_syms,
            void **out)
{
    int rc = -ENOENT;
    void *handle;

    if (dl_static()) {
        log_debug(LOG_BASE, "%s is not loaded into a static program", *names);
        return -ENOTSUP;
    }
    for (; *names; names++) {
        handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            log_debug(LOG_BASE, "dlopen: %s", dlerror());
            continue;
        }
        rc = bind_all(handle, *names, syms, n_syms);
        if (!rc) {
            *out = handle;
            return 0;
        }
        dlclose(handle);
    }
    return rc;
}

void dl_load_optional(void *handle, const struct dl_sym *syms, int n_syms)
{
    for (int i = 0; i < n_syms; i++) {
        void *p = dlsym(handle, syms[i].name);

        memcpy(syms[i].slot, &p, sizeof p);
    }
}

void dl_close(void *handle)
{
    if (handle)
        dlclose(handle);
}

const char *dl_path(void (*fn)(void))
{
    const void *at;
    Dl_info info;

    memcpy(&at, &fn, sizeof at);
    return dladdr(at, &info) && info.dli_fname ? info.dli_fname
                                               : "of an unknown path";
}
