/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c - shmem_info --check cxi: opens the library's network as a job
 * would, and tries each request that the library makes of the NIC.  main.c
 * calls it in place of any other report. */
#include "info.h"
#include "api/api_env.h"
#include "base/env.h"
#include "base/log.h"
#include "gtl/gtl.h"
#include "ofi/ofi.h"
#include "rt/rt.h"
#include "sm/sm.h"
#include "xport/xport.h"

#include <stdlib.h>

enum { NO_NIC = 3 };            /* the exit status */

static void line(enum ofi_verdict v, const char *what, const char *fmt,
                 va_list args)
{
    static const enum verdict verdicts[] = {
        [OFI_PASS] = PASS, [OFI_WARN] = WARN, [OFI_FAIL] = FAIL
    };

    say_args(verdicts[v], what, fmt, args);
}

/* Of a heap no more than the checks need is registered. */
static bool load(void)
{
    setenv("SHMEM_OFI_PROVIDER", "cxi", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "4m", 1);
    setenv("SHMEM_STATIC_DATA", "0", 1);
    return !env_load() && !api_env_check();
}

static void try(void)
{
    if (xport_open(rt_job.n_pes)) {
        say(FAIL, "memory", "see the line above");
        return;
    }
    if (sm_open()) {
        say(FAIL, "memory", "see the line above");
    } else {
        if (ofi_open_always())
            say(FAIL, "VNI", "the network does not open, see the line above");
        else
            ofi_check(line);
        ofi_close();
        sm_close();
    }
    xport_close();
}

int info_check_cxi(void)
{
    char why[200];

    info_check_begin();
    if (!load()) {
        say(FAIL, "environment", "a variable has a bad value, see the line "
            "above; correct or unset it");
        return info_check_end();
    }
    if (!ofi_check_present("cxi", why, sizeof why)) {
        say(NONE, "cxi", "no Slingshot network here: %s", why);
        info_check_end();
        return NO_NIC;
    }
    if (rt_open()) {
        say(FAIL, "launcher", "see the line above");
        return info_check_end();
    }
    if (gtl_open(rt_job.local))
        say(FAIL, "device", "see the line above; correct or unset "
            "SHMEM_DEVICE");
    else
        try();
    gtl_close();
    rt_close();
    return info_check_end();
}
