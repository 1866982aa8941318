/* SPDX-License-Identifier: BSD-3-Clause */
/* core_describe.h - the words for PEs, waits and activity records that the hang
 * report, the stall lines and error messages share.
 * Threads: any; a line belongs to one thread. */
#ifndef CORE_CORE_DESCRIBE_H
#define CORE_CORE_DESCRIBE_H

#include "base/line.h"
#include "core/core_activity.h"

/* "PE 3 (host b": the caller adds what it says of the PE and a parenthesis. */
void core_describe_pe(struct line *l, int pe);
/* ", in shmem_quiet for 3 s": of that PE, by its record. */
void core_describe_activity(struct line *l, int pe,
                            const struct core_activity *a);
/* The object of a wait: "0 to be == 5 at heap+0x40", "stream 0x...".
 * in_handler: in a signal handler or on another thread than the waiting one,
 * where the wait may be over and its memory given back. */
void core_describe_wait(struct line *l, const struct core_waiter *w,
                        bool in_handler);
/* "static data+0x40", or the address where it is not symmetric. */
void core_describe_address(struct line *l, const void *addr);
/* "PE 3 (host b)", in at least 96 bytes. */
void core_name_pe(int pe, char *out, size_t size);

/* Has a signal stopped that process of this node? */
bool core_process_is_stopped(uint64_t pid);

/* Nanoseconds on that clock since since_ns. */
uint64_t core_age_ns(clockid_t clock, uint64_t since_ns);

/* Reads what other threads write meanwhile, for a line alone; the thread
 * sanitizer would report it, and take a second for each word. */
#define CORE_RACY __attribute__((noinline, no_sanitize("thread")))

#endif
