#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: with SHMEM_ST_SPIN the progress thread does not sleep behind what
# a stream has still to do; without, it does.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: for a stand-in'; exit 77; }

# sleeps VALUE: of both PEs.
sleeps()
{
    on cuda-discrete env SHMEM_ST_SPIN="$1" SHMEM_STATS=1 \
        "$BUILD/bin/oshrun" -n 2 --ppn 1 "$at/device/st_spin" 2>&1 |
        sed -n 's/.*streams on the progress thread: \([0-9]*\) sleeps.*/\1/p' |
        awk '{ n += $1 } END { print NR, n + 0 }'
}

without=$(sleeps 0) with=$(sleeps 1)
echo "PEs that report, and sleeps: $without, spinning $with"
check [ "${without%% *}" -eq 2 ]
check [ "${without##* }" -gt 2 ]
# The thread has nothing to do before and after: it sleeps until it is called.
check [ "${with%% *}" -eq 2 ]
check [ "$((${with##* } * 2))" -lt "${without##* }" ]
finish
