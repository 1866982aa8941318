#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every function of OpenSHMEM 1.6, and every one of shmemx.h, has
# the prototype of the table, links, and can be called.
set -u
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
here=$SRC/tests/lang failed=0
fail() { echo "FAIL: $*"; failed=1; }

# all TABLE LIST OPTION: what TABLE says is what LIST names, and runs.
all()
{
    awk -v names=1 -f "$here/all_calls.awk" "$here/$1" | sort >names
    sed '/^#/d; /^$/d' "$SRC/docs/$2" | sort >promised
    lacks=$(comm -23 promised names | head -n 5)
    [ -z "$lacks" ] || fail "tests/lang/$1 lacks the prototype of" "$lacks"
    lacks=$(comm -13 promised names | head -n 5)
    [ -z "$lacks" ] || fail "tests/lang/$1 has, but docs/$2 lacks" "$lacks"
    awk -f "$here/all_calls.awk" "$here/$1" >every_calls.h || fail "$1"
    "$BUILD/bin/oshcc" -std=gnu11 -O0 -Wall -Werror $3 -I. -x c -o every \
        "$here/all_calls.in" >cc.out 2>&1 || { fail "$1: $(head -n 5 cc.out)"; return; }
    for n in 1 2; do
        timeout -k 5 60 "$BUILD/bin/oshrun" -n $n ./every >out 2>&1 ||
            fail "$1 on $n PEs: $(tail -n 5 out)"
        grep 'functions called' out || fail "$1 on $n PEs: no end"
    done
}
all prototypes.txt openshmem-1.6.txt ''
all extensions.txt extensions.txt -DMORE
exit $failed
