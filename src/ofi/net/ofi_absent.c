/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps out of the process two libraries that libfabric is linked with, in
 * Debian for one, where the machine lacks their NICs: loading them takes 0.2 s
 * (decision 76).  ofi_lib.c calls it before it loads libfabric.  The loader takes
 * a library that is there by its name, so ours are loaded first. */
#include "ofi/net/ofi_lib.h"
#include "base/dl.h"
#include "base/log.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The drivers' devices: Omni-Path, and InfiniPath before it. */
static bool has_nic(void)
{
    struct dirent *e;
    bool found = false;
    DIR *d = opendir("/dev");

    if (!d)
        return true;            /* it cannot be said */
    while (!found && (e = readdir(d)))
        found = !strncmp(e->d_name, "hfi1", 4) ||
                !strncmp(e->d_name, "ipath", 5);
    closedir(d);
    return found;
}

static bool is_loaded(const char *name)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

    if (handle)
        dlclose(handle);
    return handle != NULL;
}

/* From beside the library; where that is a part of a program, there are none. */
static void load_ours(const char *name)
{
    const char *self = dl_path((void (*)(void))ofi_absent_load);
    const char *slash = strrchr(self, '/');
    char path[4096];

    if (!slash)
        return;
    snprintf(path, sizeof path, "%.*s/sluice/%s", (int)(slash - self), self,
             name);
    if (dlopen(path, RTLD_LAZY | RTLD_LOCAL))
        log_info(LOG_OFI, "%s is loaded in place of the system's: there is no "
                 "NIC for it", path);
}

void ofi_absent_load(void)
{
    static const char *const names[] = { "libpsm2.so.2",
                                         "libpsm_infinipath.so.1" };

    if (dl_static() || has_nic())
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_loaded(names[i]))
            load_ours(names[i]);
}
