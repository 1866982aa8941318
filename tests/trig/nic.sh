#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: triggers and partitioned messages whose operations the NIC does:
# on the stand-in for CXI, where kernels of partitioned messages ring doorbells and
# other hits are forwarded, with many entries and with few, where failures count and where not; and on sockets, where all
# hits are forwarded.
# Timeout: 200
set -u
. "$(dirname "$0")/../device/device.inc"
[ -z "$real" ] || { echo 'skip: for the stand-ins of a NIC'; exit 77; }
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH FAKE_CXI_SOFT
export FI_PROVIDER_PATH="$at/fake/cxi" SHMEM_DEVICE_SYMMETRIC_SIZE=16M
T_SEED=${T_SEED:-1}
export T_SEED

# nic PROVIDER DEPTH RULE N PPN: DEPTH entries for the PEs of each node; prints the statistics.
nic()
{
    on host env SHMEM_TRIGGER=nic SHMEM_OFI_PROVIDER="$1" FAKE_CXI_DEPTH=$(($2 * $4 / $5)) \
        FAKE_CXI_ERRORS_COUNT="$3" SHMEM_STATS=1 \
        SHMEM_TRIGGER_DEPTH="$([ "$1" = cxi ] || echo "$2")" \
        "$BUILD/bin/oshrun" -n "$4" --ppn "$5" "$at/$program" 2>&1
}

# right LEAST PROVIDER...: each PE is, with at least so many operations by the NIC.
right()
{
    least=$1
    shift
    said=$(nic "$@") &&
        echo "$said" | awk -v least="$least" '
            /triggers: [0-9]+ operations by threads/ {
                for (i = 1; i < NF; i++)
                    if ($(i + 1) == "by" && $(i + 3) ~ /^NIC/) n = $(i - 1)
                if (match($0, /[0-9]+ by the NIC/) &&
                    substr($0, RSTART, RLENGTH) + 0 >= least) good++
            }
            END { exit good ? 0 : 1 }' ||
        echo "FAIL: $*: $(echo "$said" | grep -v 'req_free\|match' | head -n 20)" >>failed
}

program=trig/triggers
right 200 cxi 500 0 2 1 &
right 200 cxi 500 1 2 1
wait
right 20 cxi 16 0 2 1 &
right 20 sockets 500 0 2 1
wait
right 20 cxi 16 1 2 1 &
right 200 cxi 500 0 4 2
wait
# Tags that the NIC keeps leave it room for streams.
program=trig/kept_by_nic
said=$(nic cxi 500 0 2 1)
[ "$(echo "$said" | grep -c 'streams: .* 50 by the NIC, 0 declined')" -eq 2 ] ||
    echo "FAIL: $program: $(echo "$said" | head -n 20)" >>failed
program=part/partitioned
right 500 cxi 500 0 2 1
wait
right 100 cxi 16 1 4 2 &
right 100 sockets 500 0 2 1
wait
program=part/collectives
right 0 cxi 500 0 2 1 &
right 0 cxi 500 1 2 1
wait
right 0 sockets 500 0 2 1
finish
