/* SPDX-License-Identifier: BSD-3-Clause */
/* st.h - what the tests of single rules of streams share. */
#ifndef TESTS_ST_H
#define TESTS_ST_H

#include "../t.h"
#include <errno.h>
#include <shmem.h>
#include <shmemx_st.h>
#include <string.h>
#include <unistd.h>

static T_UNUSED int me, n_pes, next, prev;

static T_UNUSED void st_begin(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    prev = (me + n_pes - 1) % n_pes;
}

static T_UNUSED int st_end(void)
{
    shmem_finalize();
    return T_DONE();
}

static T_UNUSED shmemx_stream_t st_make(void)
{
    shmemx_stream_t s = NULL;

    T_EQ(shmemx_stream_create(&s), 0);
    return s;
}

static T_UNUSED void *st_room(bool device, size_t size)
{
    void *p = shmem_space_calloc(device ? SHMEM_SPACE_DEVICE
                                        : SHMEM_SPACE_CPU, 1, size);

    T_TRUE(p != NULL);
    return p;
}

/* On the device of software, kernels are C functions. */
static T_UNUSED bool st_kernels(void)
{
    shmemx_device_info_t d;

    return !shmemx_device_info(&d) && !strcmp(d.driver, "host");
}

/* Soon: within a time that is far longer than anything here takes. */
static T_UNUSED bool st_ends(shmemx_stream_t s)
{
    for (int i = 0; i < 20000; i++) {
        if (!shmemx_stream_query(s))
            return true;
        usleep(1000);
    }
    return false;
}

/* All behind it on the stream waits until st_open. */
static T_UNUSED uint64_t *st_start_flag(shmemx_stream_t s)
{
    uint64_t *start_flag = shmem_calloc(1, sizeof *start_flag);

    T_EQ(shmemx_uint64_wait_until_on_stream(start_flag, SHMEM_CMP_GE, 1, s), 0);
    return start_flag;
}

/* A signal: what is behind it also sees what this thread has done, and read. */
static T_UNUSED void st_open(uint64_t *start_flag)
{
    shmem_signal_set(start_flag, 1, me);
}

#endif
