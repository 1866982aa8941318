/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx_place.h - registers that the hardware fills: where a thread is in its
 * grid, and what time it is. */
#ifndef FAKE_CUDA_PTX_PLACE_H
#define FAKE_CUDA_PTX_PLACE_H

/* The number of that name, or -1. */
int ptx_special(const char *name);

#endif
