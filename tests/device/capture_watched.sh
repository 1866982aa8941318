#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the watchdog, which asks events behind waits of streams, disturbs
# no capture that the program begins on such a stream, and asks nothing of one
# that the program has destroyed.
# Light: it waits for the watchdog
set -u
. "$(dirname "$0")/device.inc"
cat >watched.c <<'END'
#include <shmem.h>
#include <shmemx_st.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static int bad;
#define IS(x, y) same(__LINE__, x, y)
static void same(int line, long got, long want)
{
    if (got != want)
        printf("line %d: %ld, not %ld\n", line, got, want);
    bad += got != want;
}

/* On HIP by its own call, of which the library knows nothing. */
static void destroy(shmemx_stream_t s)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    int (*call)(shmemx_stream_t) = shmemx_stream_destroy;

    if (hip)
        *(void **)&call = dlsym(hip, "hipStreamDestroy");
    IS(call(s), 0);
}

int main(void)
{
    uint64_t *flag;
    shmemx_stream_t s, gone;
    shmemx_graph_t g;

    shmem_init();
    flag = shmem_space_calloc(SHMEM_SPACE_DEVICE, 1, sizeof *flag);
    IS(shmemx_stream_create(&s), 0);
    IS(shmemx_stream_create(&gone), 0);
    for (int i = 0; i < 3; i++) {
        IS(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 0, s), 0);
        IS(shmemx_uint64_wait_until_on_stream(flag, SHMEM_CMP_GE, 0, gone), 0);
    }
    destroy(gone);
    IS(shmemx_stream_capture_begin(s), 0);
    usleep(700000);             /* a second has eight checks */
    IS(shmemx_uint64_p_on_stream(flag, 7, shmem_my_pe(), s), 0);
    IS(shmemx_stream_capture_end(s, &g), 0);
    if (!bad) {
        IS(shmemx_graph_launch(g, s), 0);
        IS(shmemx_stream_sync(s), 0);
        IS(shmemx_graph_destroy(g), 0);
    }
    IS(shmemx_stream_destroy(s), 0);
    shmem_finalize();
    return bad;
}
END
"$BUILD/bin/oshcc" -std=gnu11 -o watched watched.c || exit 1
for device in ${real:-cuda-discrete cuda-coherent hip-discrete hip-bare}; do
    on "$device" env SHMEM_STALL=1 "$BUILD/bin/oshrun" -n 1 ./watched >said 2>&1 ||
        { echo "FAIL: $device: status $?"; cat said; } >>failed
done
finish
