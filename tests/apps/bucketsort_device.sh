#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: variants with buckets and tables on the device sort as qsort()
# does, on each device there is to stand in for one, on and off the node, at odd sizes.
# Light: small jobs start two at a time
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"
. "$SRC/tests/apps/device.inc"
. "$SRC/tests/side.inc"
options='' device=GA_HI,GA_HI_Stream,GA_HI_OMP,GA_ST
own=$device,GA_KI,GA_KT

# part NAME [ARG]: that function, two at a time, in a directory of its own.
part()
{
    start in_part "$@"
}
in_part()
{
    place=$dir/$1.${2-}
    mkdir "$place"
    cd "$place" || exit
    out=$place/out err=$place/err
    "$@" >"$place/said" 2>&1
    echo "$ran $failures" >"$place/counts"
}

# sorts DEVICE PES TYPE COUNT DIST ARGS...
sorts()
{
    on=$1 of=$2 type=$3 count=$4 dist=$5
    shift 5
    "$keys" make "$type" "$count" "$dist" >in &&
        "$keys" sort "$type" <in >want || fail keys
    rm -f sorted
    with_device "$on" run "$of" --input in --type "$type" -o sorted "$@"
    cmp want sorted >cmp.log 2>&1 ||
        fail "$on, $of PEs, $count of $type, $dist: $(cat cmp.log)"
}

# --- Each device: files at odd sizes, made keys ---

# variants_of DEVICE: these, so many `rows`.  The stand-in for CUDA runs the
# kernel that communicates where nvcc has compiled it; that for HIP has no
# compiler for it.
variants_of()
{
    these=$own rows=6
    case ${real:+gpu-}$1 in
        cuda-*) [ -s "$BUILD/obj/apps/bucketsort/exchange_ki.ptx" ] || these=$device ;;
        hip-*) these=$device ;;
    esac
    [ "$these" = "$own" ] || rows=4
}

files()
{
    on=$1
    variants_of "$on"
    sorts $on 3 i64 1501 mixed --variant $these --chunk 64 --streams 3
    sorts $on 2 u32 5003 mixed --variant all --chunk 499 --threads 3
    grep -q '^# device: .*; HA_: keys on the device; GA_: tables on the dev' \
        "$out" || fail "$on: no line of the device: $(cat "$out")"
    [ $rows -eq 6 ] || grep -q '^# GA_KI and GA_KT are left out: there is no compiler' \
        "$out" || fail "$on: GA_KI: $(cat "$out")"
    with_device $on run 4 --keys 2001 -i 1 --variant $these --chunk 256
    [ "$(grep -c '^  GA_' "$out")" -eq $rows ] || fail "$on: $(cat "$out")"
    [ $rows -eq 6 ] ||
        with_device $on refused 1 'the kernel of GA_KI for .*: .*DEVICE' \
            2 --keys 100 -i 1 --variant GA_KI
}

# Nothing is shared: the library says that it is slower.
bare()
{
    with_device cuda-bare try 2 --keys 3001 -i 1 --variant all
    [ $status -eq 0 ] || fail "cuda-bare: $(head -n 3 "$err")"
    [ -n "$real" ] || grep -q '^# GA_ST is left out: streams of this device cannot wait' "$out" ||
        fail "cuda-bare: $(cat "$out")"
    with_device cuda-bare try 2 --keys 3001 -i 1 --variant GA_ST
    [ -n "$real" ] || {
        [ $status -eq 1 ] && grep -q '^bucketsort: .* a wait on a stream: .*another --variant \[B-E-DEVICE' "$err"
    } || fail "GA_ST on cuda-bare: status $status: $(cat "$err")"
}

# --- Host buckets are the host's, whatever memory is the default ---

default_space()
{
    export SHMEM_DEFAULT_SPACE=gpu
    for on in software cuda-discrete; do
        with_device $on run 2 --keys 3001 -i 1 --variant HA_HI,GA_HI
    done
    unset SHMEM_DEFAULT_SPACE
}

# --- The software device: sizes, and where things are ---

sizes()
{
    for count in 0 1 2 63 64 65; do
        sorts software 4 i32 $count mixed --variant $own --chunk 64
    done
    sorts software 1 u64 5000 mixed --variant all --chunk 64 --streams 16
    sorts software 7 u32 5000 equal --variant $own --threads 9
    # The last variant alone writes the keys.
    for count in 1 63 4001; do
        sorts software 4 i64 $count mixed --variant GA_KI --chunk 64
        sorts software 3 u32 $count equal --variant GA_KI
        sorts software 4 i64 $count mixed --variant GA_KT --chunk 64
        sorts software 3 u32 $count equal --variant GA_KT
    done
}

places()
{
    variants_of cuda-discrete
    for table in host device; do
        for counters in host device; do
            sorts software 3 u64 4001 mixed --variant $own --chunk 256 \
                --table $table --counters $counters
            with_device cuda-discrete run 3 --keys 1000 -i 1 --chunk 64 \
                --variant $these --table $table --counters $counters
        done
    done
    run 3 --mode weak_iso --keys 3000 -i 1 --variant HA_HI,HA_HI_OMP \
        --local device
    grep -q '^# device: ' "$out" || fail '--local device: no line of it'
    run 3 --keys 3000 -i 1 --variant HA_HI,GA_HI --local host
    grep -q 'HA_: keys on the host' "$out" || fail '--local host: not said'
}

# --- Slots: of c/P + 6 sqrt(c/P) keys, c of a chunk; what has no room there ---

slots() # KEYS PADDING BYHOST, regexps
{
    grep -qE "^# GA_ST: slots of $1 keys: .* put, $2 times what they carried; $3 keys beyond" "$out" ||
        fail "slots: $(grep '^# GA_ST' "$out")"
}
padding()
{
    run 4 --keys 10000 -i 1 --variant HA_HI,GA_ST --chunk 400 --json json
    slots 160 '1\.6[0-9]+' 0
    grep -q '"slot_keys":160,"slot_bytes":[0-9]*,"padding":1\.6[0-9]*,"keys_by_host":0,' json ||
        fail "json of slots: $(cat json)"
    rm json
    for keys_of in 'u64 extremes' 'i32 few' 'u64 reverse'; do
        type=${keys_of% *} dist=${keys_of#* }
        run 4 --generate in --type $type --count 20001 --dist $dist
        "$keys" sort $type <in >want || fail keys
        run 5 --input in --type $type -o sorted --variant GA_ST --chunk 512
        cmp want sorted >cmp.log 2>&1 || fail "$type, $dist: $(cat cmp.log)"
        [ $dist != extremes ] || slots 164 '[1-9.]+' '[1-9][0-9]+'
        rm -f in sorted
    done
}

# --- Other nodes ---

other_nodes()
{
    options='--ppn 1'
    sorts software 3 i64 4001 mixed --variant all --chunk 300
    [ "$own" = "$device" ] || for table in host device; do
        sorts software 3 u32 4001 mixed --variant GA_KI --chunk 64 --table $table
        sorts software 3 u32 4001 mixed --variant GA_KT --chunk 64 --table $table
        run 2 --keys 5000 -i 1 --variant GA_KI --table $table --counters device
    done
    sorts cuda-discrete 2 u32 4001 mixed --variant $device --chunk 300
    options='--ppn 2'
    sorts hip-discrete 4 u32 4001 mixed --variant GA_HI_Stream --counters device
}

part other_nodes
for device_of in software cuda-discrete hip-discrete cuda-coherent; do
    part files $device_of
done
for name in sizes places padding bare default_space; do
    part $name
done
wait
cat "$dir"/*/said >&2
for counts in "$dir"/*/counts; do
    read -r part_ran part_failures <"$counts"
    ran=$((ran + part_ran)) failures=$((failures + part_failures))
done
[ "$(find "$dir" -name counts | grep -c .)" -eq 10 ] || fail 'a part is missing'
finish 'bucketsort on devices'
