#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_finalize counts what is never done, and names one by its
# call, its PE and its tag; a kernel that has not begun counts.
# Timeout: 30
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
#include <shmemx_st.h>
static void nap(void *arg)
{
    (void)arg;
    usleep(2000000);            /* longer than a slow finalize needs to begin */
}

static void kernel(const shmemx_item_t *it, void *arg)
{
    (void)it, (void)arg;
}

int main(int argc, char **argv)
{
    static int never;
    static long x, y;
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    const char *word = argv[1];
    shmemx_stream_t s;
    shmemx_queue_t q;
    int me, other;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    other = 1 - me;
    if (shmemx_stream_create(&s) || shmemx_queue_create(s, NULL, 0, &q))
        return 1;
    if (!me) {
        if (!strcmp(word, "armed")) {
            shmemx_int_wait_until_on_stream(&never, SHMEM_CMP_NE, 0, s);
            shmemx_long_p_on_stream(&x, 1, other, s);
        }
        CASE(kernel) {
            shmemx_stream_call(s, nap, NULL);
            shmemx_stream_launch(s, &grid, kernel, NULL);
        }
        CASE(staged) shmemx_enqueue_send(q, &y, 8, other, 7, NULL);
        CASE(two) {
            shmemx_enqueue_putmem(q, &x, &y, 8, other, NULL);
            shmemx_enqueue_send(q, &y, 8, other, 7, NULL);
        }
    }
    shmem_finalize();
    return 0;
}
C

finalize_says 0 staged '1 operation was put into a queue that no start followed, shmemx_enqueue_send, PE 1, tag 7: it is never done'
finalize_says 0 two '2 operations were put into queues that no start followed, one of them shmemx_enqueue_putmem, PE 1: they are never done'
finalize_says 0 armed '[0-9]+ operations? w(as|ere) enqueued that (its stream has|their streams have) not reached, (one of them )?shmemx_long_p_on_stream, PE 1: (it is|they are) never done; synchronize streams before, and of messages start both ends' --ppn 1
finalize_says 0 kernel '1 operation was enqueued that its stream has not reached: it is never done; synchronize streams before, and of messages start both ends'
finish 'what is never done has a name'
