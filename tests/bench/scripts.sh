#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what the bench scripts share gives medians with any awk, binds
# PEs where it says so, and gives no figure of a launch that failed halfway.
set -u
me=bench dir=$BUILD raw=$PWD failures=0
. "$SRC/scripts/bench.inc"

fail()
{
    echo "FAIL: $*" >&2
    failures=1
}

middle() # NUMBER... = NUMBER
{
    for want do :; done
    got=$(for word do
        case $word in =) break ;; *) echo "$word" ;; esac
    done | median)
    [ "$got" = "$want" ] || fail "median $*: '$got'"
}
middle 3 = 3
middle 4 1 = 2.5
middle 10 9 1 = 9
middle 0.5 1e3 2 7 = 4.5
[ -z "$(median </dev/null)" ] || fail 'a median of nothing'

# bound HOW PES: launch of so many PEs binds them like that.
mkdir bin
printf '#!/bin/sh\necho "$*"\n' >bin/oshrun
chmod 755 bin/oshrun
bound()
{
    got=$(dir=$PWD launch sluice "$2" prog -x)
    [ "$got" = "-n $2 --bind-to $1 prog -x" ] ||
        fail "launch, unbound=$unbound: $got"
}
bound core 1
bound none 100000
unbound=yes
bound none 1
unbound=no

# The fourth launch fails.
launch()
{
    echo x >>launches
    [ "$(wc -l <launches)" -ne 4 ]
}
: >launches
case $(start_ms sluice 1 3 true) in [0-9]*) ;; *) fail 'three launches' ;; esac
: >launches
[ -z "$(start_ms sluice 1 5 true)" ] || fail 'a figure of a failed launch'

printf 'a b\tms\t1.5\t-\t-\t<= 2 ms\tmet\n' | tsv_json >json
grep -q '"name":"a b","unit":"ms","ours":1.5,' json || fail "$(cat json)"
grep -q '"machine":null,"ratio":null,"target":"<= 2 ms"' json ||
    fail "$(cat json)"
exit $failures
