#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a far PE that answers nothing holds up the messages to itself
# alone also where a provider cannot put with a signal (shm), or does all of it
# in a thread of its own (sockets).  Bytes of messages are puts there, and of shm
# that is asked only where the provider itself does not hold up writes behind one
# to a stopped process.  Nor does a stream stay at such a start for as long as
# messages of others come in.
# Timeout: 100
set -u
. "$(dirname "$0")/../device/device.inc"
SHMEM_STALL=0 T_SEED=${T_SEED:-1}
export SHMEM_STALL T_SEED
extra='SHMEM_OFI_PROVIDER=tcp SHMEM_FAULT=stream_traffic:1:1'
job software -n 3 --ppn 1 "$at/st/stopped_partner"
extra=SHMEM_OFI_PROVIDER=sockets
job software -n 3 --ppn 1 "$at/st/stopped_partner"
only=unmatched
! "$at/fake/shm_stopped" || only=
extra=SHMEM_OFI_PROVIDER=shm
# shellcheck disable=SC2086
job software -n 3 --ppn 1 "$at/st/stopped_partner" $only
finish
