/* SPDX-License-Identifier: BSD-3-Clause */
/* core_deferred.h - non-blocking operations that the device does on this node.
 * A context's copies go to a stream of the library's and are left there until
 * its next fence or quiet; contexts may share a stream.  False: not one of
 * these, and nothing has been done.  Only with gtl_device_only. */
#ifndef CORE_CORE_DEFERRED_H
#define CORE_CORE_DEFERRED_H

#include "core/core_device.h"

bool core_deferred_put(const struct core_ctx *ctx, const struct xport_addr *to,
                       const void *source, size_t len) __attribute__((cold));
bool core_deferred_get(const struct core_ctx *ctx, void *dest,
                       const struct xport_addr *from, size_t len)
    __attribute__((cold));
/* The signal comes after the data; its address and operator were checked. */
bool core_deferred_put_signal(const char *call, const struct core_ctx *ctx,
                              void *dest, const void *source, size_t len,
                              uint64_t *sig_addr, uint64_t signal, int sig_op,
                              int pe) __attribute__((cold));
/* All of the context's are complete, and sleepers check again. */
void core_deferred_complete(const struct core_ctx *ctx) __attribute__((cold));

#endif
