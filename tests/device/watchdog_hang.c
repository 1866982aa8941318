/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream hangs on a message after many waits that were over at once: the
 * watchdog, which asks an event behind a wait, reports it; see
 * watchdog_hang.sh. */
#include "../memory.h"

#include <shmemx_st.h>
#include <unistd.h>

enum { LATE_S = 6 };

int main(void)
{
    uint64_t *flag, *in, *out;
    shmemx_stream_t s;
    shmemx_queue_t q;

    device_begin(SHMEM_THREAD_SINGLE);
    flag = mem_alloc(HOST, sizeof *flag);
    in = mem_alloc(HOST, sizeof *in);
    out = mem_alloc(HOST, sizeof *out);
    *flag = 1;
    *in = 0;
    *out = 42;
    T_EQ(shmemx_stream_create(&s), 0);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    shmem_barrier_all();
    for (int i = 0; i < 5; i++) {       /* the watchdog sees the stream */
        T_EQ(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 1, s), 0);
        sleep(1);
    }
    if (me == 0) {
        T_EQ(shmemx_enqueue_recv(q, in, sizeof *in, 1, 7, NULL), 0);
    } else {
        t_run_for(LATE_S);
        T_EQ(shmemx_enqueue_send(q, out, sizeof *out, 0, 7, NULL), 0);
    }
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    while (shmemx_stream_query(s))      /* it says no more than the watchdog */
        usleep(10000);
    if (me == 0)
        T_EQ(*in, 42);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_barrier_all();
    mem_free(HOST, out);
    mem_free(HOST, in);
    mem_free(HOST, flag);
    return memory_end();
}
