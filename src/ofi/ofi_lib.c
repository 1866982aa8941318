/* SPDX-License-Identifier: BSD-3-Clause */
/* The SONAME is the same from 1.17 to 2.x.  Its structures only grow at their
 * ends, and those that we fill are allocated by the library (fi_dupinfo), so
 * the symbols' newest versions serve an older header. */
#include "ofi/ofi_int.h"
#include "base/dl.h"
#include "base/env.h"

#include <errno.h>

struct ofi_lib ofi_lib;
static void *handle;

/* Stays open: providers leave threads and exit handlers behind. */
int ofi_lib_open(const char **why)
{
    static const char *const names[] = {
#ifdef SLUICE_OFI_LIB
        SLUICE_OFI_LIB,         /* as configure was told */
#endif
        "libfabric.so.1", NULL
    };
#define OFI_SYM(f) { #f, &ofi_lib.f },
    static const struct dl_sym syms[] = { OFI_CALLS(OFI_SYM) };
#undef OFI_SYM
    int rc;

    if (handle)
        return 0;
    /* A provider's library catches signals otherwise, which are the
     * program's. */
    env_foreign_default("IPATH_NO_BACKTRACE", "1");
    rc = dl_open(names, syms, (int)(sizeof syms / sizeof *syms), &handle);
    if (rc == -ENOENT)
        *why = "libfabric.so.1 cannot be loaded; install libfabric";
    else if (rc == -ENOTSUP)
        *why = "a program linked with -static cannot load it; link with "
               "-static-shmem";
    else if (rc)
        *why = "libfabric.so.1 lacks a symbol; install libfabric 1.17 or newer";
    return rc;
}

const char *ofi_strerror(int rc)
{
    return ofi_lib.fi_strerror ? ofi_lib.fi_strerror(-rc) : "unknown error";
}
