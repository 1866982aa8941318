#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what is to be done on a stream where there is no device is refused
# with one line, and so is a kernel in C on a GPU; asking what device there is
# prints nothing.
set -u
. "$(dirname "$0")/../device/device.inc"
cat >try.c <<'END'
#include <shmem.h>
#include <shmemx_st.h>
#include <stdio.h>
static void body(const shmemx_item_t *item, void *arg)
{
    (void)item, (void)arg;
}
int main(void)
{
    static long word;
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_device_info_t info;
    shmemx_stream_t s = NULL;
    shmemx_queue_t q;
    int pe = 0;
    int asked, made, put, queue, launched;

    shmem_init();
    asked = shmemx_device_info(&info);
    made = shmemx_stream_create(&s);
    launched = shmemx_stream_launch(s, &grid, body, NULL);
    shmemx_pe_quiet_on_stream(&pe, 1, s);
    put = shmemx_long_p_on_stream(&word, 1, 0, s);
    queue = asked ? shmemx_queue_create(s, NULL, 0, &q) : 0;
    printf("%d %d %d %d %d\n", asked, made, launched, put, queue);
    shmemx_quiet_on_stream(s);
    shmemx_stream_sync(s);
    shmem_finalize();
    return 0;
}
END
"$BUILD/bin/oshcc" try.c -o try || exit 1
on none "$BUILD/bin/oshrun" -n 1 ./try >out 2>err
check [ $? -eq 0 ]
check [ "$(cat out)" = '-19 -19 -19 -19 -19' ]
check [ "$(wc -l <err)" -eq 1 ]
check grep -q 'shmemx_pe_quiet_on_stream: this PE has no device, so no streams: SHMEM_DEVICE=none .*\[S-W-DEVICE\]' err
cat err
if [ -z "$real" ]; then
    on cuda-discrete "$BUILD/bin/oshrun" -n 1 ./try >out 2>err
    check [ $? -eq 0 ]
    check [ "$(cat out)" = '0 0 -19 0 0' ]
    check [ "$(wc -l <err)" -eq 1 ]
    check grep -q 'shmemx_stream_launch: kernels that are C functions run on the software device, .*SHMEM_DEVICE=software .*\[S-W-DEVICE\]' err
    cat err
fi
finish
