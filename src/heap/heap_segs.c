/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_segs.c - where this PE's segments are, and what heap asks of other
 * layers: what all files of heap look at.  heap_open() and
 * heap_device_attach() fill it. */
#include "heap/heap_int.h"

hot_data struct heap_seg heap_segs[HEAP_SEGS];
size_t heap_agreed_size[HEAP_SEGS];
bool heap_device_host_access;
struct heap_hooks heap_hooks;
