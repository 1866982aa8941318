/* SPDX-License-Identifier: BSD-3-Clause */
/* The SONAME is the same from 1.17 to 2.x.  Its structures only grow at their
 * ends, and those that we fill are allocated by the library (fi_dupinfo) or
 * have zeros behind them (OFI_GROWS), so the symbols' newest versions serve an
 * older header.  Memory regions' attributes grew with the interface 1.20, and
 * are read as they were for users that request an older one. */
#include "ofi/net/ofi_int.h"
#include "base/dl.h"
#include "base/env.h"

#include <errno.h>
#include <stdio.h>

struct ofi_lib ofi_lib;
static void *handle;

enum { LEAST = FI_VERSION(1, 17), MOST = FI_VERSION(1, 18) };

/* From 1.18 on efa has atomics beside device memory. */
uint32_t ofi_lib_api(void)
{
    uint32_t has = ofi_lib.fi_version();

    return has < MOST ? has : MOST;
}

static int check_version(const char **why)
{
    static char text[96];
    uint32_t has = ofi_lib.fi_version();

    if (has >= LEAST)
        return 0;
    snprintf(text, sizeof text, "libfabric.so.1 is version %u.%u; install "
             "libfabric 1.17 or newer", FI_MAJOR(has), FI_MINOR(has));
    *why = text;
    return -ENOENT;
}

/* Stays open: providers leave threads and exit handlers behind. */
int ofi_lib_open(const char **why)
{
    static const char *const names[] = {
#ifdef SLUICE_OFI_LIB
        SLUICE_OFI_LIB,         /* the name given to configure */
#endif
        "libfabric.so.1", NULL
    };
#define OFI_SYM(f) { #f, &ofi_lib.f },
    static const struct dl_sym syms[] = { OFI_CALLS(OFI_SYM) };
#undef OFI_SYM
    int rc;

    if (handle)
        return check_version(why);
    /* A provider's library catches signals otherwise, which are the
     * program's. */
    env_foreign_default("IPATH_NO_BACKTRACE", "1");
    ofi_absent_load();
    rc = dl_open(names, syms, (int)(sizeof syms / sizeof *syms), &handle);
    if (rc == -ENOENT)
        *why = "libfabric.so.1 cannot be loaded; install libfabric";
    else if (rc == -ENOTSUP)
        *why = "a program linked with -static cannot load it; link with "
               "-static-shmem";
    else if (rc)
        *why = "libfabric.so.1 lacks a symbol; install libfabric 1.17 or newer";
    else
        rc = check_version(why);
    return rc;
}

const char *ofi_lib_path(void)
{
    return dl_path((void (*)(void))ofi_lib.fi_version);
}

const char *ofi_strerror(int rc)
{
    return ofi_lib.fi_strerror ? ofi_lib.fi_strerror(-rc) : "unknown error";
}
