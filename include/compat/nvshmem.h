/* SPDX-License-Identifier: BSD-3-Clause */
/* nvshmem.h - the names of NVSHMEM for programs that are ported; see
 * nvshmem_device.h. */
#include "nvshmem_device.h"
#include "nvshmem_host.h"
