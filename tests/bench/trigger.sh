#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the benchmark of triggers brings right data and gives a row for
# each number of tags, on one node and on two, and says what it needs.
# Timeout: 60
# Needs: benches
set -u
: "${BUILD:?the build directory}"
trigger=$BUILD/obj/bench/trigger failures=0
export SHMEM_DEVICE=software

rows()
{
    "$BUILD/bin/oshrun" -n 2 "$@" "$trigger" --tsv -n 3 >out 2>err </dev/null &&
        [ "$(awk -F '\t' 'NF == 7 && $2 > 0 && $3 > 0 { printf "%s ", $1 }' \
            out)" = '16 64 256 1024 4096 ' ] && return
    echo "FAIL: $*: $(cat out err)" >&2
    failures=1
}

# refused TEXT WORDS...
refused()
{
    text=$1
    shift
    "$BUILD/bin/oshrun" "$@" >out 2>err </dev/null && text="status 0, not $text"
    grep -qE "^(trigger|usage): .*$text" err && return
    echo "FAIL: $*: no '$text': $(cat err)" >&2
    failures=1
}

rows --ppn 2
rows --ppn 1
refused 'needs 2 PEs' -n 1 "$trigger"
refused 'trigger' -n 2 "$trigger" -q
SHMEM_DEVICE=none refused 'SHMEM_DEVICE=software' -n 2 "$trigger"
[ $failures -eq 0 ] && echo 'ok: rows of 5 numbers of tags'
[ $failures -eq 0 ]
