#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on a driver that has no name for a stream but its handle, a
# stream with the handle of one that is gone has a queue of its own.
# Timeout: 30
set -u
. "$(dirname "$0")/../device/device.inc"
mkdir -p early
sed 's/cuStreamGetId/cuStreamgetid/g' "$at/fake/cuda/libcuda.so.1" \
    >early/libcuda.so.1
# What is freed is overwritten.
timeout 20 env SHMEM_DEVICE=cuda FAKE_DEVICE=discrete FAKE_DEVICE_AGAIN=1 \
    FAKE_DEVICE_DRIVER=11080 MALLOC_PERTURB_=165 \
    LD_LIBRARY_PATH="$PWD/early:$at/fake/nvrtc" \
    "$BUILD/bin/oshrun" -n 2 --ppn 1 "$at/st/stream_handle_reused"
check [ $? -eq 0 ]
finish
