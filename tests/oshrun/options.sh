#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every option works in each of its spellings, and a wrong one
# gives one line and status 2.
set -u
. "$(dirname "$0")/oshrun.inc"

for form in '-n 3' '-np 3' '--np 3' '-c 3' '-n3' '--np=3'; do
    # shellcheck disable=SC2086
    try $form echo pe
    expect 0 "$form"
    [ "$(grep -c pe "$out")" -eq 3 ] || fail "$form: $(wc -l <"$out") PEs"
done
try echo pe
[ "$(wc -l <"$out")" -eq 1 ] || fail 'one PE is the default'
try -n 2 -- echo -n
[ "$(cat "$out")" = '' ] || fail '-- ends the options'

try --ppn 2 -n 4 sh -c 'echo "$SHMEM_PPN"'
[ "$(sort -u "$out")" = 2 ] || fail "--ppn 2: SHMEM_PPN is $(sort -u "$out")"
try -H localhost,127.0.0.1 --ppn 2 sh -c 'echo "$SHMEM_PPN"'
[ "$(sort "$out" | uniq -c | tr -s ' ')" = ' 4 2' ] ||
    fail "--ppn 2 on two names of this host: $(cat "$out")"
A='kept as it is' try -n 1 -x A -x 'B=x = "y"' -x C= sh -c 'echo "$A|$B|$C|${C-unset}"'
[ "$(cat "$out")" = 'kept as it is|x = "y"||' ] || fail "-x: $(cat "$out")"
try -n 1 sh -c 'printf "<%s>" "$@"' sh 'a b' '' '*' '"'
[ "$(cat "$out")" = '<a b><><*><">' ] || fail "arguments: $(cat "$out")"
try --oversubscribe --bind-to none -n 1 true
expect 0 '--oversubscribe --bind-to none' && silent '--oversubscribe'

try -n 2 --bind-to core grep Cpus_allowed_list /proc/self/status
expect 0 '--bind-to core'
grep -q 'list:.[0-9]*\([,-][0-9]*\)\{0,1\}$' "$out" ||
    fail "--bind-to core: $(cat "$out")"
if [ "$(nproc)" -gt 1 ] && [ "$(sort -u "$out" | wc -l)" -ne 2 ]; then
    grep -q 'siblings.*: 2' /proc/cpuinfo || fail 'two PEs share a core'
fi

try -v -n 2 true
expect 0 -v
grep -q 'starting 2 PEs of .*true on ' "$err" || fail "-v: $(cat "$err")"
try --help
expect 0 --help
grep -q -- '--hostfile' "$out" || fail '--help names no option'
try --version
expect 0 --version
grep -q '^oshrun (Sluice) [0-9]' "$out" || fail "--version: $(cat "$out")"

# refused TEXT ARGS...
refused()
{
    text=$1
    shift
    try "$@"
    expect 2 "$*" && said "$text"
    [ ! -s "$out" ] || fail "$*: printed $(head -n 1 "$out")"
}
refused 'unknown option --colour' --colour true
refused 'unknown option -q' -q true
refused 'option -n needs a value' -n
refused 'no program' -n 2
refused 'no program'
refused '-n 0: a number' -n 0 true
refused '-n 2x: a number' -n 2x true
refused '-np -1: a number' -np -1 true
refused '--ppn two' --ppn two true
refused '--timeout -1' --timeout -1 true
refused '--timeout nan' --timeout nan true
refused '--bind-to socket: core or none' --bind-to socket true
refused "variable's name" -x =1 true
refused 'unknown option --a?b' '--a
b' true
finish 'options: spellings, values, refusals'
