#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on the stand-ins for GPUs' drivers, too, a far PE that this one
# has never talked to, and that answers nothing, holds no other stream up; and
# if it stays silent the job ends with a line that names it.
# Light: PEs wait for one that is stopped
# Timeout: 100
set -u
. "$(dirname "$0")/../device/device.inc"
runs=6/1
# Five streams wait: more than HIP's queues are by default.
SHMEM_STALL=0 T_SEED=${T_SEED:-1} GPU_MAX_HW_QUEUES=8
export SHMEM_STALL T_SEED GPU_MAX_HW_QUEUES
each ../st/stopped_peer_first_contact cuda-discrete hip-discrete

rc=0
said=$(on cuda-discrete env SHMEM_STALL=1 SHMEM_TIMEOUT=2 "$BUILD/bin/oshrun" \
    -n 6 --ppn 1 "$at/st/stopped_peer_first_contact" stays 2>&1) || rc=$?
if [ $rc -eq 0 ] || [ $rc -ge 124 ] ||
    ! echo "$said" | grep -q ': no answer from PE 5 .* in [2-5] s (SHMEM_TIMEOUT): it is stopped.* \[S-E-NET\]'; then
    echo "FAIL ($rc): it stays silent: $said" >>failed
fi
finish
