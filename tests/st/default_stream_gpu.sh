#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the default streams of CUDA and HIP mean what the vendors say:
# NULL and 0x1 one stream and one queue, 0x2 one of each thread, which no thread
# of the library's own hands to the driver; queues go with their threads.
# Timeout: 120
# Light: it waits most of the time
set -u
. "$(dirname "$0")/../device/device.inc"
runs='2 2/1'
each ../st/default_stream cuda-discrete hip-discrete
extra=FAKE_HIP_MAJOR=7
[ -n "$real" ] || start job hip-discrete -n 2 --ppn 1 "$at/st/default_stream"

# rings DEVICE N: the streams of two threads in turns have so many rings at a
# time.
rings()
{
    said=$(on "$1" env SHMEM_STATS=1 "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$at/st/default_stream" turns 2>&1)
    [ "$(echo "$said" | grep -c "streams: .*, $2 rings*,")" -eq 2 ] ||
        echo "FAIL: not $2 rings: $said" >>failed
}
for device in ${real:-cuda-discrete hip-discrete}; do
    extra=
    start rings "$device" 2
    # By the device itself, and by the progress thread.
    extra='SHMEM_STALL=1'
    start job "$device" -n 2 "$at/st/default_stream" long
    start job "$device" -n 2 --ppn 1 "$at/st/default_stream" long
    # The stand-ins keep a thread for each stream otherwise.
    extra='FAKE_DEVICE_QUEUES=8 FAKE_DEVICE_AGAIN=1'
    start job "$device" -n 2 --ppn 1 "$at/st/default_stream" many
done
[ -z "$real" ] || finish

# Drivers that have no name for a stream but its handle.
mkdir -p early
sed 's/cuStreamGetId/cuStreamgetid/g' "$at/fake/cuda/libcuda.so.1" \
    >early/libcuda.so.1
extra=
# ends COMMAND...: with status 0.
ends()
{
    timeout 40 env "$@" || echo "FAIL ($?): $*" >>failed
}
for what in turns ''; do
    start ends SHMEM_DEVICE=hip FAKE_DEVICE=discrete FAKE_HIP_MAJOR=5 \
        FAKE_DEVICE_WAITS=processor GPU_STREAMOPS_CP_WAIT=1 \
        LD_LIBRARY_PATH="$at/fake/hip5" \
        "$BUILD/bin/oshrun" -n 2 --ppn 1 "$at/st/default_stream" $what
    start ends SHMEM_DEVICE=cuda FAKE_DEVICE=discrete \
        FAKE_DEVICE_DRIVER=11080 LD_LIBRARY_PATH="$PWD/early:$at/fake/nvrtc" \
        "$BUILD/bin/oshrun" -n 2 --ppn 1 "$at/st/default_stream" $what
done
finish
