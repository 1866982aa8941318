#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a get of a stream that fails on its way from another node to
# device memory, which it takes by way of host memory, leaves that memory as it
# is, and so does the result of an atomic; where host memory is short, the get
# fails and the stream goes on.
# Light: far jobs start one by one
# Timeout: 40
set -u
. "$(dirname "$0")/../device/device.inc"

cat >get.c <<'C'
#include <shmemx.h>
#include <shmemx_st.h>
#include <stdio.h>
#include <string.h>

/* Blocks that the network brings itself, and shorter ones. */
enum { BLOCK = 1000, BLOCKS = 5, N = BLOCK * BLOCKS };
static long there[2 * N], here[2 * N], word;

static void is(int line, long got, long want)
{
    if (got != want)
        printf("line %d: %ld, not %ld\n", line, got, want);
}
#define IS(x, y) is(__LINE__, x, y)

/* Every second block or element, from the first. */
static void get(long *to, int block, int fails, shmemx_stream_t s)
{
    int right = 0;

    for (int i = 0; i < 2 * N; i++)
        here[i] = 7;
    shmem_long_put(to, here, 2 * N, 0);
    IS(block > 1
           ? shmemx_ibget64_on_stream(to, there, 2 * BLOCK, 2 * BLOCK, BLOCK,
                                      BLOCKS, 1, s)
           : shmemx_long_iget_on_stream(to, there, 2, 2, N, 1, s), 0);
    IS(shmemx_stream_sync(s), fails ? -5 : 0);
    shmem_long_get(here, to, 2 * N, 0);
    for (int i = 0; i < 2 * N; i++)
        right += here[i] == (fails || i / block % 2 ? 7 : i);
    IS(right, 2 * N);
}

/* fails: the network does, or those that need memory of the host. */
static void try(long *to, int fails, int all)
{
    shmemx_stream_t s;

    IS(shmemx_stream_create(&s), 0);
    get(to, BLOCK, fails, s);
    if (!all)                   /* by messages, which do not fail */
        get(to, 1, fails, s);
    IS(shmemx_long_atomic_fetch_on_stream(to + 1, &word, 1, s), 0);
    IS(shmemx_stream_sync(s), all ? -5 : 0);
    shmem_long_get(here, to, 2, 0);
    IS(here[1], all ? 7 : 9);
    IS(shmemx_stream_destroy(s), 0);
}

int main(int argc, char **argv)
{
    long *to;

    shmem_init();
    to = shmem_space_malloc(SHMEM_SPACE_DEVICE, 2 * N * sizeof *to);
    for (int i = 0; i < 2 * N; i++)
        there[i] = i;
    word = 9;
    shmem_barrier_all();
    if (argc > 1 && shmem_my_pe() == 0 && to)
        try(to, strcmp(argv[1], "right") != 0, !strcmp(argv[1], "network"));
    shmem_barrier_all();
    if (!to)
        printf("no device memory\n");
    shmem_finalize();
    return 0;
}
C
"$BUILD/bin/oshcc" get.c -o get || exit 1

# run DEVICE FAULT WORD: nothing but the lines about faults and failures.
run()
{
    said=$(on "$1" env SHMEM_OFI_PROVIDER=sockets SHMEM_FAULT="$2" \
        FI_SOCKETS_PE_WAITTIME=0 "$BUILD/bin/oshrun" -n 2 --ppn 1 ./get "$3" \
        2>&1) || { echo "FAIL ($?): $1 $3" >>failed; }
    wrong=$(echo "$said" | grep -v 'S-W-FAULT\|^$' | grep -v "${4:-^$}")
    [ -z "$wrong" ] || echo "FAIL: $1 $3: $said" >>failed
    [ -z "${4:-}" ] || echo "$said" | grep -q "$4" ||
        echo "FAIL: $1 $3: no '$4': $said" >>failed
}

for device in software cuda-discrete hip-discrete; do
    run $device '' right
    run $device ofi.key:1 network \
        'shmemx_stream_sync: .*on_stream failed: .*Permission denied'
done
for device in cuda-discrete hip-discrete; do
    run $device stream_bounce:1 memory \
        'shmemx_stream_sync: .*shmemx_[a-z0-9_]*get[0-9]*_on_stream failed: get, PE 1 .*: out of memory for blocks on their way to the device'
done
[ -s failed ] && cat failed && exit 1
echo 'ok: what fails leaves device memory as it is'
