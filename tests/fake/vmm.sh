#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the stand-in for libcuda keeps the vendor's rules of virtual memory
# and of memory pools, in each environment that takes something away.
# Timeout: 120
set -u
at=$BUILD/obj/tests/fake
unset FAKE_DEVICE FAKE_DEVICE_LOG FAKE_DEVICE_FAIL FAKE_DEVICE_COUNT \
    FAKE_DEVICE_MEMORY FAKE_DEVICE_DRIVER FAKE_DEVICE_QUEUES FAKE_DEVICE_VMM \
    FAKE_DEVICE_FABRIC FAKE_DEVICE_RANGE FAKE_DEVICE_PEERS FAKE_DEVICE_BAR \
    FAKE_DEVICE_NIC FAKE_DEVICE_COPIES FAKE_DEVICE_HIDDEN FAKE_DEVICE_FIRST
failures=0

# on WORD=VALUE...
on()
{
    for program in cuda_vmm cuda_pool; do
        env "$@" timeout 60 "$at/$program" >out 2>&1
        status=$?
        cat out >&2
        if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
            echo "FAIL: $program $*" >&2
            failures=$((failures + 1))
        fi
    done
}

# shared WORD=VALUE...
shared()
{
    if ! env "$@" timeout 60 "$at/cuda_share" >&2; then
        echo "FAIL: cuda_share $*" >&2
        failures=$((failures + 1))
    fi
}

for is in discrete coherent bare; do
    on FAKE_DEVICE=$is
done
on FAKE_DEVICE_VMM=0
on FAKE_DEVICE_VMM=nordma
on FAKE_DEVICE_RANGE=reserved FAKE_DEVICE_NIC=ordered
on FAKE_DEVICE_DRIVER=11010 FAKE_DEVICE_COPIES=done
on FAKE_DEVICE_COUNT=2
on FAKE_DEVICE_COUNT=2 FAKE_DEVICE_PEERS=none
on FAKE_DEVICE_COUNT=2 FAKE_DEVICE_BAR=2097152
on FAKE_DEVICE_FABRIC=refused
for is in discrete coherent; do
    shared FAKE_DEVICE=$is
    shared FAKE_DEVICE=$is FAKE_DEVICE_FABRIC=1
done
shared FAKE_DEVICE_FABRIC=refused
shared FAKE_DEVICE_NIC=ordered
shared FAKE_DEVICE_HIDDEN=refused
shared FAKE_DEVICE_PEERS=none
shared FAKE_DEVICE_BAR=4096
[ "$failures" -eq 0 ]
