/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_test.h - what the tests of the device table share.  They hold for any
 * device that SHMEM_DEVICE chooses: device memory is filled and read by the
 * device's own copies, since the processor may not reach it. */
#ifndef GTL_TEST_H
#define GTL_TEST_H

#include "unit.h"

#include "base/env.h"
#include "gtl/gtl.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096, WORDS = 16 * PAGE / sizeof(uint64_t) };

/* A page of words that the processor and the device both reach. */
static T_UNUSED struct {
    uint64_t *here, *there;
} words;
static T_UNUSED void *some_stream;

static T_UNUSED bool is_host(void)
{
    return gtl_device.host_streams;
}

/* False: there is no device, and the program is to end with its status. */
static T_UNUSED bool open_device(int *status)
{
    void *p, *seen;

    *status = 1;
    if (env_load() || gtl_open(0))
        return false;
    *status = 77;
    if (!strcmp(gtl->name, "none"))
        return false;
    *status = 1;
    p = mmap(NULL, WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED ||
        gtl->pin(p, WORDS * sizeof(uint64_t), GTL_PIN_MEMORY, &seen) ||
        gtl->stream_create(false, &some_stream)) {
        fprintf(stderr, "%s: %s\n", gtl->name, gtl_error());
        return false;
    }
    words.here = p;
    words.there = seen;
    return true;
}

static T_UNUSED void close_device(void)
{
    gtl->stream_destroy(some_stream);
    gtl->unpin(words.here);
    munmap(words.here, WORDS * sizeof(uint64_t));
    gtl_close();
}

static T_UNUSED void set_word(int i, uint64_t value)
{
    __atomic_store_n(&words.here[i], value, __ATOMIC_SEQ_CST);
}

static T_UNUSED uint64_t get_word(int i)
{
    return __atomic_load_n(&words.here[i], __ATOMIC_SEQ_CST);
}

/* A word of device memory, as a copy sees it. */
static T_UNUSED uint64_t device_word(const uint64_t *at)
{
    uint64_t value = ~(uint64_t)0;

    T_EQ(gtl_copy_now(&value, at, sizeof value), 0);
    return value;
}

static T_UNUSED void *device_memory(size_t size)
{
    void *p = NULL;

    if (!T_EQ(gtl->alloc(size, &p), 0)) {
        fprintf(stderr, "%s\n", gtl_error());
        exit(1);
    }
    T_EQ(gtl_fill_now(p, 0, size), 0);
    return p;
}

static T_UNUSED void *new_stream(void)
{
    void *s = NULL;

    T_EQ(gtl->stream_create(false, &s), 0);
    return s;
}

static T_UNUSED void pause_ms(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    nanosleep(&t, NULL);
}

/* Has the stream nothing to do within two seconds? */
static T_UNUSED bool ends(void *stream)
{
    for (int i = 0; i < 2000; i++) {
        if (gtl->stream_query(stream) != -EAGAIN)
            return gtl->stream_query(stream) == 0;
        pause_ms(1000);
    }
    return false;
}

#endif
