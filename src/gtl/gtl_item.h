/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_item.h - the item of a grid that this thread runs: on the software
 * device, whose kernels are C functions of this process.  Callable from any
 * thread. */
#ifndef GTL_GTL_ITEM_H
#define GTL_GTL_ITEM_H

#include "base/atomics.h"
#include "shmemx_kernel.h"

#include <stdbool.h>
#include <stddef.h>

/* NULL: this thread runs no kernel. */
extern hidden __thread const struct shmemx_item *gtl_item;
/* The grid that it belongs to, and what there is to know of one for whose groups
 * others wait: false if nothing. */
extern hidden __thread const void *gtl_item_grid;
bool gtl_item_describe_grid(const void *grid, char *text, size_t size);
/* How many groups this thread has begun to run. */
extern hidden __thread unsigned gtl_item_groups;

#endif
