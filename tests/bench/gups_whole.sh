#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: gups loses no update in any mode, made by the host, by streams,
# by queues and by kernels, on tables in host and device memory, near and far,
# and names what is wrong with its arguments; gups_host loses none either.
# Timeout: 60
# Needs: benches
set -u
. "$(dirname "$0")/../device/device.inc"
gups=$BUILD/obj/bench/gups

# whole ENGINE MODES DEVICE N[/PPN] ARGS...: so many rows, none with errors.
whole()
{
    engine=$1 modes=$2 device=$3 n=${4%/*} far=${4#"${4%/*}"} rc=0
    shift 4
    out=out.$device.$n${far:+.far}
    on "$device" "$BUILD/bin/oshrun" -n "$n" ${far:+--ppn "${far#/}"} "$gups" \
        "$@" >"$out" 2>&1 </dev/null || rc=$?
    rows=$(grep -c '^gups .* 0$' "$out")
    by=$(grep -c "^gups *\(stream\|queue\) .* $engine *0\$" "$out")
    [ $rc -eq 0 ] && [ "$rows" -eq "$modes" ] &&
        [ "$by" -eq $((modes > 2 ? 2 : 0)) ] && return
    { echo "FAIL ($rc): $device, $n$far PEs: gups $*"
      head -n 12 "$out"; } >>failed
}

# host N[/PPN] ARGS...: both rows of gups_host, without errors.
host()
{
    n=${1%/*} far=${1#"${1%/*}"} out=out.host.${1%/*}
    shift
    "$BUILD/bin/oshrun" -n "$n" ${far:+--ppn "${far#/}"} "${gups}_host" "$@" \
        >"$out" 2>&1 </dev/null &&
        [ "$(grep -c '^gups_host .* 0$' "$out")" -eq 2 ] && return
    { echo "FAIL: $n$far PEs: gups_host $*"
      head -n 12 "$out"; } >>failed
}

# refused DEVICE TEXT ARGS...: one line, and a status.
refused()
{
    device=$1 text=$2
    shift 2
    said=$(on "$device" "$BUILD/bin/oshrun" -n 2 "$gups" "$@" 2>&1) &&
        said="status 0"
    [ "$(echo "$said" | grep -v '^oshrun: ')" = "gups: $text" ] ||
        echo "FAIL: gups $*: $said, not $text" >>failed
}

: >failed
if [ -n "$real" ]; then
    whole copy 6 "$real" 2 -m 10 -d D
    whole soft 6 "$real" 2/1 -m 10 -d D
    finish
fi
whole soft 6 host 2/1 -m 8 -b 100 &
whole soft 5 hip-discrete 2/1 -m 6 -d D &
whole copy 6 host 3 -m 10 -d D -n 5001
whole - 1 host 4/2 -m 9 -d D -b 3 -n 1001 -x kernel
whole copy 5 hip-discrete 2 -m 8
# The kernel that nvcc has compiled.
if [ -s "$gups.ptx" ]; then
    whole - 1 cuda-discrete 2 -m 8 -d H -x kernel
    whole - 1 cuda-discrete 3 -m 8 -d D -x kernel -n 701
    whole - 1 cuda-discrete 2/1 -m 8 -d D -x kernel -b 7
else
    echo 'skip: nvcc made no PTX of the kernel'
fi
host 3 -m 10 -n 5001
host 2/1 -m 8 -n 500 -b 100
refused none '-m 31: want 1 to 30 bits' -m 31
refused none '-x fast: want host, nbi, driven, stream, queue, kernel or A (each in turn)' \
    -x fast
refused none '-x stream: this job has no device: SHMEM_DEVICE=software is one in software' \
    -x stream
refused hip-discrete '-x kernel: hipModuleGetFunction: hipErrorUnknown (500)' \
    -x kernel
wait
finish
