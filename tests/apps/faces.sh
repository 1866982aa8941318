#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: blocks whose faces, edges and corners are added up between PEs
# are those of one processor, value by value, and each PE gets as many messages
# as it has neighbours, whoever drives the exchange: on grids that are open or
# periodic, near and far, on each device.
# Timeout: 120
# Background: its jobs run one after the other, and none is timed
set -u
program=faces
. "$(dirname "$0")/halo.inc"

# messages N: of all PEs in a step, by the last table.
messages()
{
    awk -v n="$1" '/^[0-9]/ && $14 != n { bad = 1 } END { exit bad }' out ||
        fail "not $1 messages in a step: $(cat out)"
}

right 8 1 -- -t 1
messages 0
right 8 1 -- -t 1 --periodic -l 2x1x9
messages 26
right 8 2 -- -t 1 -e 3x2x1 -n 4 --periodic -l 2x2x9
verified 32
right 8 4 -- -t 2 -e 2x3x2 -n 3 -l 2x2x9
messages 12
right 8 8 -- -t 1 -e 2x2x2 -n 3 -l 2x2x17 --pack apart
messages 56
right 8 8 -- -t 1 -e 1 -n 2 -l 1x2x9 --grid 1x8 --periodic
messages 208
right 8 3 -- -t 1 -e 2x1x2 -n 5 -l 1x3x9 --grid 3
messages 4
# All positions: corners with 7 neighbours, then 11, 17 and 26.
right 8 27 -- -t 1 -e 1x1x2 -n 3 -l 1x1x9
messages 316
right 8 2 --ppn 1 -- -t 1 -e 2 -n 3 -l 2x1x9 --periodic
right 8 4 --ppn 2 -- -t 1 -e 2x2x2 -n 3 -l 2x2x9
# Groups of one kernel wait for each other.
right 1 4 -- -t 2 -e 2x3x2 -n 3 -l 2x2x17 -m ki --groups 3
right 1 2 --ppn 1 -- -t 1 -e 2 -n 3 -l 2x1x9 -m ki --groups 2 --periodic
right 1 4 -- -t 2 -e 2x3x2 -n 3 -l 2x2x17 -m kt --groups 3
on_gpus -e 2x2x2 -n 3 -l 2x1x9

for what in 'last 8' 'none 0'; do
    try 2 -- -t 2 -e 1x1x1 -n 2 -l 2x2x5 -V "${what% *}"
    verified "${what#* }"
done
try 2 -- -t 2 -e 1x1x1 -n 2 -l 1x1x5 --json
grep -qE '^\{"program":"faces",.*"elements":"1x1x1","points":2,"ends":"open","loops":"1x1x5",.*"verified":8,"rows":\[$' out &&
    [ "$(grep -cE '^,?\{"grid":"2x1x1",.*"mode":"(cpu|host|put-signal|send|ready-send|part|ki|kt)",.*"messages_per_step":2,.*\}$' out)" -eq 8 ] ||
    fail "json: $(cat out)"

# --- What is wrong is found ---

for mode in cpu host put-signal send ready-send part ki kt; do
    refused 1 "$mode, 2x2x1 PEs, 20 steps of run [0-9]*: [0-9]* values are wrong" \
        4 -- -e 2x2x2 -n 3 -t 1 -l 1x1x20 -m $mode --spoil 2
done
few='-e 2x2x2 -n 3 -t 1 -l 2x3x4 -m send'
# shellcheck disable=SC2086  # words
{
    refused 1 'spoil 500: nothing wrong was found: .*: the first one has rounds 8 to 11 ' 2 -- $few --spoil 500
    refused 1 'the first one has rounds 0 to 11 ' 2 -- $few --spoil 12 -V all
    refused 1 'spoil 2: nothing wrong was found: nothing is sent' 1 -- $few --spoil 2
    for round in 8 11; do
        refused 1 'send, 2x1x1 PEs, 4 steps' 2 -- $few --spoil $round
    done
    refused 1 'send, 2x1x1 PEs, 4 steps' 2 -- $few --spoil 0 -V all
}
try 1 -- --help
[ $status -eq 0 ] && grep -q '^Columns: trigger' out || fail "--help: $(cat out)"
refused 1 'send, 2x1x1 PEs' 2 -- -e 2x2x2 -n 3 -t 1 -l 1x1x20 -m send --spoil 2 --pack apart
refused 2 'grid 2x2x1: there are 3 PEs' 3 -- --grid 2x2
refused 2 'takes .* times the memory of a node: say --verify none' 4 -- -e 64x64x64 -n 20
refused 2 'elements 0: say EXxEYxEZ, of numbers from 1 to 1048576' 1 -- -e 0
refused 2 'points 1: say a number from 2 to 64' 1 -- -n 1
refused 2 'loops 1xx2: say OxMxI, of numbers from 1 to 1048576' 1 -- -l 1xx2
refused 2 'a block has more than 2147483647 points' 1 -- -e 1024x1024x1024
finish 'faces'
