#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the stand-in for libfabric's CXI provider keeps the rules of the
# real one, so what runs on it has a chance on the hardware.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"

# said FILE REGEX
said()
{
    check grep -q "^fake cxi: $2\$" "$1"
}

"$fake/cxi_setup" 2>setup.err
check [ $? -eq 0 ]
said setup.err 'rule 2: fi_mr_enable: no endpoint is bound (key 0x1)'
said setup.err 'rule 2: fi_mr_bind: the endpoint is not enabled yet .*'
FAKE_CXI_SOFT=1 "$fake/cxi_data" 2>data.err
check [ $? -eq 0 ]
said data.err \
    'rule 2: remote access to key 0x9 before its owner has enabled it'
FAKE_CXI_FLUSH_MS=1 FAKE_CXI_LOG=1 "$fake/cxi_work" 2>work.err
check [ $? -eq 0 ]
said work.err 'work queued [0-9]* fired [0-9]* flushed 65; at most 64 entries .*'
"$fake/cxi_limits" 2>limits.err
check [ $? -eq 0 ]
for line in '13: the operand of FI_ATOMIC_WRITE changed after it was queued .*' \
    '13: FI_CXI_CNTR_WB writes back the triggering counter, .*' \
    '13: a counter is closed that deferred work uses (1)' \
    '13: an endpoint is closed with 1 of its deferred operations armed' \
    '13: deferred work on an endpoint without a counter for FI_READ .*' \
    '18: the descriptor is not of a region that has these 8 bytes .*' \
    '14: 17 entries of deferred work, the NIC has 16' \
    '15: a doorbell takes one plain store of 8 bytes, nothing else .*' \
    '15: a doorbell has nothing at offset 8' \
    '15: a doorbell resets to 0 only, not to 1'; do
    said limits.err "rule $line"
done

# ring DEVICE LIBRARIES [FAKE_DEVICE]
ring()
{
    env SHMEM_DEVICE="$1" LD_LIBRARY_PATH="$2" FAKE_DEVICE="${3-}" \
        "$fake/cxi_ring"
    check [ $? -eq 0 ]
}
ring host ''
ring cuda "$fake/cuda" discrete
ring cuda "$fake/cuda" coherent
ring hip "$fake/hip:$fake/hiprtc" discrete
finish setup.err data.err work.err limits.err
