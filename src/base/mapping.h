/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.h - what an address of this process belongs to.  Threads: any. */
#ifndef BASE_MAPPING_H
#define BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

/* "on the stack of this thread", "data of libfoo.so", "private memory, such as
 * malloc's", for a line of an error; false: nothing is mapped there, or memory of
 * this library.  Reads /proc/self/maps. */
bool mapping_describe(const void *at, char *text, size_t size);

#endif
