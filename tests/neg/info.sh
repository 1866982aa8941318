#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_info ends with a status and one line where it is asked
# for nothing it knows, or cannot write; its checks are of the job it is in.
set -u
. "$(dirname "$0")/neg.inc"
# Plugins of hwloc leave memory behind, and are unloaded when that is found.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

while IFS=/ read -r words what; do
    # shellcheck disable=SC2086
    "$bin/shmem_info" $words >"$out" 2>"$err"
    status=$?
    ended 2 "$words"
    said "$words" "shmem_info: $what; see shmem_info --help"
done <<'LINES'
--colour/--colour: no such option
--check --check/--check: --check takes cxi or nothing
--check all/all: --check takes cxi or nothing
--check all cxi/all: --check takes cxi or nothing
-h now/now: the option before it takes nothing
--check cxi more/more: --check takes cxi or nothing
--json --version/--json: goes with --check or alone
--state/--state: takes the process numbers of PEs
--trace/--trace: takes one file
--trace a b/--trace: takes one file
--version now/now: the option before it takes nothing
LINES
[ ! -w /dev/full ] || for words in '' --check --version --help; do
    # shellcheck disable=SC2086
    "$bin/shmem_info" $words >/dev/full 2>"$err"
    status=$?
    ended 1 "shmem_info $words >/dev/full"
    said "shmem_info $words >/dev/full" \
        'shmem_info: writing: No space left on device'
done

# Enough for one PE, not for the twelve of this job.  The shell hides the status
# with which the first one would end those that have not looked yet.
eighth=$(awk '/^MemAvailable/ { printf "%dk", $2 / 8 }' /proc/meminfo)
# shellcheck disable=SC2016
SHMEM_SYMMETRIC_SIZE=$eighth timeout 60 "$bin/oshrun" -n 12 \
    sh -c '"$1" --check || :' sh "$bin/shmem_info" >"$out" 2>"$err" </dev/null
[ "$(grep -c '^FAIL  memory  *\(PE [0-9]* (.*): \)\?the heaps of 12 PEs do not fit' "$out")" -eq 12 ] ||
    fail "12 PEs: $(cat "$out" "$err")"
# One PE speaks for those that found nothing.
for words in '' --check; do
    # shellcheck disable=SC2086
    try 4 --ppn 2 "$bin/shmem_info" $words
    [ $status -eq 0 ] || fail "shmem_info $words on 4 PEs: status $status"
    [ "$(grep -cE '^(PASS  launcher|  system) ' "$out")" -eq 1 ] ||
        fail "shmem_info $words on 4 PEs: $(cat "$out")"
done
# shellcheck disable=SC2016
try 4 sh -c '[ "$SLUICE_JOB_PE" != 2 ] || export SHMEM_PPN=x
    exec "$1" --check' sh "$bin/shmem_info"
[ $status -eq 1 ] || fail "a bad value on PE 2: status $status"
[ "$(grep -c '^FAIL' "$out")" -eq 1 ] &&
    grep -q '^FAIL  environment    PE 2 (.*): a variable has a bad value' "$out" ||
    fail "a bad value on PE 2: $(cat "$out")"

# checked VAR=VALUE STATUS: what --check says then.
checked()
{
    env "$1" "$bin/shmem_info" --check >"$out" 2>"$err"
    status=$?
    [ $status -eq "$2" ] || fail "--check, $1: status $status: $(cat "$out")"
}
checked SHMEM_BOGUS=1 0
[ ! -s "$err" ] || fail "SHMEM_BOGUS twice: $(cat "$err")"
grep ' environment ' "$out" >"$out.env"
[ "$(cat "$out.env")" = 'WARN  environment    SHMEM_BOGUS is set but no such variable is known; shmem_info lists them' ] ||
    fail "SHMEM_BOGUS: $(cat "$out.env")"
checked SHMEM_OFI_DOMAIN=nowhere0 1
grep -q '^FAIL  network .*; NICs here: .*; correct or unset SHMEM_OFI_DOMAIN=nowhere0$' "$out" ||
    fail "SHMEM_OFI_DOMAIN: $(grep network "$out")"
checked SHMEM_PPN=x 1
said SHMEM_PPN=x 'shmem_info: SHMEM_PPN is "x": .* \[S-E-ENV\]'
grep -q '^FAIL  environment ' "$out" || fail "SHMEM_PPN=x: $(cat "$out")"
checked SHMEM_DEVICE_COSTS=bad=3 1
said SHMEM_DEVICE_COSTS=bad=3 'shmem_info: SHMEM_DEVICE_COSTS is .* \[S-E-ENV\]'
grep -q '^FAIL  environment ' "$out" || fail "DEVICE_COSTS: $(cat "$out")"
checked SHMEM_ST_EAGER=x 1
said SHMEM_ST_EAGER=x 'shmem_info: SHMEM_ST_EAGER is .* \[S-E-ENV\]'
grep -q '^FAIL  environment ' "$out" || fail "ST_EAGER: $(cat "$out")"
# A size whose unit was forgotten is legal, and told.
checked SHMEM_SYMMETRIC_SIZE=512 0
grep -q '^WARN  memory  *only 512 B of heap per PE for .*: without k, m, g or t a size is in bytes$' "$out" ||
    fail "512 bytes: $(cat "$out")"
SHMEM_DEVICE=software checked SHMEM_DEVICE_SYMMETRIC_SIZE=100t 1
grep -q '^FAIL  device heap ' "$out" || fail "device heap: $(cat "$out")"
# The limit of most machines is no news.
(
    # shellcheck disable=SC3045  # every shell here has it
    ulimit -l 64 && checked SHMEM_PPN= 0
    grep -q '^PASS  memlock ' "$out" || fail "memlock: $(cat "$out")"
    exit $failures
) || failures=$((failures + 1))
grep -q '^PASS  environment ' "$out" || fail "SHMEM_PPN=: $(cat "$out")"
"$bin/shmem_info" >"$out"
grep -E '(^|[ (])1 [a-zA-Z ]*(packages|nodes|cores|threads)' "$out" &&
    fail 'one of several'
grep 'start-up' "$out" | grep '(' && fail 'half of a parenthesis'
SHMEM_BOGUS=1 "$bin/shmem_info" 2>&1 >/dev/null |
    grep -q '^shmem_info: SHMEM_BOGUS ' || fail 'the report warns as someone else'

# The same as JSON: each row and each check, also of a job and of a bad value.
holds()
{
    jq -e "$2" "$out" >/dev/null || fail "$1: not $2: $(head -c 300 "$out")"
}
if command -v jq >/dev/null; then
    SHMEM_STALL=7 SHMEM_STATS=a.json "$bin/shmem_info" --json >"$out" 2>"$err"
    holds --json '.build.specification == "OpenSHMEM 1.6" and
        .machine.cores > 0 and .machine.memory_bytes > 1000000 and
        (.machine.nics | type) == "array" and .drivers.topology != ""'
    holds --json '.environment[] | select(.name == "SHMEM_STALL") |
        .value == "7" and .source == "environment" and .type == "number"'
    holds --json '.environment[] | select(.name == "SHMEM_STATS") |
        .value == "a.json" and .type == "report" and .default == "0"'
    holds --json "(.environment | length) == $("$bin/shmem_info" | grep -c '^SHMEM_')"
    "$bin/shmem_info" --check >"$out" 2>"$err"
    rows=$(wc -l <"$out")
    "$bin/shmem_info" --json --check >"$out" 2>"$err"
    holds '--check --json' ".failures == 0 and .pe == 0 and
        (.checks | length) == $rows and all(.checks[]; .verdict == \"PASS\" or
        .verdict == \"WARN\" or .verdict == \"NONE\")"
    SHMEM_PPN=x "$bin/shmem_info" --check --json >"$out" 2>"$err" &&
        fail '--check --json: status 0'
    holds '--check --json' '.failures == 1 and any(.checks[];
        .verdict == "FAIL" and .subject == "environment")'
    "$bin/oshrun" -n 3 "$bin/shmem_info" --check --json >"$out" 2>"$err"
    holds 'of a job' '[.pe] == [0]'
    "$bin/shmem_info" --check cxi --json >"$out" 2>"$err"
    holds '--check cxi --json' '.checks[-1].subject == "cxi"'
fi
for word in '--json --state 1' '--trace --json x' '--json --version'; do
    # shellcheck disable=SC2086
    "$bin/shmem_info" $word >"$out" 2>"$err"
    [ $? -eq 2 ] && [ ! -s "$out" ] || fail "$word: $(cat "$out" "$err")"
done
finish 'shmem_info: unknown words, full disks, jobs'
