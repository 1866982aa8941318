/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings about refused calls, a few lines for each call and cause.  Called
 * by api, stream and msg from any thread.  Prints no more lines of a kind
 * after the third, so that a loop cannot flood the output. */
#include "core/core_misuse.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "core/core.h"

#include <errno.h>
#include <stdio.h>

enum { KINDS = 256, FEW = 3 };

struct kind {
    const char *call, *fmt;     /* by address: both are constants */
    enum err_code code;
    unsigned n;
};

static struct base_lock lock = LOCK_INIT;
static struct kind kinds[KINDS] GUARDED_BY(lock);
static unsigned n_kinds GUARDED_BY(lock);

/* How many refusals of that kind came before; the count stops past FEW.  A
 * kind for which there is no room counts as new each time. */
static unsigned count(const char *call, const char *fmt, enum err_code code)
{
    unsigned i = 0, n = 0;

    lock_acquire(&lock);
    while (i < n_kinds && (kinds[i].call != call || kinds[i].fmt != fmt ||
                           kinds[i].code != code))
        i++;
    if (i == n_kinds && i < KINDS)
        kinds[n_kinds++] = (struct kind){ call, fmt, code, 0 };
    if (i < n_kinds) {
        n = kinds[i].n;
        kinds[i].n += n <= FEW;
    }
    lock_release(&lock);
    return n;
}

void core_misuse_end(enum err_code code, const char *call, const char *end,
                     const char *fmt, va_list ap)
{
    unsigned n = log_on(LOG_DEBUG, LOG_API) ? 0 : count(call, fmt, code);
    char text[512];

    vsnprintf(text, sizeof text, fmt, ap);
    if (n < FEW)
        log_warn(code, "%s: %s%s", symbol_public(call), text, end);
    else if (n == FEW)
        log_warn(code, "%s: further lines of this kind are not printed; "
                 "SHMEM_LOG=debug:api prints them", symbol_public(call));
}

int core_misuse(enum err_code code, const char *call, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    core_misuse_end(code, call, "", fmt, ap);
    va_end(ap);
    return -EINVAL;
}
