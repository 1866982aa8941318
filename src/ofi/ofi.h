/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi.h - peers on other nodes, over libfabric.
 * libfabric is bound at run time, and only where PEs are on several nodes.
 * Collective over the job, one thread.  Errors: 0 or -errno, logged here;
 * what fails later ends the job with a line. */
#ifndef OFI_OFI_H
#define OFI_OFI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* After the heap is open: chooses a provider, registers the segments,
 * publishes this PE's address and sets xport_net.  Does nothing if all PEs are
 * mapped. */
int ofi_open(void);
/* The same although all PEs may be mapped: to try a network. */
int ofi_open_always(void);
/* After the last synchronisation of all PEs. */
void ofi_close(void);

/* The device heap, when it is made: addr is symmetric room for
 * OFI_DEVICE_ADDR_SIZE bytes.  All PEs, with a barrier after it; -errno,
 * logged. */
enum { OFI_DEVICE_ADDR_SIZE = 16 };
int ofi_device_open(void *addr);
/* Not all PEs could: the memory is about to be freed. */
void ofi_device_unregister(void);

/* A device is open, whose memory the program may name: makes ready for it.
 * -errno, logged. */
int ofi_device_prepare(void);

/* Does this PE's NIC reach its device heap?  And, on all PEs, whether all NICs
 * do, which chooses the path of device memory of other nodes from then on. */
bool ofi_device_by_nic(void);
void ofi_device_choose_path(bool all);
/* Does the provider say that its NIC reaches device memory? */
bool ofi_device_hmem_offered(void);
/* The heap has grown to so many bytes.  Each PE registers them, or cancels that
 * where one cannot; publishes its key; and, when all have, fetches theirs. */
int ofi_device_register(size_t size, bool exact);
void ofi_device_register_cancel(void);
void ofi_device_publish_key(void);
void ofi_device_fetch_keys(void);
/* Does it reach both sides of that offset, where two pieces meet? */
bool ofi_device_seam_works(size_t off);
/* That path, in a line. */
const char *ofi_device_text(void);

/* The network between the nodes, in a line: for SHMEM_INFO. */
const char *ofi_text(void);

/* One line of what would be chosen on this machine, and why, or of what is
 * missing (-errno): for shmem_info, which has no job. */
int ofi_probe(char *out, size_t size);

/* ---- ofi_check.c: features of the NIC, each tried once ---- */
enum ofi_verdict { OFI_PASS, OFI_WARN, OFI_FAIL };
/* A line for people: the feature, and the hardware's behaviour. */
typedef void ofi_check_line(enum ofi_verdict v, const char *what,
                            const char *fmt, va_list args);
/* Is there a NIC of that provider at all?  why: the missing part. */
bool ofi_check_present(const char *provider, char *why, size_t size);
/* After ofi_open_always() and gtl_open(), before anything else is done. */
void ofi_check(ofi_check_line *line);

/* Why operations of streams on other nodes are done as stream_off_node() says.
 */
const char *ofi_trig_why(char *out, size_t size);

#endif
