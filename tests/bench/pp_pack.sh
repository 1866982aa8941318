#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: pp_pack's answers are right in every mode, near and far, on the
# software device and on stand-ins for GPUs; a wrong one is found, and what is
# asked for wrongly is said in one line.
# Timeout: 120
set -u
. "$(dirname "$0")/../device/device.inc"
pp=$BUILD/obj/bench/pp_pack
FAKE_DEVICE_KERNELS=$at/fake/kernels/pp_pack.so
export FAKE_DEVICE_KERNELS

fail()
{
    echo "FAIL: $*" >>failed
}

# runs NAME ROWS DEVICE WORDS...: on 2 PEs; so many rows, leaves NAME.out.
runs()
{
    name=$1 rows=$2 device=$3
    shift 3
    # shellcheck disable=SC2086
    on "$device" "$BUILD/bin/oshrun" -n 2 "$@" >"$name.out" 2>"$name.err" </dev/null ||
        fail "$device: $*: status $?: $(head -n 3 "$name.err")"
    [ "$(grep -cE '^[0-9]+ +(host|put-signal|send|ready-send|eager|part|ki|kt|raw) ' "$name.out")" -eq "$rows" ] ||
        fail "$device: $*: not $rows rows: $(tail -n 4 "$name.out")"
}

# ends STATUS TEXT WORDS...: so it ends, with one line that has TEXT.
ends()
{
    turn=$1 want=$2 text=$3 status=0
    shift 3
    on "${real:-software}" "$BUILD/bin/oshrun" "$@" >"$turn.out" 2>"$turn.err" </dev/null ||
        status=$?
    [ $status -eq "$want" ] || fail "$*: status $status, not $want"
    [ "$(grep -c '^pp_pack: .* \[P-E-[A-Z]*\]$' "$turn.err")" -eq 1 ] &&
        grep -q -e "$text" "$turn.err" ||
        fail "$*: no '$text' in '$(head -n 3 "$turn.err")'"
}

# The same beside others.
turns=0
refused()
{
    turns=$((turns + 1))
    ends $turns "$@" &
    [ $((turns % 4)) -ne 0 ] || wait
}

# The stand-in for CUDA runs kernels that call the library where nvcc compiled them.
ptx_two=11 ptx_far=5
[ ! -s "$BUILD/obj/bench/pp_pack.ptx" ] || ptx_two=17 ptx_far=8
few='-i 20 -w 5 -t 2 -V 20'
# shellcheck disable=SC2086  # words
{
    runs near 36 "${real:-software}" "$pp" $few -s 4:32 &
    runs far 24 "${real:-software}" --ppn 1 "$pp" $few -s 24:96 &
    runs old_names 4 "${real:-software}" "$pp" $few -s 64 -m hd,pss,st,rst &
    wait
    runs large 8 "${real:-software}" "$pp" $few -s 260k &
    if [ -z "$real" ]; then
        runs cuda $ptx_two cuda-discrete "$pp" $few -s 4k:8k &
        wait
        runs cuda_far $ptx_far cuda-discrete --ppn 1 "$pp" $few -s 1000 &
        runs hip 6 hip-discrete "$pp" $few -s 1000 &
        wait
        runs hip_far 10 hip-coherent --ppn 1 "$pp" $few -s 4:8 &
    fi
    wait
}
# What a message takes: one kernel, but of ki and kt one for a whole loop; host four
# calls of the host, others none.
awk '/^[0-9]/ && ($8 != ($2 ~ /^k/ ? "0.05" : "1.00") || $10 != ($2 == "host" ? "4.00" : "0.00")) { print; bad = 1 }
     END { exit bad }' near.out >row || fail "near: counts: $(cat row)"
awk '/^[0-9]/ && $2 == "put-signal" && $9 != "1.00" { print; bad = 1 } END { exit bad }' \
    far.out >row || [ -n "$real" ] || fail "far: one armed operation a message: $(cat row)"
grep -q '^# pp_pack: .* on one node' near.out || fail "$(head -n 1 near.out)"
grep -q '^# pp_pack: .* on two nodes' far.out || fail "$(head -n 1 far.out)"

# 20 round trips of each size and mode, and the last one of two timed loops.
grep -qx '# verified 792 times: each element of .*' near.out ||
    fail "near: $(tail -n 1 near.out)"

# The object has the same rows.
on "${real:-software}" "$BUILD/bin/oshrun" -n 2 "$pp" $few -s 8:16 -m put-signal,host --json >json 2>&1
grep -qE '^\{"program":"pp_pack",.*"rows":\[\{"size":8,"mode":"host",.*"ratio_to_host":1,.*\{"size":16,"mode":"put-signal",[^}]*\}\],"verified":88\}$' json ||
    fail "json: $(cat json)"

# One wrong element, in the pass of checks or in the last round of a loop.
for mode in host put-signal send ready-send eager part ki kt raw; do
    refused 1 "$mode, messages of 512 bytes: of the answers of 20 round trips, 1 element is wrong" \
        -n 2 "$pp" $few -s 512 -m $mode --spoil 7
done
refused 1 'of the answers of 1 round trip, 1 element is wrong' \
    -n 2 "$pp" -i 20 -w 5 -t 2 -V 0 -s 512 -m put-signal --spoil 25
refused 1 'mode raw: the device does not reach .* PE 1' \
    -n 2 --ppn 1 "$pp" $few -s 4 -m raw
refused 1 'mode eager: SHMEM_ST_EAGER is 4096 bytes here' \
    -n 2 "$pp" $few -s 8k -m eager
refused 1 'no room for .* of device memory: set SHMEM_DEVICE_SYMM' \
    -n 2 "$pp" $few -s 4:16m
refused 2 'mode put-signal,gone: say some of host, put-signal, send, ready-send, eager, part, ki, kt, raw' -n 2 "$pp" -m put-signal,gone
refused 2 'sizes 6: say LO or LO:HI, multiples of 4' -n 2 "$pp" -s 6
refused 2 'sizes 1k:8: LO is above HI' -n 2 "$pp" -s 1k:8
refused 2 'iters 0: say a number from 1' -n 2 "$pp" -i 0
refused 2 'option -t: its value is missing' -n 2 "$pp" -t
refused 2 'argument 4: not expected' -n 2 "$pp" 4
refused 1 '3 PEs: it takes 2' -n 3 "$pp"
wait
"$BUILD/bin/oshrun" -n 2 "$pp" --help | grep -q -- '--charged' || fail help
SHMEM_DEVICE=none "$BUILD/bin/oshrun" -n 2 "$pp" 2>&1 |
    grep -q '^pp_pack: there is no device memory' || fail 'no device'
finish
