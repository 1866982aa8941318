/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_range.c - is an address device-only, that is memory that the processor
 * must not touch? core asks for local buffers, and only where such memory can
 * exist.
 *
 * Asking the driver costs more than a small put, so memory that cannot be a
 * device's is recognised by its address: the thread's stack, the program's
 * data. Of the rest the last answer "device" is kept, per thread, and cannot
 * harm once it is out of date: a copy by the device serves host memory as
 * well. An answer "host" is not kept: memory given back may come again as the
 * device's. */
#include "gtl/gtl_int.h"
#include "base/dl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

extern char __data_start[] __attribute__((weak));
static __thread struct gtl_range last;
static __thread uintptr_t stack_from, stack_to;

static void find_own_stack(void)
{
    pthread_attr_t a;
    void *from;
    size_t size;

    stack_to = stack_from = (uintptr_t)&a;
    if (pthread_getattr_np(pthread_self(), &a))
        return;
    if (!pthread_attr_getstack(&a, &from, &size)) {
        stack_from = (uintptr_t)from;
        stack_to = stack_from + size;
    }
    pthread_attr_destroy(&a);
}

/* Data of the program and what brk() has added. */
static bool in_program(uintptr_t p)
{
    return __data_start && p >= (uintptr_t)__data_start &&
           p < (uintptr_t)sbrk(0);
}

/* Above the caller's frame there is nothing but the stack: below it, where a
 * stack has no limit, what is mapped later may lie in its range. */
static bool on_own_stack(uintptr_t p)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (!stack_to)
        find_own_stack();
    return p >= here && p < stack_to && here >= stack_from;
}

bool gtl_is_device_only(const void *ptr)
{
    uintptr_t p = (uintptr_t)ptr;
    struct gtl_range r;

    if (!gtl_device_only)
        return false;
    if (p - last.base < last.size)
        return true;
    if (on_own_stack(p) || in_program(p) ||
        gtl->classify(ptr, &r) || r.kind != GTL_DEVICE)
        return false;
    last = r;
    return true;
}

bool gtl_program_loaded_driver(void)
{
    static const char *const names[] = {
        "libcuda.so.1", "libamdhip64.so", "libamdhip64.so.7",
        "libamdhip64.so.6", "libamdhip64.so.5"
    };
    void *h = NULL;

    for (unsigned i = 0; i < sizeof names / sizeof *names && !h; i++)
        h = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
    if (h)
        dlclose(h);
    return h;
}
