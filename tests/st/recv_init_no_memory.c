/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a receive that cannot be made, since there is no memory for what
 * counts those of its tag, gives back what it took of the heap: as many
 * receives as ever can be made later.
 * PEs: 2
 * Env: SHMEM_SYMMETRIC_SIZE=4m
 * Expect: shmemx_enqueue_recv: .*out of memory
 * Reject: \[S-E- */
#include "st.h"

#include <stdlib.h>

enum { BYTES = 20000, TIMES = 100, TAG = 1000 };

static char out[] = "what comes after all";
static char *in;                 /* not symmetric */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || \
    !defined __GLIBC__

int main(void)
{
    return 77;                  /* malloc is not the program's */
}

#else

extern void *__libc_malloc(size_t size);
static _Thread_local bool none;

void *malloc(size_t size)
{
    return none ? NULL : __libc_malloc(size);
}

static int receive(shmemx_queue_t q, int tag, bool fails, shmemx_req_t *r)
{
    int rc;

    none = fails;
    rc = shmemx_enqueue_recv(q, in, BYTES, next, tag, r);
    none = false;
    return rc;
}

T(what_cannot_be_made_takes_nothing)
{
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;
    shmemx_req_t r;

    in = __libc_malloc(BYTES);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    for (int i = 0; i < TIMES; i++)
        if (!T_EQ(receive(q, TAG + i, true, &r), -ENOMEM))
            break;
    shmem_barrier_all();        /* what a send posts needs memory, too */
    T_EQ(receive(q, TAG, false, &r), 0);
    T_EQ(shmemx_enqueue_send(q, out, sizeof out, next, TAG, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_req_wait(r), 0);
    T_EQ(memcmp(in, out, sizeof out), 0);
    T_EQ(shmemx_req_free(&r), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(what_cannot_be_made_takes_nothing);
    return st_end();
}

#endif
