/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl.h - the GPU transport layer: this PE's device, whichever vendor made it.
 *
 * One table of calls, and a driver behind it: cuda, hip, or software, a device
 * of threads; none answers -ENODEV to everything, so no slot is ever NULL.  A
 * process has one device, found by gtl_open() and kept until gtl_close().
 * Addresses are unified: an address names the same bytes, in host or device
 * memory, for the processor and the device.  struct gtl_device says what the
 * processor may do with device memory. A stream is the driver's own handle
 * (CUstream, hipStream_t), so a program's streams are used as they are; NULL
 * is the device's default stream.  An operation starts after those enqueued on
 * its stream before it, and operands given by address live until it has run.
 *
 * Threads: any call from any thread, after gtl_open; threads that share a
 * stream order their calls.  A call leaves the thread's current device and
 * context as they were. Errors: 0 or -errno, not logged; gtl_error() says what
 * the driver said. */
#ifndef GTL_GTL_H
#define GTL_GTL_H

#include "base/atomics.h"
#include "gtl/gtl_device.h"
#include "gtl/gtl_ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver in use and its device; gtl_none and zeros unless open. */
extern hidden const struct gtl_ops gtl_none;
extern hidden const struct gtl_ops *gtl;
extern hidden struct gtl_device gtl_device;
/* There may be memory that the processor must not touch. */
extern hidden bool gtl_device_only;

/* By SHMEM_DEVICE.  0 also for none; -errno, logged, where the device that is
 * asked for cannot be had.  Again after success: nothing. */
int gtl_open(int local);
/* The PCI address of the device that gtl_open() takes; makes no context. */
bool gtl_pci_address(int local, char pci[16]);
/* Are the device's own variables legal?  -EINVAL, logged. */
int gtl_env_check(void);
void gtl_close(void);
/* The time that SHMEM_DEVICE_COSTS has added in this process: the same in each
 * run. */
uint64_t gtl_charged_ns(void);
/* Has the program loaded a GPU driver of its own accord? */
bool gtl_program_loaded_driver(void);
/* At most so many groups of a grid are resident at once; 0: not known. */
unsigned gtl_resident_groups(unsigned items, size_t shared);
/* So many are, whatever they need; 0: not known. */
unsigned gtl_certain_groups(void);
/* Why this thread's last failure: "cuMemAlloc: out of memory (2)". */
const char *gtl_error(void);

/* Is it memory that the processor must not touch?  Symmetric addresses are
 * checked by their segment before. */
bool gtl_is_device_only(const void *p);

/* The same as copy() and so on, done when it returns, on streams of the
 * library's own, whatever the program's hold; a->result is any host memory. */
int gtl_copy_now(void *to, const void *from, size_t n);
int gtl_copy_blocks_now(void *to, const void *from, const struct gtl_blocks *b);
int gtl_fill_now(void *to, int byte, size_t n);
int gtl_amo_now(const struct gtl_amo *a);

#endif
