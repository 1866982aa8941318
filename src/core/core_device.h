/* SPDX-License-Identifier: BSD-3-Clause */
/* core_device.h - memory that the processor must not touch.
 * Where the processor reaches the device's memory, no call here is made:
 * gtl_device_only is false, and the routes map that memory like any other.
 * Elsewhere the device copies, and kernels do the atomics; every call here is
 * complete when it returns.  An error of the device ends the job. */
#ifndef CORE_CORE_DEVICE_H
#define CORE_CORE_DEVICE_H

#include "base/copy.h"
#include "core/core.h"
#include "gtl/gtl.h"
#include "gtl/gtl_copy_stream.h"

/* Of this PE, or of a peer as the device reaches it. */
bool core_is_device_only(const void *p) __attribute__((noinline));
static inline bool core_device_only(const void *p)
{
    return unlikely(gtl_device_only) && core_is_device_only(p);
}

/* SHMEM_ENABLE_DEVICE_AWARENESS=0: memory of the device that is not symmetric
 * is no local buffer. */
extern hidden bool core_unaware;
/* Is it such memory? */
bool core_is_private(const void *p) __attribute__((cold));
/* Ends the job then. */
void core_refuse_private(const char *call, const char *arg, const void *p)
    __attribute__((cold));
/* Of a local buffer of len bytes, on the way to the device or the network;
 * where neither has a part, the processor touches it. */
static inline void core_need_aware(const char *call, const char *arg,
                                   const void *p, size_t len)
{
    if (unlikely(core_unaware) && len)
        core_refuse_private(call, arg, p);
}

/* Where the device reaches that place, or 0. */
uintptr_t core_device_address_of(const struct xport_addr *at)
    __attribute__((cold));
/* Ends the job where rc is an error of the device. */
void core_device_need(int rc, const char *what, const void *p, size_t n)
    __attribute__((cold));

/* Where the device reaches that PE's memory, or 0. */
uintptr_t core_device_address(int world_pe, const void *sym)
    __attribute__((cold, noinline));

/* Between any places. */
void core_device_copy(void *to, const void *from, size_t n)
    __attribute__((cold, noinline));
static inline void core_copy(void *to, const void *from, size_t n)
{
    if (likely(!gtl_device_only))
        copy_bytes(to, from, n);
    else
        core_device_copy(to, from, n);
}

/* count blocks of len bytes, between any places; the strides of b are not
 * looked at. */
void core_device_copy_blocks(void *to, ptrdiff_t to_stride, const void *from,
                             ptrdiff_t from_stride,
                             const struct xport_blocks *b)
    __attribute__((cold, noinline));

/* A variable in device-only memory. */
uint64_t core_device_load(const void *p, size_t size)
    __attribute__((cold, noinline));
#define CORE_LOAD(T, p, device_only)                                        \
    (unlikely(device_only) ? (T)core_device_load(p, sizeof(T))              \
                           : __atomic_load_n(p, __ATOMIC_ACQUIRE))

/* Operations on peers that need the device: false where they do not, and the
 * transport to off-node peers is to do it.  Only with gtl_device_only. */
bool core_device_put(const struct xport_addr *to, const void *source,
                     size_t len)
    __attribute__((cold));
bool core_device_get(void *dest, const struct xport_addr *from, size_t len)
    __attribute__((cold));
bool core_device_put_blocks(const struct core_ctx *ctx,
                            const struct xport_addr *to, const void *source,
                            const struct xport_blocks *b)
    __attribute__((cold));
bool core_device_get_blocks(const struct core_ctx *ctx, void *dest,
                            const struct xport_addr *from,
                            const struct xport_blocks *b)
    __attribute__((cold));
bool core_device_amo(const struct xport_addr *at, const struct xport_amo *a,
                     void *result) __attribute__((cold));

#endif
