#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: blocks of device memory are zeroed, moved between spaces and
# freed like those of host memory, spaces cut out of it work, and all that is
# asked about an address is answered for it.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each heap_blocks

# A PE that cannot move a block's content has another heap than the others from
# there on.
if [ -z "$real" ]; then
    # shellcheck disable=SC2016
    on cuda-discrete "$BUILD/bin/oshrun" -n 2 sh -c \
        '[ "$SLUICE_JOB_PE" = 1 ] && export SHMEM_FAULT=heap.copy:1; exec "$0"' \
        "$at/device/heap_blocks" >moves 2>&1 &&
        echo 'FAIL: a PE whose content does not move goes on' >>failed
    grep -q 'PE 1 .*: shmem_space_realloc: moving the block of [0-9]* bytes at 0x.*\[S-E-DEVICE\]$' moves ||
        { echo 'FAIL: no line about it'; cat moves; } >>failed
fi
finish
