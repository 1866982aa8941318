#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on the stand-ins for GPUs' drivers, too, where the progress thread
# does what streams cannot do themselves, a stream whose far PE answers nothing
# holds no other stream up.
# Timeout: 150
set -u
. "$(dirname "$0")/../device/device.inc"
runs=3/1
SHMEM_STALL=0
export SHMEM_STALL
each ../st/stopped_peer cuda-discrete hip-discrete cuda-coherent
finish
