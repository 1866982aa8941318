#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SHMEM_INFO prints once what was chosen, the heap's size too, and
# what is set for a provider is told at the level of debugging only.
set -u
. "$(dirname "$0")/neg.inc"

program ok <<'C'
int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
C
unset SHMEM_SYMMETRIC_SIZE SHMEM_TRIGGER
export SHMEM_DEVICE=software

# informed N LAUNCH HEAP: its line and its row.
informed()
{
    # shellcheck disable=SC2086
    SHMEM_INFO=1 try "$1" $2 ./ok
    [ $status -eq 0 ] && [ ! -s "$err" ] ||
        fail "$*: status $status: $(cat "$err")"
    [ "$(grep -cE "^heap: $3 for each PE\$" "$out")" -eq 1 ] ||
        fail "$*: no '$3': $(grep ^heap: "$out")"
}
chosen='[0-9.]+ [MG]iB \([0-9]+ bytes\)'
for n in 0 3; do
    informed $n '' "$chosen"
    grep -qE '^SHMEM_SYMMETRIC_SIZE +[0-9]+m +default ' "$out" ||
        fail "$n PEs: $(grep ^SHMEM_SYM "$out")"
done
informed 2 '--ppn 1' "$chosen"
grep -qxE 'streams, host heaps of this node: puts copy, atomics copy \(the device by itself\)' "$out" &&
    grep -qxE 'streams, other nodes: puts soft, atomics soft \(a thread: .* has no deferred work that is to be used\)' "$out" ||
    fail "the engines of streams: $(grep ^streams "$out")"
SHMEM_TRIGGER=soft informed 2 '--ppn 1' "$chosen"
grep -qxF 'streams, other nodes: puts soft, atomics soft (a thread: SHMEM_TRIGGER=soft)' "$out" ||
    fail "SHMEM_TRIGGER=soft: $(grep ^streams "$out")"
SHMEM_DEVICE=none informed 2 '' "$chosen"
grep -qxF 'streams: none (SHMEM_DEVICE=none)' "$out" ||
    fail "SHMEM_DEVICE=none: $(grep ^streams "$out")"
SHMEM_SYMMETRIC_SIZE=5001k informed 2 '--ppn 1' '4\.9 MiB \(5124096 bytes\)'
grep -qE '^SHMEM_SYMMETRIC_SIZE +5001k +SHMEM_ ' "$out" ||
    fail "5001k: $(grep ^SHMEM_SYM "$out")"

for level in info debug; do
    SHMEM_LOG=$level:ofi try 2 --ppn 1 ./ok
    grep -q 'ofi\] provider ' "$err" || fail "SHMEM_LOG=$level: $(cat "$err")"
    grep -c 'ofi\] set FI_' "$err" >settings
    case $level,$(cat settings) in
        info,0 | debug,[1-9]*) ;;
        *) fail "SHMEM_LOG=$level, $(cat settings) settings: $(cat "$err")" ;;
    esac
done
finish 'SHMEM_INFO says what is used'
