#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a bad argument gives one line that names it, and a nonzero
# exit status.
set -u
. "$(dirname "$0")/osu.inc"

# refused TEXT PROGRAM ARGS...
refused()
{
    text=$1
    shift
    try "$@"
    [ $status -ne 0 ] || fail "$*: exit status 0"
    [ "$(grep -c "^$1: " "$err")" -eq 1 ] ||
        fail "$*: not one line: $(cat "$err")"
    grep -q -- "$text" "$err" || fail "$*: no '$text' in $(cat "$err")"
    [ ! -s "$out" ] || fail "$*: printed $(head -n 1 "$out")"
}

refused 'say heap or global' osu_oshm_put
refused 'argument stack: say heap or global' osu_oshm_get stack
refused 'argument extra: not expected' osu_oshm_put heap extra
refused 'argument heap: not expected' osu_oshm_barrier heap
refused 'option -q: unknown' osu_oshm_put_mr heap -q
refused 'option --colour: unknown' osu_oshm_put heap --colour
refused 'option -m: its value is missing' osu_oshm_put heap -m
refused '-m 8:4: MIN is above MAX' osu_oshm_put heap -m 8:4
refused '-m 2k:1024: MIN is above MAX' osu_oshm_put heap -m 2k:1024
for sizes in 0 : '' k 4g 1kk 8m 4194305 1:99999999999999999999 1q:4; do
    refused 'want .MIN:.MAX in bytes, each from 1 to 4194304, k and m allowed' \
        osu_oshm_put heap -m "$sizes"
done
refused 'has no sizes' osu_oshm_atomics heap -m 4
refused 'number of iterations' osu_oshm_put heap -i 0
refused 'number of iterations' osu_oshm_atomics heap -i 99999999
refused 'warm-up' osu_oshm_put heap -x -1
refused '0 to 9 digits' osu_oshm_put heap --precision 10
refused 'no single' osu_oshm_put_mr heap -T
refused 'global buffers' osu_oshm_put_mr global -m 16777216
NP=3
refused 'exactly 2' osu_oshm_put heap
refused 'exactly 2' osu_oshm_get_bw heap
NP=1
refused 'at least 2' osu_oshm_barrier
refused 'at least 2' osu_oshm_put_mr heap
finish
