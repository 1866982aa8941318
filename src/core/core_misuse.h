/* SPDX-License-Identifier: BSD-3-Clause */
/* core_misuse.h - warnings about calls that are refused; the program goes on,
 * and may do the same again a million times.  So of one call and cause a few
 * lines are printed, then one that says so, then none (SHMEM_LOG=debug:api:
 * all).  Threads: any. */
#ifndef CORE_CORE_MISUSE_H
#define CORE_CORE_MISUSE_H

#include "base/log.h"

#include <stdarg.h>

/* "call: text".  call is __func__ of the API function; it, code and the
 * format, not what is put in there, make the cause.  -EINVAL. */
int core_misuse(enum err_code code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
/* The same, with end behind the text. */
void core_misuse_end(enum err_code code, const char *call, const char *end,
                     const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0), cold));

#endif
