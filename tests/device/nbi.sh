#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: non-blocking puts and gets of device memory are complete after
# a quiet and ordered by a fence, a signal comes after its data, in each
# context and thread; on one node they leave their copies to the device.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../pe/nbi_completes
if [ -z "$real" ]; then
    for device in cuda-discrete hip-discrete; do
        rm -f log
        FAKE_DEVICE_LOG=$PWD/log
        export FAKE_DEVICE_LOG
        check job "$device" -n 2 "$at/pe/nbi_completes"
        awk '$2 == "BEGIN" { on[$1] = 1; next }
             $2 == "END" { on[$1] = 0 }
             on[$1] { $1 = ""; print }' log >calls
        check [ "$(grep -c Memcpy calls)" -eq 80 ]
        if grep -E 'Synchronize|waits' calls; then
            echo "FAIL: $device: it waits for the device"
            failures=$((failures + 1))
        fi
    done
fi
finish
