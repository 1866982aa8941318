/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx.h - runs a kernel's text: as much of PTX as our loops are written in. */
#ifndef FAKE_CUDA_PTX_H
#define FAKE_CUDA_PTX_H

#include <stdint.h>

/* The kernel of that name in a module's text; NULL, and a line on stderr,
 * where it has what this does not know.  Never freed. */
struct ptx *ptx_read(const char *text, const char *name);
/* All threads of a grid, one after the other: 0 or -EFAULT. */
int ptx_run(const struct ptx *p, const uint64_t *params, unsigned groups,
            unsigned threads);

#endif
