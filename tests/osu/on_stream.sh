#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the programs on streams say who makes the operations, and find
# every byte and word right, made by the program and by the stream, on a device
# in software and on stand-ins for GPUs, near and far, there also by deferred
# work of the provider.
# Timeout: 120
# Needs: osu
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE     # more is needed
few='-c -i 3 --warmup 0 -m 63:1200'
far=

# passed ENGINE DEVICE PROGRAM ARGS...: at least one row, each ends in Pass,
# and the operations are that engine's.
passed()
{
    engine=$1 device=$2 program=osu_oshm_$3_on_stream rc=0
    shift 3
    said="out.$device.$program.$far.$engine"
    # shellcheck disable=SC2086
    on "$device" env $extra "$BUILD/bin/oshrun" -n 2 ${far:+--ppn 1} \
        "$at/osu/$program" "$@" >"$said" 2>&1 </dev/null || rc=$?
    rows=$(grep -cE '^([0-9]|shmem_)' "$said")
    good=$(grep -c 'Pass$' "$said")
    [ $rc -eq 0 ] && [ "$rows" -gt 0 ] && [ "$rows" -eq "$good" ] &&
        grep -q "^# Device $(driver_of "$device"), .* ($engine)\$" "$said" && return
    echo "FAIL ($rc): $device${far:+, far}: $program $*: $good of $rows rows" \
        "pass, $engine?" >>failed
    head -n 20 "$said" >>failed
}

# all ENGINE DEVICE: in all placements.
all()
{
    # shellcheck disable=SC2086
    {
        for p in put get put_signal; do
            passed "$1" "$2" $p heap $few -s A -d A -x A
        done
        passed "$1" "$2" put_bw heap $few -s D -d D -x A
        passed "$1" "$2" atomics heap -c -i 20 -s D -d D -x A
    }
}

# some ENGINE DEVICE
some()
{
    # shellcheck disable=SC2086
    {
        passed "$1" "$2" put_signal heap $few -s D -d D
        passed "$1" "$2" put_bw heap $few -s H -d D -w each
        passed "$1" "$2" atomics heap -c -i 10 -s H -d D
    }
}

# line TEXT FILE: it has such a line.
line()
{
    grep -qE -- "^$1\$" "$2" || {
        echo "FAIL: no line /$1/" >>failed
        head -n 20 "$2" >>failed
    }
}

: >failed
if [ -n "$real" ]; then
    all 'engine copy' "$real"
    far=1
    all 'engine soft' "$real"
    finish
fi
# Much of a job's time is its start.
all 'engine copy' software &
( extra=FAKE_DEVICE_COUNT=2     # one for each PE
  some 'engine copy' hip-bare ) &
# shellcheck disable=SC2086
{
    passed 'engine copy' cuda-discrete put_signal heap $few -s D -d D
    # Static data is nothing that a GPU reaches.
    passed 'engines H-H soft, D-D copy, .*' cuda-discrete put global $few \
        -s A -d A
} &
far=1
# shellcheck disable=SC2086
{
    passed 'engine soft' software put_signal global $few -x A
    passed 'engine soft' hip-discrete get heap $few -d D -w each
} &
( extra='SHMEM_TRIGGER=nic SHMEM_OFI_PROVIDER=sockets'
  # shellcheck disable=SC2086
  passed 'engine nic' software put heap $few -d D ) &
passed 'engine soft' hip-discrete atomics heap -c -i 5
wait
far=

# What the rows are, and where a stream may not wait.
on hip-bare env FAKE_DEVICE_COUNT=1 "$BUILD/bin/oshrun" -n 2 \
    "$at/osu/osu_oshm_put_signal_on_stream" heap -m 8:8 >out.bare 2>&1 && echo "FAIL: no refusal" >>failed &
on software "$BUILD/bin/oshrun" -n 2 "$at/osu/osu_oshm_put_on_stream" heap -m 8:8 \
    -i 2 -x A -s D -d H >out.table &
on software "$BUILD/bin/oshrun" -n 2 "$at/osu/osu_oshm_put_bw_on_stream" heap \
    -m 8:8 -i 2 -x A --json | tr -d '\n' >out.json
wait
line '# OSU OpenSHMEM Put on Stream Test v7\.4' out.table
line '# Source in device memory \(D\), destination in host memory \(H\)' out.table
line '# Device host, a step of it alone [0-9.]+ us; the operations are made by the host, then by the stream \(engine copy\)' out.table
line '# Size            Latency \(us\)         stream \(us\)         stream/host' \
    out.table
line '8( +[0-9]+\.[0-9]{2}){3}' out.table
check grep -qE ',"device":"host","step_us":[0-9.e+-]+,"execution":\["host","stream"\],"engines":\["","copy"\],"rows":\[.*"by_placement":\{"host":[0-9.e+-]+,"stream":[0-9.e+-]+\}' out.json
line 'osu_oshm_put_signal_on_stream: PE [01]: a call on a stream of this device \(hip\) gave -95: .*' out.bare
finish
