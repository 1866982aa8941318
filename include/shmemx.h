/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx.h - what Sluice has beyond OpenSHMEM 1.6. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

/* The product's version; shmem.h tells that of the specification. */
#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

#endif
