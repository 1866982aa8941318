#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the Game of Life on a grid of PEs is that of one processor, cell
# by cell, whoever drives the exchange: where a PE is its own neighbour, where
# one is the neighbour of several sides, near and far, on each device.
# Timeout: 120
# Background: its jobs run one after the other, and none is timed
set -u
program=gol2d
. "$(dirname "$0")/halo.inc"

for gens in 1 2 7 100; do
    right 8 1 -- -n 24 -g $gens -t 2
    right 8 2 -- -n 24 -g $gens -t 2
    verified 16
    right 8 3 -- -n 24 -g $gens -t 2 --grid 3x1
    right 8 4 -- -n 24 -g $gens -t 2
    right 8 8 -- -n 24 -g $gens -t 2 --grid 4x2
done
right 8 2 -- -n 2 -g 7 -t 3 --seed 5 --grid 1x2
right 8 4 -- -n 2048 -g 2 -t 1
right 8 4 -- -n 64 -g 400 -t 1 --init glider8 --pack apart
right 8 3 -- -n 192 -g 4 -t 2 --init glider8 --grid 1x3
right 8 2 --ppn 1 -- -n 40 -g 7 -t 2 --pack apart
right 8 4 --ppn 2 -- -n 24 -g 20 -t 2
# Groups of one kernel wait for each other.
right 1 1 -- -n 24 -g 50 -t 2 -m ki --groups 3
right 1 3 -- -n 24 -g 50 -t 2 -m ki --groups 5
right 2 2 --ppn 1 -- -n 24 -g 20 -t 2 -m host,ki --groups 2
right 1 1 -- -n 3 -g 7 -t 2 -m ki --groups 40
right 2 3 -- -n 24 -g 51 -t 2 -m host,kt --groups 5
right 1 2 --ppn 1 -- -n 24 -g 20 -t 2 -m kt --groups 2
on_gpus -n 32 -g 7
# Old names of modes.
right 4 2 -- -n 24 -g 7 -t 2 -m hd,pss,st,rst

# --- The table's numbers, and the object's ---

for what in 'last 2' 'none 0'; do
    try 2 -- -n 24 -g 3 -t 3 -m host,send -V "${what% *}"
    verified "${what#* }"
done

try 1 -- -n 32 -g 10 -t 3 -m host --base 1000000 --json
grep -qE '^\{"program":"gol2d",.*"pes":1,"ppn":1,.*"grid":"1x1","generations":10,.*"verified":1,"rows":\[$' out &&
    grep -qE '^\{"n":32,.*"mode":"host",.*"us_ideal":1000000,.*"ratio_to_host":1,.*"pays_after":null\}$' out ||
    fail "json: $(cat out)"

# --- What is wrong is found ---

for mode in cpu host put-signal send ready-send part ki kt; do
    refused 1 "$mode, 32 x 32 on 2x1 PEs, 9 generations: [0-9]* cells are wrong" \
        2 -- -n 32 -g 9 -t 1 -w 0 -m $mode --spoil 3
done
refused 1 'put-signal, 32 x 32 on 2x1 PEs' 2 -- -n 32 -g 9 -t 1 -w 0 -m put-signal --spoil 3 --pack apart
for round in 10 1000000; do      # of 10
    refused 1 "spoil $round: nothing wrong was found: .*: the first one has rounds 1 to 9 " \
        2 -- -n 32 -g 9 -t 1 -w 0 -m send --spoil $round
done
refused 1 'spoil 3: nothing wrong was found: no run is compared' 2 -- -n 32 -g 9 -t 1 -w 0 -m host --spoil 3 -V none
# The rounds that it names are compared, and those beside them are not.
few='-n 32 -g 9 -w 4 -m send'
for round in 5 13 15 23; do
    # shellcheck disable=SC2086  # words
    refused 1 'cells* are* wrong\|cell is wrong' 2 -- $few -t 2 -V all --spoil $round
done
for round in 4 14 24; do
    # shellcheck disable=SC2086
    refused 1 'the first one has rounds 5 to 13 ' 2 -- $few -t 2 -V all --spoil $round
    # shellcheck disable=SC2086
    refused 1 'the first one has rounds 15 to 23 ' 2 -- $few -t 2 --spoil $round
done
refused 1 'no room for .* of device memory: set SHMEM_DEVICE_SYMM' 1 -- -n 2048 -g 1
refused 2 'grid 2x2: there are 3 PEs' 3 -- --grid 2x2
refused 2 'size 100: no multiple of 3x1 PEs' 3 -- -n 100
refused 2 'mode host,mpi: say some of cpu, host, put-signal, send, ready-send, part, ki, kt' 1 -- -m host,mpi
refused 2 'pack both: say one of fused, apart' 1 -- --pack=both
refused 2 'grid 1x1x1: say PXxPY, of numbers from 1 to 1048576' 1 -- --grid 1x1x1
refused 2 'gens 0: say a number from 1 to' 1 -- -g 0
refused 2 'base -1: say a number above 0' 1 -- --base -1
refused 2 'init glider8: is compared after 4, 8' 1 -- --init glider8 -g 7
refused 2 'init glider8: say --size 64 or more' 1 -- --init glider8 -n 32 -g 8
refused 2 'size 65536: a block with its ghosts has more than 4294967295 cells' 1 -- -n 65536 --verify none
refused 2 'size 2050: random fields are compared up to 2048' 1 -- -n 2050
refused 2 'option --fast: unknown' 1 -- --fast
refused 2 'option --json=1: unknown, it has no value' 1 -- --json=1
refused 2 'option -t: its value is missing' 1 -- -t
refused 2 'argument 7: not expected' 1 -- 7
SHMEM_DEVICE=none
[ -n "$real" ] || refused 1 'there is no device memory: SHMEM_DEVICE=software' 1 --
try 1 -- --help
[ $status -eq 0 ] && grep -q -e '--base US' out && grep -q -e '--spoil N' out &&
    grep -q '^Columns: mean' out ||
    fail "--help: status $status: $(cat out)"
finish 'the Game of Life'
