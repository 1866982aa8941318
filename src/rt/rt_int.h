/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_int.h - what the files of rt share. */
#ifndef RT_RT_INT_H
#define RT_RT_INT_H

#include "rt/rt.h"

/* Cores this process may run on. */
int rt_topo_cores(void);

#endif
