/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_lockup.h - about streams that wait for long. */
#ifndef GTL_GTL_LOCKUP_H
#define GTL_GTL_LOCKUP_H

#include <stdbool.h>
#include <stdint.h>

/* Does that stream of the software device wait now, and for what? */
bool gtl_waits(void *stream, uint64_t **word, uint64_t *least);
/* "; ...", what to try where so many streams wait for long: settings with
 * which streams of this device are known to lock up.  Or NULL.  With 0: before
 * any does. */
const char *gtl_lockup_hint(unsigned streams);

#endif
