#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: -c finds every byte and word right in all placements, that is
# with source and destination in host and in device memory, on a device in
# software and on stand-ins for GPUs, near and far.
# Timeout: 240
# Needs: osu
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE     # more is needed

# passed DEVICE N[/PPN] PROGRAM ARGS...: at least one row, each ends in Pass.
passed()
{
    device=$1 n=${2%/*} far=${2#"${2%/*}"} program=$3 rc=0
    shift 3
    said=out.$device.$n${far:+.far}
    on "$device" "$BUILD/bin/oshrun" -n "$n" ${far:+--ppn "${far#/}"} \
        "$at/osu/osu_oshm_$program" "$@" >"$said" 2>&1 </dev/null || rc=$?
    rows=$(grep -cE '^([0-9]|shmem_)' "$said")
    good=$(grep -c 'Pass$' "$said")
    [ $rc -eq 0 ] && [ "$rows" -gt 0 ] && [ "$rows" -eq "$good" ] && return
    echo "FAIL ($rc): $device, $n$far PEs: $program $*: $good of $rows rows" \
        "pass" >>failed
    head -n 20 "$said" >>failed
}

few='-c -i 3 -x 1'

# every DEVICE N[/PPN] [PROGRAM...]: all placements in each run.
every()
{
    # shellcheck disable=SC2086
    for p in ${3:-put get put_nb get_nb put_overlap put_mr put_mr_nb \
        get_mr_nb put_bw get_bw}; do
        passed "$1" "$2" $p heap -m 63:70000 $few -s A -d A
    done
    some "$1" "$2"
    # shellcheck disable=SC2086
    for p in broadcast collect fcollect; do
        passed "$1" "$2" $p -m 4:70000 $few -d A
    done
}

# some DEVICE N[/PPN]: static data of the host, too.
some()
{
    # shellcheck disable=SC2086
    {
        passed "$1" "$2" put global -m 1:1m $few -s A -d A
        passed "$1" "$2" get heap -m 1024:1m $few -s D -d H
        passed "$1" "$2" atomics global -c -i 20 -s A -d A
        passed "$1" "$2" reduce -m 4:70000 $few -d A
    }
}

# more DEVICE N/PPN: pairs and collectives across nodes of several PEs.
more()
{
    # shellcheck disable=SC2086
    {
        passed "$1" "$2" put_mr_nb heap -m 8:4k $few -s D -d D
        passed "$1" "$2" get_mr_nb global -m 8:4k $few -s A -d A
        passed "$1" "$2" atomics heap -c -i 20 -s D -d D
        passed "$1" "$2" fcollect -m 4:4k $few -d D
        passed "$1" "$2" reduce -m 4:4k $few -d D
    }
}

: >failed
if [ -n "$real" ]; then
    every "$real" 2
    every "$real" 2/1
    more "$real" 4/2
    finish
fi
every host 2 &
every cuda-discrete 2
wait
every cuda-discrete 2/1 'put_nb get_nb get_mr_nb put_bw' &
some hip-discrete 2
more hip-discrete 4/2
wait
some host 2/1 &
some hip-coherent 2
some cuda-bare 2
wait

# A default space on the device is what heap means then.
export SHMEM_DEFAULT_SPACE=gpu
# shellcheck disable=SC2086
{
    passed cuda-discrete 2 put heap -m 4k $few
    passed cuda-discrete 2 collect -m 4k $few
    passed cuda-discrete 2 atomics heap -c -i 20 -s H -d H
}
finish
