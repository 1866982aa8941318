/* SPDX-License-Identifier: BSD-3-Clause */
/* The fence of all PEs of a machine, by membarrier(2).  Called by waits before
 * they sleep.  Where the kernel refuses it, only the caller is fenced and the
 * result says so. */
#include "base/membarrier.h"
#include "base/fault.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool registered;         /* atomic */

static bool call(int command)
{
    int saved = errno;
    bool done = !syscall(SYS_membarrier, command, 0, 0);

    errno = saved;
    return done;
}

bool membarrier_open(void)
{
    bool can = !fault_hit(FAULT_MEMBARRIER) &&
               call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

    __atomic_store_n(&registered, can, __ATOMIC_RELAXED);
    return can;
}

bool membarrier_works(void)
{
    return __atomic_load_n(&registered, __ATOMIC_RELAXED);
}

bool membarrier_all(void)
{
    /* The call fences the caller too, if it is done. */
    if (membarrier_works() && call(MEMBARRIER_CMD_GLOBAL_EXPEDITED))
        return true;
    atomics_full_fence();
    return false;
}
