#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: valgrind finds nothing in a program that puts and finalizes: on
# oshrun's channel as it is, by PMIx with the installed suppressions.
# Timeout: 180
set -u
. "$(dirname "$0")/wrap.inc"
have valgrind || skip 'valgrind is not installed'
[ -z "$sanitizer" ] || skip 'valgrind does not run what a sanitizer built'
supp=$SRC/tools/valgrind.supp
works hello "$bin/oshcc" "$hello" -o hello

# checked WHAT COMMAND...: two PEs of hello, with no error and no leak.
checked()
{
    what=$1
    shift
    timeout -k 5 80 "$@" ./hello >"$out" 2>"$err" </dev/null
    status=$?
    [ $status -eq 0 ] || fail "$what: status $status: $(head -n 20 "$err")"
    [ "$(grep -c '^PE [01] of 2' "$out")" -eq 2 ] || fail "$what: $(cat "$out")"
}

set -- valgrind -q --leak-check=full --error-exitcode=9 \
    --errors-for-leak-kinds=definite,possible
checked 'the channel' "$bin/oshrun" -n 2 "$@"
checked 'PMIx' "$bin/oshrun" -n 2 --pmix env -u SLUICE_JOB "$@" \
    "--suppressions=$supp"
finish 'valgrind finds nothing'
