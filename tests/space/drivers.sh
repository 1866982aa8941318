#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the tests of spaces pass on the stand-in for a GPU's driver in
# each personality: where the processor must not touch device memory, too.
# Timeout: 90
set -u
: "${BUILD:?the build directory}"
at=$BUILD/obj/tests
unset FAKE_DEVICE_LOG FAKE_DEVICE_FAIL FAKE_DEVICE_COUNT FAKE_DEVICE_MEMORY
failures=0
for is in discrete coherent bare; do
    for test in figure8 spaces made device_teams; do
        LD_LIBRARY_PATH=$at/fake/cuda SHMEM_DEVICE=cuda FAKE_DEVICE=$is \
            timeout -k 5 25 "$BUILD/bin/oshrun" -n 2 "$at/space/$test" \
            >out 2>&1 || {
            echo "FAIL: $test on $is"
            failures=$((failures + 1))
        }
        cat out
    done
done
[ "$failures" -eq 0 ]
