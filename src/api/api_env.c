/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the checks of variables that env_load() takes as they are: text whose
 * format only its layer knows.  api_setup.c and both pages of shmem_info
 * --check call it, so that all refuse the same values.  SHMEM_FAULT is no row:
 * fault_load() also arms the sites that it names. */
#include "api/api_env.h"
#include "gtl/gtl.h"
#include "msg/msg.h"
#include "rt/rt_nic.h"

#include <stddef.h>

/* Each checks one variable: 0 or -EINVAL, logged. */
static int (*const checks[])(void) = {
    gtl_env_check,              /* SHMEM_DEVICE_COSTS */
    msg_env_check,              /* SHMEM_ST_EAGER */
    rt_nic_map_check            /* SHMEM_NIC_MAP */
};

int api_env_check(void)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks && !rc; i++)
        rc = checks[i]();
    return rc;
}
