#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: lines of PEs stay whole, bytes stay as they are, and a reader
# that is slow or gone does no harm.
set -u
. "$(dirname "$0")/oshrun.inc"

# Whole lines: each PE writes its own letter, line by line in small pieces.
# shellcheck disable=SC2016
try -n 8 sh -c 'w=$(printf "%0300d" 0 | tr 0 "$SLUICE_JOB_PE")
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        printf %s "$w"; printf %s "$w"; echo "$w"; done'
expect 0 'eight writers'
[ "$(wc -l <"$out")" -eq 160 ] || fail "$(wc -l <"$out") lines, not 160"
grep -vqE '^(0{900}|1{900}|2{900}|3{900}|4{900}|5{900}|6{900}|7{900})$' \
    "$out" && fail 'lines were mixed'

# The last line may lack its end; others do not run into it.
try -n 1 printf 'a\nb'
[ "$(od -An -c "$out" | tr -d ' \n')" = 'a\nb' ] || fail 'a partial last line'
try -n 3 printf 'b'
[ "$(grep -c '^b$' "$out")" -eq 3 ] || fail "partial lines met: $(cat "$out")"

# Bytes: all values, no newline for 3 MB, in order.
head -c 3000000 /dev/urandom | tr '\n' x >"$dir/bytes"
try -n 1 cat "$dir/bytes"
expect 0 'binary output'
cmp "$out" "$dir/bytes" || fail 'binary output differs'
cat "$dir/bytes" "$dir/bytes" "$src/oshrun.inc" >"$dir/more"
try -n 2 sh -c '[ "$SLUICE_JOB_PE" = 1 ] || cat "$1"' sh "$dir/more"
cmp "$out" "$dir/more" || fail 'mixed output differs'

try -n 3 --tag-output sh -c 'echo out; echo err >&2; printf x'
[ "$(sort "$out" | tr '\n' ' ')" = '[0] out [0] x [1] out [1] x [2] out [2] x ' ] ||
    fail "--tag-output: $(cat "$out")"
[ "$(sort "$err" | tr '\n' ' ')" = '[0] err [1] err [2] err ' ] ||
    fail "--tag-output: $(cat "$err")"

# One file for both keeps the order of one PE's lines.
oshrun -n 1 sh -c 'for i in 1 2 3 4 5; do echo $i; sleep 0.02; echo $i >&2
    sleep 0.02; done' >"$dir/both" 2>&1 </dev/null
[ "$(tr -d '\n' <"$dir/both")" = 1122334455 ] || fail "2>&1: $(cat "$dir/both")"

oshrun -n 1 sh -c 'echo "sluice: PE 0 (a): bad [S-E-ARG]"; echo after' \
    >"$dir/both" 2>&1 </dev/null
oshrun -n 1 sh -c 'echo "sluice: PE 0 (a): bad [S-E-ARG]" >&2; echo after >&2' \
    >>"$dir/both" 2>&1 </dev/null
[ "$(tr '\n' '|' <"$dir/both")" = 'sluice: PE 0 (a): bad [S-E-ARG]|after|sluice: PE 0 (a): bad [S-E-ARG]|after|' ] ||
    fail "a line of the library: $(cat "$dir/both")"

# A file for each PE; the last job's content goes, messages of oshrun do not.
echo old >"$dir/log.0"
# shellcheck disable=SC2016
try -n 3 --output-filename "$dir/log" sh -c 'echo out; echo err >&2
    echo "sluice: PE $SLUICE_JOB_PE (a): bad [S-E-ARG]" >&2
    [ $SLUICE_JOB_PE != 2 ] || {    # it ends the others: once they are done
        until grep -q bad "$1/log.0" && grep -q bad "$1/log.1"; do
            sleep 0.05
        done
        exit 5
    }' sh "$dir"
expect 5 --output-filename && said 'PE 2 .* exited with status 5.*S-E-PEEXIT'
[ ! -s "$out" ] || fail "--output-filename: on the terminal: $(cat "$out")"
for pe in 0 1 2; do
    [ "$(tr '\n' '|' <"$dir/log.$pe")" = "out|err|sluice: PE $pe (a): bad [S-E-ARG]|" ] ||
        fail "--output-filename: $(cat "$dir/log.$pe")"
done
try -n 2 --output-filename "$dir/nowhere/log" true
expect 1 'no directory' && said '--output-filename: .*nowhere/log.0: No such file'
mkdir "$dir/full.1"
try -n 2 --output-filename "$dir/full" true
expect 1 'a directory' && said '--output-filename: .*full.1: Is a directory'
mkfifo "$dir/pipe.0"
try -n 1 --output-filename "$dir/pipe" true
expect 1 'a pipe' && said '--output-filename: .*pipe.0'
try -n 2 --tag-output --output-filename "$dir/tag" echo x
[ "$(cat "$dir/tag.1")" = '[1] x' ] || fail "both: $(cat "$dir/tag.1")"

# A closed reader ends the job without a word, as in any pipeline.
begin=$(now)
(timeout 60 oshrun -n 4 yes 2>"$err"; echo $? >"$dir/status") | head -n 1 >"$out"
[ "$(cat "$out")" = y ] || fail 'head got nothing'
[ "$(cat "$dir/status")" -eq 141 ] || fail "EPIPE: status $(cat "$dir/status")"
silent 'closed output'
[ $(($(now) - begin)) -lt 5000 ] || fail 'a closed output did not end the job'

# A slow reader slows the PEs down; memory stays small meanwhile.
(timeout 60 oshrun -n 2 sh -c 'echo $PPID >"$1.pid"; yes 2>/dev/null | head -c 40000000
    echo done >"$1.$SLUICE_JOB_PE"' sh "$dir/slow" 2>"$err"
    echo $? >"$dir/status") </dev/null |
    (
        sleep 0.7
        ps -o rss= -p "$(cat "$dir/slow.pid")" | tr -d ' ' >"$dir/rss"
        [ -e "$dir/slow.0" ] && echo early >"$dir/early"
        wc -c >"$dir/count"
    )
[ "$(cat "$dir/status")" -eq 0 ] || fail "slow reader: $(cat "$err")"
[ "$(cat "$dir/count")" -eq 80000000 ] || fail "got $(cat "$dir/count") bytes"
[ ! -e "$dir/early" ] || fail 'the PE did not wait for the reader'
[ "$(cat "$dir/rss")" -gt 0 ] && [ "$(cat "$dir/rss")" -lt 60000 ] ||
    fail "$(cat "$dir/rss") KiB in the supervisor"

# One that takes nothing cannot keep the job from its end.
mkfifo "$dir/stuck"
exec 3<>"$dir/stuck"
begin=$(now)
timeout -k 5 60 oshrun --timeout 1 -n 2 yes >"$dir/stuck" 2>"$err" </dev/null
[ $? -eq 124 ] || fail "stuck reader: --timeout: $(cat "$err")"
[ $(($(now) - begin)) -lt 5000 ] || fail 'a stuck reader held --timeout back'
said 'the job has run for 1 s'
exec 3>&-
exec 3<>"$dir/stuck"
oshrun -n 2 yes >"$dir/stuck" 2>"$err" </dev/null &
sleep 0.5
begin=$(now)
kill -TERM $!
wait $!
[ $? -eq 143 ] || fail "stuck reader: SIGTERM: $(cat "$err")"
[ $(($(now) - begin)) -lt 5000 ] || fail 'a stuck reader held SIGTERM back'
exec 3>&-

# So does a terminal that nobody reads: it is writable as soon as it has any room.
compile tty
begin=$(now)
timeout -k 5 60 "$dir/tty" out oshrun --timeout 1 -n 2 yes 2>"$err" </dev/null
[ $? -eq 124 ] || fail "stuck terminal: --timeout: $(cat "$err")"
[ $(($(now) - begin)) -lt 5000 ] || fail 'a stuck terminal held --timeout back'
said 'the job has run for 1 s'

# A start that fails writes its line when there is room for it, and ends.
mkfifo "$dir/narrow"
exec 3<>"$dir/narrow"
dd if=/dev/zero bs=4096 count=16 >&3 2>"$dir/dd"        # as much as a pipe has
timeout -k 5 20 oshrun --output-filename "$dir/nowhere/log" -n 2 true 2>&3 \
    </dev/null >"$out" &
sleep 0.7                       # it has met the full pipe
dd bs=4096 count=16 <&3 >"$dir/zeros" 2>"$dir/dd"
wait $!
status=$?
expect 1 'a start fails, and standard error is full'
timeout 5 head -n 1 <&3 >"$err"
said '--output-filename: .*nowhere/log.0: No such file'
exec 3>&-

# A full disk is said once, and in the status.
if [ -w /dev/full ]; then
    # shellcheck disable=SC2016
    timeout 60 oshrun -n 2 sh -c 'echo a
        until grep -q "No space" "$0"; do sleep 0.05; done
        echo b' "$err" >/dev/full 2>"$err"
    [ $? -eq 1 ] || fail '/dev/full: status'
    said 'cannot write standard output: No space left on device'
    for _ in 1 2 3 4 5 6; do        # also by PEs that have ended at once
        oshrun -n 2 echo a >/dev/full 2>"$err"
        [ $? -eq 1 ] || fail '/dev/full: status of echo'
    done
fi
timeout 60 oshrun -n 2 echo x >&- 2>"$err"
[ $? -eq 0 ] || fail "closed standard output: $(cat "$err")"
finish 'output: whole lines, bytes, tags, closed, slow and full readers'
