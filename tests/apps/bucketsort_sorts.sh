#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a file of keys comes out as qsort() orders it: each type, with
# its extremes and many equal keys, whatever the number of keys and of PEs.
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"

# sorts PES TYPE COUNT KIND ARGS...
sorts()
{
    pes=$1 type=$2 count=$3 kind=$4
    shift 4
    "$keys" make "$type" "$count" "$kind" >in && "$keys" sort "$type" <in >want ||
        fail "keys of $count $type $kind"
    cp in before
    rm -f sorted
    run "$pes" --input in --type "$type" -o sorted "$@"
    cmp want sorted >cmp.log 2>&1 ||
        fail "$count keys of $type, $kind, on $pes PEs: $(cat cmp.log)"
    cmp -s in before || fail "$count keys of $type: the input has changed"
}

for type in i32 u32 i64 u64; do
    for pes in 1 2 4 7; do
        sorts $pes $type 5003 mixed
    done
done

# No keys, one, fewer than PEs, as many, and one more.
for count in 0 1 3 4 5; do
    sorts 4 i64 $count mixed
done
sorts 7 i32 0 mixed
sorts 1 u32 0 mixed
sorts 7 u32 1 mixed

for kind in equal ascending descending narrow heap; do
    sorts 4 i32 4099 $kind
    sorts 7 u64 4099 $kind
done
sorts 2 i64 1000 equal

# In many chunks, on several threads, and with rounds that repeat.
sorts 4 i32 20011 mixed --chunk 64
sorts 4 u64 20011 mixed --chunk 1000 --variant HA_HI_OMP --threads 3
sorts 2 i64 20011 mixed --variant all -i 3
sorts 1 u32 20011 heap --variant HA_HI_OMP --threads 2
sorts 3 i32 50 mixed --variant HA_HI_OMP --threads 8

# Of more than one piece that is read and written at a time.
sorts 3 u32 1500007 mixed
finish 'sorted as by qsort()'
