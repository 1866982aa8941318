#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on GPUs, too, large messages of a node go by the device whose
# stream comes second, and no thread of the library has a part in them; by the
# progress thread where the device has no kernels or does not reach the buffers.
# Timeout: 120
set -u
. "$(dirname "$0")/../device/device.inc"
T_SEED=${T_SEED:-1}
T_SHORT=1
export T_SEED T_SHORT

# messages DEVICE WORDS...: how those of two PEs went; `program` sends them
program=$at/st/peer_copy
messages()
{
    device=$1
    shift
    on "$device" env FAKE_DEVICE_COUNT=2 SHMEM_STATS=1 "$@" \
        "$BUILD/bin/oshrun" -n 2 "$program" 2>&1
}

for device in ${real:-cuda-discrete cuda-bare hip-discrete hip-bare \
    hip-coherent}; do
    said=$(messages "$device")
    check [ "$(echo "$said" | grep -c ' by the device, 0 posted, ')" -eq 2 ]
    check [ "$(echo "$said" | grep -c ' 320 by peer copy, 0 triggered, 0 by rendezvous, ')" -eq 2 ]
done
export SHMEM_SYMMETRIC_SIZE=64M         # slots for private memory
job "${real:-cuda-discrete}" -n 2 "$at/st/match_data" &
job "${real:-hip-discrete}" -n 2 "$at/st/match_iteration_order" &
wait
[ -z "$real" ] || finish

said=$(messages cuda-discrete FAKE_DEVICE_FAIL=cuModuleLoadDataEx:221)
check [ "$(echo "$said" | grep -c ' 0 by peer copy, 0 triggered, 320 by rendezvous, ')" -eq 2 ]
program=$at/st/stats_protocols             # of static data
said=$(messages cuda-discrete)
check [ "$(echo "$said" | grep -c ' 0 by peer copy, 0 triggered, 3 by rendezvous, ')" -eq 2 ]
finish
