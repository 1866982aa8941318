/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_segs.c - the table of this PE's segments, and the calls of other layers:
 * data that all files of heap read.  heap_open() and heap_device_attach() fill
 * it. */
#include "heap/heap_int.h"

hot_data struct heap_seg heap_segs[HEAP_SEGS];
size_t heap_agreed_size[HEAP_SEGS];
bool heap_device_host_access;
struct heap_hooks heap_hooks;
