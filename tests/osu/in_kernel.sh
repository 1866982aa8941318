#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the programs in kernels name who makes the calls, and find every
# byte and word right, made by the program and by a thread, a warp and a block
# of a kernel, in host and device memory, near and far, of the software device
# and of a GPU's stand-in.
# Timeout: 120
# Needs: osu
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE     # more is needed
few='-c -i 3 --warmup 1 -m 63:1200'

# passed N[/PPN] PROGRAM ARGS...: at least one row, and each ends in Pass.
passed()
{
    n=${1%/*} far=${1#"${1%/*}"} program=osu_oshm_$2_kernel rc=0
    shift 2
    said="out.$program.$n.${far:+far}"
    on "$device" "$BUILD/bin/oshrun" -n "$n" ${far:+--ppn "${far#/}"} \
        "$at/osu/$program" "$@" >"$said" 2>&1 </dev/null || rc=$?
    rows=$(grep -cE '^([0-9]|shmem_)' "$said")
    good=$(grep -c 'Pass$' "$said")
    [ $rc -eq 0 ] && [ "$rows" -gt 0 ] && [ "$rows" -eq "$good" ] &&
        grep -q "^# Device $driver; the calls are made by " "$said" && return
    echo "FAIL ($rc): $device, $n$far PEs: $program $*: $good of $rows rows pass" >>failed
    head -n 20 "$said" >>failed
}

# line TEXT FILE: it has such a line.
line()
{
    grep -qE -- "^$1\$" "$2" || {
        echo "FAIL: no line /$1/" >>failed
        head -n 20 "$2" >>failed
    }
}

# refused TEXT DEVICE PROGRAM ARGS...: one line, and a status.
refused()
{
    text=$1 device=$2 program=osu_oshm_$3
    shift 3
    on "$device" "$BUILD/bin/oshrun" -n 2 "$at/osu/$program" "$@" >out.refused \
        2>&1 && echo "FAIL: $program $*: status 0" >>failed
    [ "$(grep -v '^oshrun: ' out.refused)" = "$program: $text" ] || {
        echo "FAIL: $program $*: not '$text'" >>failed
        head -n 5 out.refused >>failed
    }
}

: >failed
device=software driver=host
[ -z "$real" ] || { echo 'skipped: kernels are C functions'; exit 77; }
# shellcheck disable=SC2086
for n in 2 2/1; do
    passed $n put heap $few -s A -d A -x A
    passed $n get heap $few -s A -d A -x A
    passed $n put_bw heap $few -s D -d D -x A &
    passed $n put_mr heap $few -x A
    wait
    passed $n atomics heap -c -i 20 -d A -x A
done
# shellcheck disable=SC2086
{
    passed 4/2 put_mr heap $few -s D -d H -x block
    passed 4/2 atomics global -c -i 10
    passed 2 put global $few -f -T
    passed 2/1 get global $few -x warp
}

# The same loops as PTX, where nvcc made it.
[ ! -s "$at/osu/loops.ptx" ] || for n in 2 2/1; do
    device=cuda-discrete driver=cuda
    for program in put get put_bw put_mr; do
        passed $n $program heap -c -i 2 --warmup 1 -m 64:256 -s A -d A -x A
    done
    passed $n atomics heap -c -i 5 -x A
done

# two PROGRAM ARGS...
two()
{
    program=osu_oshm_$1_kernel
    shift
    on software "$BUILD/bin/oshrun" -n 2 "$at/osu/$program" "$@"
}
two put heap -m 8:8 -i 2 -x A >out.table
two get heap -m 8:8 -i 2 -x block >out.block
two put_mr heap -m 8:8 -i 2 -x A --json | tr -d '\n' >out.json
line '# OSU OpenSHMEM Put in Kernel Test v7\.4' out.table
line '# Device host; the calls are made by the host, then by a thread of a kernel, then by a warp, then by a block' out.table
line '# Size            Latency \(us\)         thread \(us\)           warp \(us\)          block \(us\)         thread/host           warp/host          block/host' out.table
line '8( +[0-9]+\.[0-9]{2}){7}' out.table
line '# Device host; the calls are made by a block of a kernel' out.block
check grep -qE ',"device":"host","execution":\["host","thread","warp","block"\],"rows":\[.*"by_placement":\{"host":[0-9.e+-]+,"thread":[0-9.e+-]+,"warp":[0-9.e+-]+,"block":[0-9.e+-]+\}' out.json
refused 'wants SHMEM_DEVICE=software or cuda: its kernels are C functions and PTX' \
    hip-discrete put_kernel heap
refused "wants heap: kernels of a GPU do not reach a program's static data" \
    cuda-discrete put_kernel global
refused 'wants kernels of a device, and this job has none: SHMEM_DEVICE=software is one in software' \
    none get_kernel heap
refused '-x grid: want host, thread, warp, block or A (each in turn); try -h' \
    software put_kernel heap -x grid
refused '-x block: want host, thread or A (each in turn); try -h' \
    software atomics_kernel heap -x block
refused 'option -s: calls of kernels return what they fetch; try -h' \
    software atomics_kernel heap -s D
refused 'option -w: this program has no stream; try -h' software put_kernel heap \
    -w each
finish
