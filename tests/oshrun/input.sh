#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: standard input goes to PE 0, to its end; the others read none.
set -u
. "$(dirname "$0")/oshrun.inc"

echo hello | timeout 60 oshrun -n 3 sh -c 'echo "$SLUICE_JOB_PE:$(cat)"' >"$out"
[ "$(sort "$out" | tr '\n' ' ')" = '0:hello 1: 2: ' ] || fail "$(cat "$out")"

# Far more than a pipe holds, both ways at once.
seq 1 1000000 >"$dir/numbers"
# shellcheck disable=SC2002
cat "$dir/numbers" | timeout 60 oshrun -n 2 cat >"$out"
cmp "$out" "$dir/numbers" || fail 'piped numbers differ'
timeout 60 oshrun -n 2 cat <"$dir/numbers" >"$out"
cmp "$out" "$dir/numbers" || fail 'numbers from a file differ'

# A terminal that is not the controlling one.
compile tty
timeout -k 5 20 "$dir/tty" in oshrun -n 2 sh -c 'echo "$SLUICE_JOB_PE:$(cat)"' >"$out" 2>"$err"
[ $? -eq 0 ] && [ "$(sort "$out" | tr '\n' ' ')" = '0:first 1: second ' ] ||
    fail "another terminal: $(cat "$out" "$err")"

# What PE 0 does not read stays there: a loop over lines works.
seq 1 5 >"$dir/lines"
while read -r line; do
    oshrun -n 2 true
    echo "$line"
done <"$dir/lines" >"$out"
[ "$(wc -l <"$out")" -eq 5 ] || fail "the loop saw $(wc -l <"$out") lines"

# The writer learns that nobody reads any more.
begin=$(now)
yes 2>/dev/null | timeout 60 oshrun -n 2 sh -c '[ "$SLUICE_JOB_PE" = 1 ] || head -n 1' \
    >"$out"
[ "$(cat "$out")" = y ] || fail "head -n 1: $(head -n 2 "$out")"
[ $(($(now) - begin)) -lt 5000 ] || fail 'yes went on'

timeout 60 oshrun -n 2 cat <&- >"$out" 2>"$err"
[ $? -eq 0 ] || fail "closed standard input: $(cat "$err")"
[ ! -s "$out" ] || fail "closed standard input gave $(cat "$out")"
finish 'input: to PE 0, whole, not more than is read'
