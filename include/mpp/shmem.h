/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmem.h - the place of shmem.h before OpenSHMEM 1.1; deprecated. */
#ifndef MPP_SHMEM_H
#define MPP_SHMEM_H

#include "../shmem.h"

#endif
