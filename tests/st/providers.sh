#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: messages match and go over shm and sockets as over tcp, started
# by hand without a seed; over sockets a PE that answers nothing holds up no
# stream but those that need it.  Of shm that is asked only where the provider
# itself does not hold up writes behind one to a stopped process.
# Timeout: 120
set -u
. "$(dirname "$0")/../device/device.inc"
unset T_SEED SHMEM_SYMMETRIC_SIZE
SHMEM_STALL=0
export SHMEM_STALL
extra='SHMEM_OFI_PROVIDER=shm'
job software -n 2 --ppn 1 "$at/st/enqueue_send_recv" &
extra="$extra SHMEM_SYMMETRIC_SIZE=16M"
job software -n 2 --ppn 1 "$at/st/match_persistent" &
wait
extra='SHMEM_OFI_PROVIDER=sockets'
job software -n 3 --ppn 1 "$at/st/stopped_peer"
extra='SHMEM_OFI_PROVIDER=shm'
if "$at/fake/shm_stopped"; then
    job software -n 3 --ppn 1 "$at/st/stopped_peer"
fi
finish
