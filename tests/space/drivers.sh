#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the tests of spaces pass on the stand-ins for GPUs' drivers in
# each personality: where the processor must not touch device memory, too.
# Timeout: 90
set -u
: "${BUILD:?the build directory}"
at=$BUILD/obj/tests
unset FAKE_DEVICE_LOG FAKE_DEVICE_FAIL FAKE_DEVICE_COUNT FAKE_DEVICE_MEMORY
failures=0
# on DRIVER PERSONALITY TEST LAUNCH...
on()
{
    driver=$1 is=$2 test=$3
    shift 3
    LD_LIBRARY_PATH=$at/fake/$driver:$at/fake/hiprtc SHMEM_DEVICE=$driver \
        FAKE_HIP_MAJOR=6 FAKE_DEVICE=$is timeout -k 5 60 "$BUILD/bin/oshrun" "$@" \
        "$at/space/$test" >out 2>&1 || {
        echo "FAIL: $test on $driver, $is, $*"
        failures=$((failures + 1))
    }
    cat out
}
for is in discrete coherent bare; do
    for test in figure8 spaces space_create drafts restart device_teams; do
        on cuda $is $test -n 2
        on hip $is $test -n 2
    done
    on cuda $is drafts -n 4 --ppn 2
    on cuda $is figure8 -n 2 --ppn 1
done
# The first hint makes the heap, and a variable of the user's counts more.
says()
{
    grep -q "$1" out || {
        echo "FAIL: not said: $1"
        failures=$((failures + 1))
    }
}
export SHMEM_LOG=info
on hip discrete hint_grain -n 2
says 'the device heap is there, and is fine$'
SHMEM_DEVICE_GRAIN=uncached on hip discrete hint_grain -n 2
says 'the device heap is there, and is uncached$'
FAKE_HIP_GRAIN=none on hip discrete hint_grain -n 2
says 'device memory that is fine: hipExtMallocWithFlags: .*; it is chosen as by auto'
on cuda discrete hint_grain -n 2
[ "$failures" -eq 0 ]
