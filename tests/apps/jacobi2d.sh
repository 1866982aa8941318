#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: Jacobi's iteration on a grid of PEs is that of one processor, point
# by point, and so are its norms, in each mode: with and without neighbours along
# an axis, near and far, on each device; what is wrong is found.
# Timeout: 120
set -u
program=jacobi2d
. "$(dirname "$0")/halo.inc"

for iters in 1 2 7 100; do
    right 8 1 -- -n 24x12 -i $iters -t 2 -c 3
    right 8 2 -- -n 24x12 -i $iters -t 2
    verified 16
    right 8 3 -- -n 24x12 -i $iters -t 2 --grid 3x1 -c 1
    right 8 4 -- -n 24x12 -i $iters -t 2 -c 7
done
right 8 8 -- -n 24x12 -i 20 -t 1 --grid 4x2 -c 10
right 8 4 -- -n 24x12 -i 20 -t 1 --grid 1x4
right 8 1 -- -n 1x1 -i 9 -t 2 -c 2
right 8 2 -- -n 1024x1024 -i 2 -t 1 -c 2
# Long sides travel in parts.
right 8 2 -- -n 16x2048 -i 9 -t 1
right 8 2 --ppn 1 -- -n 2048x16 -i 9 -t 1 --grid 1x2 -c 4
right 8 2 --ppn 1 -- -n 40x40 -i 7 -t 2 --pack apart -c 7
right 8 4 --ppn 2 -- -n 24x12 -i 20 -t 2 -c 5
# Groups of one kernel wait for each other.
right 2 1 -- -n 24x12 -i 50 -t 2 -m part,ki --groups 3 -c 8
right 2 3 -- -n 24x12 -i 51 -t 2 -m kt,part --groups 5
right 2 2 --ppn 1 -- -n 24x12 -i 20 -t 2 -m ki,kt --groups 2 -c 4
on_gpus -n 32x24 -i 7 -c 3

try 2 -- -n 32x16 -i 10 -t 3 -m host,part --json -c 5
grep -qE '^\{"program":"jacobi2d",.*"pes":2,.*"grid":"2x1","iterations":10,"check":5,.*"verified":2,"rows":\[$' out &&
    [ "$(grep -cE '^,?\{"nx":32,"ny":16,.*"mode":"(host|part)",.*"speedup_vs_host":.*\}$' out)" -eq 2 ] ||
    fail "json: $(cat out)"

for mode in cpu host put-signal send ready-send part ki kt; do
    refused 1 "$mode, 32 x 32 on 2x1 PEs, 9 iterations: [0-9]* points are wrong" \
        2 -- -n 32x32 -i 9 -t 1 -w 0 -m $mode --spoil 3
done
refused 1 'spoil 10: nothing wrong was found: .*: the first one has rounds 1 to 9 ' \
    2 -- -n 32x32 -i 9 -t 1 -w 0 -m send --spoil 10
refused 2 'grid 2x2: there are 3 PEs' 3 -- --grid 2x2
refused 2 'size 100x99: no multiple of 3x1 PEs' 3 -- -n 100x99
refused 2 'size 65536x65536: a block with its ghosts has more than 4294967295 points' 1 -- -n 65536x65536 --verify none
refused 2 'size 0x9: say NXxNY, of numbers from 1 to 1048576' 1 -- -n 0x9
refused 2 'size 4096x4096: up to 4194304 points are compared' 1 -- -n 4096x4096
refused 2 'iters 0: say a number from 1 to' 1 -- -i 0
refused 2 'check -1: say a number from 0 to' 1 -- -c -1
try 1 -- --help
[ $status -eq 0 ] && grep -q -e '--check N' out || fail "--help: $status: $(cat out)"
finish 'Jacobi'
