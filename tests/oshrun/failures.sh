#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: when a PE fails the others end within 2 s, one line says why,
# and what many PEs say is printed once.
set -u
. "$(dirname "$0")/oshrun.inc"
compile job

# quick WHAT: the last try ended soon enough.
quick()
{
    in_time $ms 2600 || fail "$1: took $ms ms"
}

# Others that ignore SIGTERM get SIGKILL.
try -n 4 sh -c 'trap "" TERM; [ "$SLUICE_JOB_PE" != 1 ] || { sleep 0.2; kill -9 $$; }
    while :; do sleep 1; done'
expect 137 'PE 1 is killed' && quick 'PE 1 is killed'
said '^oshrun: PE 1 (.*, pid [0-9]*) was killed by signal 9 (Killed); ending the other 3 PEs \[S-E-PEDIED\]$'

# Others get the time to clean up on SIGTERM, also when they are stopped.
rm -f up.*
try -n 3 sh -c 'trap "echo cleaned; exit" TERM
    : >up.$SLUICE_JOB_PE
    until [ "$SLUICE_JOB_PE" != 1 ]; do
        sleep 0.02
        [ ! -e up.0 ] || [ ! -e up.2 ] || { sleep 0.2; exit 4; }
    done
    [ "$SLUICE_JOB_PE" != 2 ] || kill -STOP $$
    while :; do sleep 0.05; done'
expect 4 'PE 1 exits with 4' && quick 'PE 1 exits with 4'
[ "$(grep -c cleaned "$out")" -eq 2 ] || fail 'SIGTERM did not arrive'

# Lines are merged that come within a moment, and on a busy machine PEs do not
# even start within one: the first of those that call it writes for all.
cat >"$dir/say.inc" <<'S'
# say "PE..." LINE: each of these says it; \$pe in it is its number.
say()
{
    echo $$ >pid.$SLUICE_JOB_PE.new && mv pid.$SLUICE_JOB_PE.new pid.$SLUICE_JOB_PE
    if [ "$SLUICE_JOB_PE" = "${1%% *}" ]; then
        for pe in $1; do
            until [ -e pid.$pe ]; do sleep 0.02; done
        done
        for pe in $1; do
            read -r pid <pid.$pe
            eval "echo \"$2\"" >/proc/$pid/fd/2
        done
        : >said
    fi
    until [ -e said ]; do sleep 0.02; done
}
S
# saying N COMMANDS: the commands may say something.
saying()
{
    rm -f pid.* said
    try -n "$1" sh -c ". '$dir/say.inc'; $2"
}

# Messages of the library: one line for all, which also explains the status.
saying 8 'say "4 1 2 3 0 5 6 7" "sluice: PE \$pe (h): heap: no memory [S-E-HEAP]"
    exit 1'
expect 1 'eight equal messages'
said '^sluice: PE 0 (h): heap: no memory \[S-E-HEAP\] (and 7 other PEs: 1-7)$'
saying 4 'echo "sluice: PE $SLUICE_JOB_PE (h): note $SLUICE_JOB_PE [S-W-ENV]" >&2
    [ "$SLUICE_JOB_PE" = 2 ] || say "0 1 3" "sluice: (h): bad value [S-E-ENV]"
    exit 0'
expect 0 'warnings'
grep -q '^sluice: PE 0 (h): bad value \[S-E-ENV\] (and 2 other PEs: 1,3)$' "$err" ||
    fail "without a number: $(cat "$err")"
[ "$(grep -c '^sluice: PE [0-3] (h): note [0-3] \[S-W-ENV\]$' "$err")" -eq 4 ] ||
    fail "different messages were merged: $(cat "$err")"
# Addresses differ between PEs that do the same; the lowest PE's is shown.
saying 4 'say "3 2 1 0" "sluice: PE \$pe (h): no block at 0x7f0\$pe, PE 0x [S-E-FREE]"
    exit 1'
said '^sluice: PE 0 (h): no block at 0x7f00, PE 0x \[S-E-FREE\] (and 3 other PEs: 1-3)$'
# The message arrives although its PE is not the first to die.
saying 4 'case $SLUICE_JOB_PE in
        3) until [ -e pid.1 ] && [ -e pid.2 ]; do sleep 0.02; done
            echo $$ >dying.new && mv dying.new dying
            exit 6 ;;
        0) until [ -e dying ]; do sleep 0.02; done
            read -r pid <dying
            while [ -e /proc/$pid ]; do :; done
            kill -STOP $PPID ;;         # it has seen that end, a moment ago
    esac
    say "0 1 2" "sluice: PE \$pe (h): lost a PE [S-E-PMI]"
    [ "$SLUICE_JOB_PE" != 0 ] || kill -CONT $PPID
    sleep 20'
expect 6 'PE 3 exits with 6' && quick 'PE 3 exits with 6'
grep -q 'lost a PE \[S-E-PMI\] (and 2 other PEs: 1-2)$' "$err" ||
    fail "last words: $(cat "$err")"
[ "$(wc -l <"$err")" -eq 2 ] || fail "too many words: $(cat "$err")"

try --pmix -n 4 "$dir/job" abort 0
expect 0 'abort with 0' && quick 'abort with 0'
silent 'abort with 0'
try --pmix -n 4 "$dir/job" abort 42
expect 42 'abort with 42' && quick 'abort with 42'
try --pmix -n 4 "$dir/job" abort 256
expect 1 'abort with 256 is no success'
try --pmix -n 4 "$dir/job" die
expect 137 'a PE dies in PMIx' && quick 'a PE dies in PMIx'
said '^oshrun: PE 1 .* was killed by signal 9 .*ending the other 3 PEs'
try --pmix -n 4 "$dir/job" leave
# Either oshrun sees it first, or libpmix, which fails the others' fence.
[ $status -eq 9 ] || expect 1 'a PE leaves without finalizing'
quick 'a PE leaves'
grep -q '^oshrun: PE 1 (.*) exited with status 0 but without shmem_finalize' \
    "$err" || [ -s "$out" ] || fail "a PE leaves: $(cat "$err")"
try --pmix -n 4 "$dir/job" leave-all
expect 0 'all PEs leave without finalizing' && silent 'all PEs leave'
finish 'failures: one line, the others end, last words, abort, no finalize'
