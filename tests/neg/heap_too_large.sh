#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: heaps that do not fit the memory or a limit are refused at init
# by one line with the sum, what there is and the variable; never by a signal.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return shmem_init_thread(SHMEM_THREAD_SINGLE, NULL) ? 3 : 0;
    shmem_init();
    printf("started\n");
    shmem_finalize();
    return 0;
}
C
size='[0-9.]+ [KMGTP]iB'

# too_large VALUE: for one PE and for four.
too_large()
{
    try 0 env SHMEM_SYMMETRIC_SIZE="$1" ./bad
    ended 1 "$1"
    said "$1" "sluice: PE 0 \\([^ ]+\\): symmetric heaps of $size for 1 PE take $size with static data, but .+ allows $size: set a smaller SHMEM_SYMMETRIC_SIZE \\[S-E-HEAP\\]"
    try 4 env SHMEM_SYMMETRIC_SIZE="$1" ./bad
    ended 1 "$1 on four PEs"
    said "$1 on four PEs" "sluice: PE 0 \\([^ ]+\\): symmetric heaps of $size for 4 PEs take $size with static data, but .+ allows $size: set a smaller SHMEM_SYMMETRIC_SIZE \\[S-E-HEAP\\]"
    soon "$1 on four PEs"
}
too_large 900t
too_large 2097152t
too_large 8388607t
# Beyond what a size_t holds.
said 'the sum' '.* symmetric heaps of 8192 PiB for 4 PEs take 32768 PiB with .*'

# A size that is none is no reason to speak of memory.
SHMEM_SYMMETRIC_SIZE=18446744073709551615 "$bin/shmem_info" --check >"$out" \
    2>"$err" && fail 'shmem_info --check passes a bad size'
said 'shmem_info --check' '.* SHMEM_SYMMETRIC_SIZE is "18446744073709551615": want a number from [0-9a-z]* to [0-9a-z]*, .* \[S-E-ENV\]'
grep -q '^FAIL  memory  *not tried' "$out" || fail "$(cat "$out")"

# Enough for one, not for three: the memory is not taken, so this is cheap.
half=$(awk '/^MemAvailable/ { printf "%dk", $2 / 2 }' /proc/meminfo)
try 1 env SHMEM_SYMMETRIC_SIZE="$half" ./bad
one=$status
try 3 env SHMEM_SYMMETRIC_SIZE="$half" ./bad
ended 1 'three halves'
said 'three halves' "sluice: PE 0 \\([^ ]+\\): symmetric heaps of $size for 3 PEs take $size .* \\[S-E-HEAP\\]"
# A control group may allow less than a half.
[ $one -eq 0 ] || echo "one half ends with $one"

try 0 env SHMEM_SYMMETRIC_SIZE=900t ./bad thread
ended 3 'shmem_init_thread returns'
said 'shmem_init_thread returns' 'sluice: PE 0 .* \[S-E-HEAP\]'

# Memory that nobody asked for by size may be short, too.
try 2 env SHMEM_FAULT=heap.commit:1 ./bad
ended 1 'no memory at all'
said 'no memory at all' "sluice: PE 0 \\([^ ]+\\): symmetric heaps of 1\\.0 MiB for 2 PEs take ([2-9]|[0-9]+[0-9])(\\.[0-9])? MiB .* \\[S-E-HEAP\\]"

# limited WORDS REGEX: under ulimit WORDS.
limited()
{
    try 2 sh -c "ulimit $1 && SHMEM_SYMMETRIC_SIZE=64m exec ./bad"
    ended 1 "ulimit $1"
    said "ulimit $1" "$2"
}
limited '-f 100' 'sluice: PE 0 \([^ ]+\): node memory of [0-9]+ bytes exceeds the file size limit of [0-9]+: raise it \(ulimit -f\) \[S-E-LIMIT\]'
# A sanitizer takes terabytes of addresses itself.
sanitized ||
    limited '-v 90000' 'sluice: PE [01] \([^ ]+\): mapping [0-9]+ bytes of node memory \(2 slots\): Cannot allocate memory; is an address-space limit set \(ulimit -v\)\? \[S-E-NODE\]'"$others"
finish 'heaps that do not fit'
