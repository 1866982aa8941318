#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: messages are the same whatever their length may be for a sender
# not to wait for its receiver: nothing, or all there is.
# Timeout: 100
set -u
. "$(dirname "$0")/../device/device.inc"
T_SEED=${T_SEED:-1}
T_LONG=0.1
T_SHORT=1
# What is received into private memory needs room in the heap.
SHMEM_SYMMETRIC_SIZE=128M
export T_SEED T_LONG T_SHORT SHMEM_SYMMETRIC_SIZE

for test in match_data match_iteration_order enqueue_send_recv \
    message_too_long match_iterations; do
    for limit in 0 64k; do
        SHMEM_ST_EAGER=$limit
        export SHMEM_ST_EAGER
        job software -n 2 "$at/st/$test" & job software -n 2 --ppn 1 "$at/st/$test" &
        wait
    done
done
finish
