#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: calls on streams, queues and requests that refuse say why in a
# line, a few times for one call and cause; what programs poll for is silent.
set -u
. "$(dirname "$0")/../device/device.inc"
cat >try.c <<'END'
#include <errno.h>
#include <shmem.h>
#include <shmemx_st.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define IS(call, want)                                                     \
    do {                                                                   \
        int rc_ = (call);                                                  \
                                                                           \
        if (rc_ != (want))                                                 \
            printf("%s: %d\n", #call, rc_);                                \
    } while (0)
static long word, x;
static uint64_t gate;
static shmemx_stream_t s, gone;
static shmemx_queue_t q;
static shmemx_req_t r, fresh;

static void streams(void)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };

    IS(shmemx_device_info(NULL), -EINVAL);
    IS(shmemx_stream_create(NULL), -EINVAL);
    IS(shmemx_stream_destroy(NULL), -EINVAL);
    IS(shmemx_stream_destroy(gone), -EINVAL);
    IS(shmemx_stream_sync(gone), -EINVAL);
    IS(shmemx_stream_query(gone), -EINVAL);
    IS(shmemx_stream_copy(gone, &word, &x, 8), -EINVAL);
    IS(shmemx_stream_copy(s, NULL, &x, 8), -EINVAL);
    IS(shmemx_stream_fill(s, NULL, 0, 8), -EINVAL);
    IS(shmemx_stream_call(s, NULL, NULL), -EINVAL);
    IS(shmemx_stream_launch(s, &grid, NULL, NULL), -EINVAL);
    IS(shmemx_long_p_on_stream(&word, 1, 0, gone), -EINVAL);
}

/* Each address by its name. */
static void names(void)
{
    static uint64_t v;

    IS(shmemx_long_put_on_stream(NULL, &x, 1, 0, s), -EINVAL);
    IS(shmemx_long_get_on_stream(NULL, &x, 1, 0, s), -EINVAL);
    IS(shmemx_long_iput_on_stream(&x, NULL, 1, 1, 2, 0, s), -EINVAL);
    IS(shmemx_long_g_on_stream(NULL, &x, 0, s), -EINVAL);
    IS(shmemx_int_g_on_stream((int *)&v, NULL, 0, s), -EINVAL);
    IS(shmemx_signal_fetch_on_stream(NULL, &gate, s), -EINVAL);
    IS(shmemx_putmem_signal_on_stream(&word, &x, 8, NULL, 1, SHMEM_SIGNAL_SET,
                                      0, s), -EINVAL);
    IS(shmemx_signal_wait_reset_on_stream(NULL, SHMEM_CMP_EQ, 1, s), -EINVAL);
    IS(shmemx_long_wait_until_all_on_stream(NULL, 3, NULL, SHMEM_CMP_EQ, 1, s),
       -EINVAL);
    IS(shmemx_long_atomic_fetch_inc_on_stream(NULL, &x, 0, s), -EINVAL);
    IS(shmemx_long_atomic_inc_on_stream(NULL, 0, s), -EINVAL);
}

/* Buffers that begin in a symmetric segment end there. */
static void messages(void)
{
    char *heap = shmem_malloc(8), *device = NULL;
    shmemx_req_t m;

    device = shmem_space_malloc(SHMEM_SPACE_DEVICE, 8);
    IS(shmemx_send_init(heap, 1 << 27, 0, 1, &m), -EINVAL);
    IS(shmemx_rsend_init(&word, 1 << 27, 0, 1, &m), -EINVAL);
    IS(shmemx_recv_init(device, 1 << 27, 0, 1, &m), -EINVAL);
    IS(shmemx_enqueue_send(q, device, 1 << 27, 0, 1, NULL), -EINVAL);
    IS(shmemx_enqueue_recv(q, heap, 1 << 27, 0, 1, NULL), -EINVAL);
    IS(shmemx_enqueue_recv(q, &m, (size_t)-1, 0, 1, NULL), -EINVAL);
    IS(shmemx_send_init((void *)16, 8, 0, 1, &m), -EINVAL);
    IS(shmemx_rsend_init(&m, 1ul << 60, 0, 1, &m), -EINVAL);
    IS(shmemx_recv_init((void *)-8, 64, 0, 1, &m), -EINVAL);
    shmem_space_free(SHMEM_SPACE_DEVICE, device);
    shmem_free(heap);
}

static void queues(void)
{
    shmemx_req_t none[2] = { fresh, NULL };
    int flag;

    IS(shmemx_put_init(&x + 100000, &x, 8, 7, &fresh), -EINVAL);
    IS(shmemx_req_wait(fresh), -EINVAL);
    IS(shmemx_req_test(fresh, &flag), -EINVAL);
    IS(shmemx_enqueue_waitall(q, 1, &none[1]), -EINVAL);
    IS(shmemx_enqueue_startall(q, 2, none), -EINVAL);
    IS(shmemx_enqueue_putmem(q, &word, &x, 8, 0, &r), 0);
    IS(shmemx_queue_destroy(q), -EBUSY);
    IS(shmemx_req_free(&r), -EBUSY);
    IS(shmemx_enqueue_start(q), 0);
    IS(shmemx_queue_destroy(q), -EBUSY);
    IS(shmemx_req_free(&r), -EBUSY);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, flag;

    shmem_init();
    shmemx_stream_create(&gone);
    shmemx_stream_destroy(gone);
    shmemx_stream_create(&s);
    shmemx_queue_create(s, NULL, 0, &q);
    shmemx_put_init(&word, &x, 8, 0, &fresh);
    if (!n) {
        shmemx_signal_wait_until_on_stream(NULL, &gate, SHMEM_CMP_GE, 1, s);
        streams();
        names();
        messages();
        queues();
        for (int i = 0; i < 20; i++) {
            IS(shmemx_stream_query(s), -EAGAIN);
            IS(shmemx_queue_test(q, &flag), 0);
            IS(shmemx_req_test(r, &flag), 0);
        }
        shmem_signal_set(&gate, 1, 0);
        shmemx_queue_wait(q);
        IS(shmemx_req_free(&r), 0);
    }
    for (int i = 0; i < n; i++) {
        shmemx_long_p_on_stream(&word, 1, 9, s);
        shmemx_long_p_on_stream(NULL, 1, 0, s);
        shmemx_signal_set_on_stream(&gate, 1, 9, s);
    }
    IS(shmemx_queue_destroy(q), 0);
    IS(shmemx_req_free(&fresh), 0);
    IS(shmemx_stream_destroy(s), 0);
    shmem_finalize();
    return 0;
}
END
"$BUILD/bin/oshcc" try.c -o try || exit 1
line() { # call, what it says
    check grep -q "shmemx_$1: $2.* \[S-W-[A-Z]*\]" err
}
on software "$BUILD/bin/oshrun" -n 1 ./try >out 2>err
check [ $? -eq 0 ]
check [ ! -s out ]
line device_info 'info is a null pointer'
line stream_create 'stream is a null pointer'
line stream_destroy 'a default stream'
for call in destroy sync query copy; do
    line stream_$call 'stream 0x[0-9a-f]*: .*not a stream, or already destroyed'
done
line stream_copy 'dest is a null'
line stream_fill 'dest is a null'
line stream_call 'fn is a null'
line stream_launch 'body is a null'
line long_p_on_stream 'stream 0x[0-9a-f]*: .* destroyed: not enqueued'
line put_init '.*: no request is made'
line req_wait 'the request (shmemx_[a-z_]*, PE 0) was not started'
line req_test 'the request (shmemx_[a-z_]*, PE 0) was not started'
line enqueue_waitall 'request 0 is a null pointer'
line enqueue_startall 'request 1 is a null pointer'
line queue_destroy 'operations that were put in wait for their start'
line queue_destroy 'operations that were started have not ended'
line req_free 'the request (shmemx_[a-z_]*, PE 0) waits for its start'
line req_free 'the request (shmemx_[a-z_]*, PE 0) has not ended'
for call in send_init rsend_init recv_init enqueue_send enqueue_recv; do
    line $call '134217728 bytes at buf 0x[0-9a-f]* run past the end of the symmetric segment: no'
done
line send_init '8 bytes at 0x10 are not all memory of this process: no'
line enqueue_recv '18446744073709551615 bytes: no memory is that large'
line rsend_init '1152921504606846976 bytes at 0x[0-9a-f]* are not all memory'
line recv_init '64 bytes at 0xfffffffffffffff8 are not all memory'
line long_put_on_stream 'dest is a null pointer, with 8 bytes: not enqueued'
line long_get_on_stream 'dest is a null'
line long_iput_on_stream 'source is a null pointer, with 16 bytes'
line long_g_on_stream 'value is a null'
line int_g_on_stream 'source is a null'
line signal_fetch_on_stream 'value is a null'
line putmem_signal_on_stream 'sig_addr is a null'
line signal_wait_reset_on_stream 'sig_addr is a null'
line long_wait_until_all_on_stream 'ivars is a null pointer, with 24 bytes'
line long_atomic_fetch_inc_on_stream 'fetch is a null'
line long_atomic_inc_on_stream 'dest is a null'
check [ "$(wc -l <err)" -eq 41 ]
cat out err

# Three lines and one of each kind, or all.
on software "$BUILD/bin/oshrun" -n 1 ./try 100 2>err
check [ "$(grep -c 'long_p_on_stream: PE 9' err)" -eq 3 ]
check [ "$(grep -c 'signal_set_on_stream: PE 9' err)" -eq 3 ]
check [ "$(grep -c 'further lines of this kind are not printed' err)" -eq 3 ]
check [ "$(wc -l <err)" -eq 12 ]
on software env SHMEM_LOG=debug:api "$BUILD/bin/oshrun" -n 1 ./try 100 2>err
check [ "$(grep -c 'long_p_on_stream: PE 9' err)" -eq 100 ]
check [ "$(grep -c 'further lines' err)" -eq 0 ]

# All queues that there can be.
cat >full.c <<'END'
#include <shmem.h>
#include <shmemx_st.h>
int main(void)
{
    shmemx_stream_t s;
    shmemx_queue_t q;

    shmem_init();
    shmemx_stream_create(&s);
    for (int i = 0; i < 4096; i++)
        if (shmemx_queue_create(s, NULL, 0, &q))
            return 1;
    if (shmemx_queue_create(s, NULL, 0, &q) != -28)
        return 2;
    shmem_finalize();
    return 0;
}
END
"$BUILD/bin/oshcc" full.c -o full || exit 1
on software "$BUILD/bin/oshrun" -n 1 ./full 2>err
check [ $? -eq 0 ]
check grep -q 'shmemx_queue_create: .*: 4096 queues and streams with operations for the progress thread or the NIC are in use' err
cat err
finish
