#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on a terminal the programs say how far they are, on a line that is
# gone at the end; nothing of that where there is none.
# Needs: osu pp-pack
set -u
. "$(dirname "$0")/bucketsort.inc"
command -v script >/dev/null 2>&1 || { echo 'skipped: no script(1)'; exit 77; }
export SHMEM_DEVICE=software
escape=$(printf '\033')

# shows REGEX PROGRAM...: that line of progress, and the table behind it.
shows()
{
    regex=$1
    shift
    ran=$((ran + 1))
    timeout 120 script -qec "$BUILD/bin/oshrun -n 2 $*" /dev/null >"$out" 2>&1 \
        </dev/null || fail "$*: status $?: $(cat "$out")"
    tr '\r' '\n' <"$out" | sed "s/^$escape\[K//" >lines
    grep -qE "^$regex" lines || fail "$*: no '$regex': $(cat -v "$out")"
    grep -qE '^# verified|^64 ' lines && ! tail -c 3 "$out" | grep -q '[%t]$' ||
        fail "$*: ends otherwise: $(cat -v "$out")"
    [ "${regex%left}" = "$regex" ] || return 0
    timeout 120 "$BUILD/bin/oshrun" -n 2 "$@" >"$out" 2>"$err" </dev/null &&
        [ ! -s "$err" ] || fail "$*: without a terminal: $(cat "$err")"
    ! grep -q "$escape" "$out" || fail "$*: without a terminal: $(cat "$out")"
}

shows 'gol2d: host, run 1 of 2, 0 %' "$BUILD/bin/gol2d" -n 32 -g 5 -t 2 -m host,send
shows 'faces: host, run 1 of 2, 0 %' "$BUILD/bin/faces" -e 1x1x1 -n 2 -l 1x1x3 -t 2 -m host,put-signal
shows 'jacobi2d: host, run 1 of 2, 0 %' "$BUILD/bin/jacobi2d" -n 32x16 -i 5 -t 2 -m host
shows 'pp_pack: 8 bytes, run 1 of 2, 0 %' "$BUILD/obj/bench/pp_pack" -s 8:64 -i 5 -w 1 -t 2 -m host
shows 'osu_oshm_put: 8 bytes, 0 %' "$BUILD/obj/tests/osu/osu_oshm_put" heap -m 8:64 -i 5 -x 0
# With what is left, once that is known: this takes some seconds.
shows 'gol2d: host, run [0-9]+ of 40, [0-9]+ %, [0-9]+ s left' \
    "$BUILD/bin/gol2d" -n 128 -g 1500 -t 40 -m host --verify none
shows 'bucketsort: HA_HI, round 1 of 3, [a-z ]+ [0-9]+ %' \
    "$BUILD/bin/bucketsort" --keys 1000 -i 2 --variant HA_HI
finish 'progress on a terminal'
