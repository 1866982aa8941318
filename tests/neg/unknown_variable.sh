#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an unknown SHMEM_ variable is a warning of PE 0 with the name
# that was probably meant, if there is one, and the program runs.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
C

# warned NAME REGEX
warned()
{
    try 2 env "$1=1g" ./bad
    ended 0 "$1"
    said "$1" "sluice: PE 0 \\([^ ]+\\): $1 is set but no such variable is known; $2 \\[S-W-ENV\\]"
}

warned SHMEM_FOO 'shmem_info lists them'
warned SHMEM_ 'shmem_info lists them'
warned SHMEM_HEAP_AND_EVERYTHING_ELSE_THAT_A_PROGRAM_COULD_EVER_WANT \
    'shmem_info lists them'
warned SHMEM_SYMETRIC_SIZE 'is SHMEM_SYMMETRIC_SIZE meant\?'
warned SHMEM_symmetric_size 'is SHMEM_SYMMETRIC_SIZE meant\?'
warned SHMEM_DEBUGS 'is SHMEM_DEBUG meant\?'
warned SHMEM_STATICDATA 'is SHMEM_STATIC_DATA meant\?'

warned SMA_SYMETRIC_SIZE 'is SHMEM_SYMMETRIC_SIZE meant\?'

# Names of other libraries.
other()
{
    try 2 env "$1=1" ./bad
    ended 0 "$1"
    said "$1" "sluice: PE 0 \\([^ ]+\\): $1 is set, a variable of other libraries; $2 \\[S-W-ENV\\]"
}
other SHMEM_HEAP_SIZE 'here: SHMEM_SYMMETRIC_SIZE'
other XT_SYMMETRIC_HEAP_SIZE 'here: SHMEM_SYMMETRIC_SIZE'
other SHMEM_BARRIER_ALGORITHM 'here: SHMEM_COLL_SYNC'
other SMA_BARRIER_ALGORITHM 'here: SHMEM_COLL_SYNC'
other SHMEM_BOUNCE_SIZE 'there is nothing to set in its place'
try 2 env SMA_OFI_PROVIDER=tcp ./bad
said SMA_OFI_PROVIDER 'sluice: PE 0 \([^ ]+\): SMA_OFI_PROVIDER is set but not read; here: SHMEM_OFI_PROVIDER \[S-W-ENV\]'
# oshcc reads these.
try 2 env SMA_CC=cc SMA_CXX=c++ ./bad
ended 0 SMA_CC
[ ! -s "$err" ] || fail "SMA_CC: $(cat "$err")"
# Values that contradict each other.
contradicts() # TEXT VAR=VALUE...
{
    text=$1
    shift
    try 2 env "$@" ./bad
    ended 0 "$*"
    said "$*" "sluice: PE 0 \\([^ ]+\\): $text \\[S-W-ENV\\]"
}
contradicts 'SHMEM_SYMMETRIC_SIZE and SMA_SYMMETRIC_SIZE differ: the former counts' \
    SHMEM_SYMMETRIC_SIZE=8m SMA_SYMMETRIC_SIZE=9m
contradicts 'SHMEM_ENABLE_GPU_SPACE has no effect: SHMEM_DEVICE=none switches the device off' \
    SHMEM_DEVICE=none SHMEM_ENABLE_GPU_SPACE=1
contradicts 'SHMEM_DEFAULT_SPACE=cpu has no effect: SHMEM_ENABLE_CPU_SPACE=0 excludes that space' \
    SHMEM_ENABLE_CPU_SPACE=0 SHMEM_DEFAULT_SPACE=cpu
try 2 env SHMEM_SYMMETRIC_SIZE=8m SMA_SYMMETRIC_SIZE=8m ./bad
ended 0 'the same twice'
[ ! -s "$err" ] || fail "the same twice: $(cat "$err")"
for trace in 1 yes; do
    try 1 env SHMEM_TRACE=$trace ./bad
    ended 1 "SHMEM_TRACE=$trace"
    said "SHMEM_TRACE=$trace" "sluice: PE 0 \\([^ ]+\\): SHMEM_TRACE is \"$trace\": want the name of a file, like trace.json \\[S-E-ENV\\]"
done
try 1 env SHMEM_TRACE=0 ./bad
[ "$status $(cat "$err")" = '0 ' ] && [ ! -e 0 ] || fail "SHMEM_TRACE=0: $(cat "$err")"

try 2 env SHMEM_FOO=1 SHMEM_LOGS=2 ./bad
ended 0 'two unknown names'
[ "$(grep -c '\[S-W-ENV\]$' "$err")" -eq 2 ] || fail "two: $(cat "$err")"

# Names of others, and what only the tools read.
for name in SHMEMX_FOO SHMEM SMA_FOO shmem_foo SHMEM_LAUNCHER SHMEM_CC; do
    try 0 env "$name=1" ./bad
    [ "$status $(cat "$err")" = '0 ' ] || fail "$name: $(cat "$err")"
done
finish 'unknown variables'
