/* SPDX-License-Identifier: BSD-3-Clause */
/* core_text.h - words for lines about waits, and about who keeps them waiting.
 * Threads: any; each text is one thread's.  What does not fit is left out. */
#ifndef CORE_CORE_TEXT_H
#define CORE_CORE_TEXT_H

#include "core/core_stall.h"

struct core_text {
    char at[800];
    size_t n;
};

void core_text_add(struct core_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Rounded. */
unsigned long long core_text_seconds(uint64_t ns);
/* "PE 3 (host b": what is said of it and a parenthesis follow. */
void core_text_pe(struct core_text *t, int pe);
/* ", in shmem_quiet for 3 s": of that PE. */
void core_text_activity(struct core_text *t, int pe,
                        const struct core_activity *d);
/* "0 to be == 5 at heap+0x40" */
void core_text_wanted(struct core_text *t, const struct core_waiter *w);
/* Is the process, of this node, stopped by a signal? */
bool core_text_stopped(uint64_t pid);
/* "PE 3 (host b)", in at least 96 bytes. */
void core_name_pe(int pe, char *out, size_t size);

#endif
