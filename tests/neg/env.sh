#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a variable with a bad value is refused with its name, the value
# and what is wanted; shmem_init_thread returns, shmem_init ends the job.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(int argc, char **argv)
{
    int got = -1;

    if (argc == 1) {
        shmem_init();
        printf("started\n");
        shmem_finalize();
        return 0;
    }
    if (shmem_init_thread(SHMEM_THREAD_SINGLE, &got) == 0)
        printf("started\n");
    if (got != -1)
        printf("%s stored a level\n", argv[1]);
    return 3;
}
C

# bad VAR=VALUE REGEX: what the message says of it.
bad()
{
    try 0 env "$1" ./bad
    ended 1 "$1"
    quoted=$(echo "${1#*=}" | sed 's/[.+]/\\&/g')
    said "$1" "sluice: \\([^ ]+\\): ${1%%=*} is \"$quoted\": $2 \\[S-E-ENV\\]"
}
# good VAR=VALUE
good()
{
    try 0 env "$1" ./bad
    [ $status -eq 0 ] && [ "$(cat "$out")" = started ] && [ ! -s "$err" ] ||
        fail "$1: status $status: $(cat "$out" "$err")"
}

size='want a number from [0-9]*[kmgt]* to [0-9]*[kmgt]*, with an optional k, m, g or t, like 512m or 3\.1G'
for value in m 512x 0 0.0 0k -1 -1g +1 0x10 ' 1m' nan inf 1e999 \
    9999999999999999999 99999999t .m 'one gigabyte' 1,5g; do
    bad "SHMEM_SYMMETRIC_SIZE=$value" "$size"
done
bad SMA_SYMMETRIC_SIZE=512x "$size"
for value in 65536 4m 4M .25m 0.001g 3.1M 1mb 2e6; do
    good "SHMEM_SYMMETRIC_SIZE=$value"
done
# The newer spelling wins, also over a bad value of the older.
try 0 env SHMEM_SYMMETRIC_SIZE=4m SMA_SYMMETRIC_SIZE=no ./bad
[ $status -eq 0 ] || fail "SMA_ is not hidden: $(cat "$err")"
said 'SMA_ is hidden' 'sluice: PE 0 \([^ ]+\): SHMEM_SYMMETRIC_SIZE and SMA_SYMMETRIC_SIZE differ: the former counts \[S-W-ENV\]'

for value in x -1 1.5 2k 1048577 99999999999999999999; do
    bad "SHMEM_PPN=$value" 'want a whole number from 0 to 1048576'
done
bad SHMEM_SPIN_US=fast 'want a whole number from 0 to 1000000'
bad SHMEM_SPIN_US=-20 'want a whole number from 0 to 1000000'
for value in maybe 2 -1 yess; do
    bad "SHMEM_STATIC_DATA=$value" 'want 1, yes, on, true or 0, no, off, false'
    bad "SHMEM_SINGLETON=$value" 'want 1, yes, on, true or 0, no, off, false'
done
for value in NO off y 1; do
    good "SHMEM_STATIC_DATA=$value"
done
for value in tree autos gather,auto; do
    bad "SHMEM_COLL_SYNC=$value" 'want one of auto\|dissemination\|gather\|nodes'
done
good SHMEM_COLL_SYNC=Gather
for value in loud debugs debug: debug:kitchen 'debug:rt,' 3; do
    bad "SHMEM_LOG=$value" \
        'want error, warn, info, debug or trace, then optionally :layer,layer of base rt gtl heap xport progress sm ofi diag core coll stream msg kernel api'
done
for value in no.site:1 heap.alloc heap.alloc: heap.alloc:2 heap.alloc:-1 \
    heap.alloc:1:x heap.alloc:1:1:1; do
    bad "SHMEM_FAULT=$value" 'want site:rate:seed\[,\.\.\.\] with a rate from 0 to 1; sites are listed in shmem_env\(7\)'
done
# Also where nothing of the job would use them.
steps='want step=microseconds,\.\.\. from 0 to 1000000, with steps of .*'
for value in foo=1 launch launch=-1; do
    bad "SHMEM_DEVICE_COSTS=$value" "$steps"
done
good SHMEM_DEVICE_COSTS=launch=2.5,sync=3
for value in x 1,2,3; do
    bad "SHMEM_ST_EAGER=$value" 'want bytes, like 8k, or those for this node and for others, like 4k,16k'
done
good SHMEM_ST_EAGER=4k,16k
try 4 --ppn 2 env SHMEM_DEVICE_COSTS=foo=1 ./bad
ended 1 'costs on two nodes'
said 'costs on two nodes' "sluice: PE [0-3] \\([^ ]+\\): SHMEM_DEVICE_COSTS is \"foo=1\": $steps \\[S-E-ENV\\]$others"
for value in "," 0: 3-1:lo 0:lo,lo; do
    try 0 env SHMEM_NIC_MAP="$value" ./bad
    ended 1 SHMEM_NIC_MAP=$value
    said SHMEM_NIC_MAP=$value 'sluice: \([^ ]+\): SHMEM_NIC_MAP, character [0-9]+: .*; want NIC,NIC,\.\.\. or PE:NIC,PE-PE:NIC,\.\.\. \[S-E-ENV\]'
done
# What is there to be named is known only where there are several nodes.
good SHMEM_NIC_MAP=abc

# An empty one is unset.
for name in SYMMETRIC_SIZE PPN CHECK COLL_SYNC LOG FAULT DEBUG DEVICE_COSTS \
    ST_EAGER NIC_MAP NO_SUCH; do
    good SHMEM_$name=
done

# Two bad values are two lines.
try 0 env SHMEM_PPN=x SHMEM_SPIN_US=y ./bad
ended 1 'two bad values'
[ "$(grep -c '\[S-E-ENV\]$' "$err")" -eq 2 ] || fail "two: $(cat "$err")"

# A call that can return does.
try 0 env SHMEM_PPN=x ./bad thread
ended 3 shmem_init_thread
said shmem_init_thread 'sluice: \([^ ]+\): SHMEM_PPN is "x": .* \[S-E-ENV\]'

# Of a job: one line, whether all have it or one; nobody waits.
try 4 env SHMEM_PPN=x ./bad
ended 1 'on four PEs'
said 'on four PEs' 'sluice: PE [0-3] \([^ ]+\): SHMEM_PPN is "x": .* \[S-E-ENV\]'"$others"
# shellcheck disable=SC2016
try 3 sh -c '[ "$SLUICE_JOB_PE" != 1 ] || export SHMEM_PPN=x; exec ./bad'
ended 1 'on one PE of three'
said 'on one PE of three' 'sluice: PE 1 \([^ ]+\): SHMEM_PPN is "x": .* \[S-E-ENV\]'
soon "on one PE of three"
finish 'bad values of variables'
