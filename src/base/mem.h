/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.h - how much memory this process may still use: the machine's, or less
 * where a control group bounds it.  Pages of a memfd are charged when touched,
 * and then shortage is a kill, so who makes one checks the sum before. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

struct mem_bound {
    size_t bytes;
    char limit[160];            /* what sets the bound: for messages */
};
/* root is "" on a real machine; tests give a folder with proc/ and sys/. */
void mem_available(const char *root, struct mem_bound *out);

#endif
