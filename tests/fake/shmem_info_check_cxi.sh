#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_info --check cxi says what a NIC of Slingshot does, one
# line for each thing that was tried, with what to do about it; without such a
# NIC it says so, with a status of its own.
# Light: one process at a time
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH SHMEM_NIC_MAP SHMEM_OFI_PROVIDER \
    SHMEM_OFI_DOMAIN SHMEM_SYMMETRIC_SIZE SLINGSHOT_VNIS SLINGSHOT_SVC_IDS \
    FAKE_HIP_IO
SHMEM_DEVICE=software
export SHMEM_DEVICE

# cxi STATUS VAR=VALUE...
cxi()
{
    want=$1
    shift
    env "$@" "$BUILD/bin/shmem_info" --check cxi >out 2>err
    check [ $? -eq "$want" ]
    cat out err >>all
}

# says VERDICT WHAT REGEX
says()
{
    grep -q "^$1  $2  *$3" out && return
    echo "no '$1 $2 $3' in: $(cat out)" >&2
    failures=$((failures + 1))
}

: >all
cxi 0 SLINGSHOT_VNIS=1024 SLINGSHOT_SVC_IDS=5
says PASS VNI 'cxi on cxi0 1024, service 5, '
says PASS entries '500 entries of deferred work for 1 PE of this NIC, 450 for '
says PASS doorbell 'a stream of .* (software) triggers the NIC.s work by a store'
says PASS counters '482 of 482 '
says PASS failures 'do not count .*: the NIC sends the signals of puts'
says PASS 'a failed put' 'does not count, too; .* no later than the counter'
says PASS 'two inputs' '4 atomics to a region count 4 '
says PASS 'one variable' '.* in turn: each sees the other.s; '
check [ "$(wc -l <out)" -eq 9 ]
check [ ! -s err ]

cxi 0 FAKE_CXI_ERRORS_COUNT=1 FAKE_CXI_REGION=2
says WARN VNI '.*--network=single_node_vni,job_vni'
says PASS failures 'count .*: a thread sends the signals of puts'
says PASS counters '34 of 34 '
says PASS 'a failed put' 'counts, too; .* later than the counter'
says WARN 'two inputs' '4 atomics to a region count 8 .*: a thread waits '
# Not all of it has been counted when the first four have.
cxi 0 FAKE_CXI_REGION=2 FAKE_CXI_REGION_LATE_US=3000
says WARN 'two inputs' '4 atomics to a region count 8 .*: a thread waits '
cxi 0 FAKE_CXI_STALE=2
says WARN 'two inputs' 'the NIC does not see what the processor stores .*: a thread '
says WARN 'one variable' '.* in turn: they see old values; '

cxi 0 FAKE_CXI_OPS=4
says WARN entries 'this libfabric does not say .*; SHMEM_TRIGGER_DEPTH says'
says WARN doorbell '.* is not known; SHMEM_TRIGGER_DEPTH says how many '
cxi 0 FAKE_CXI_OPS=4 SHMEM_TRIGGER_DEPTH=50
says PASS doorbell 'a stream of .* (software) triggers the NIC.s work by a store'
for env in FAKE_CXI_OPS=6 FAKE_CXI_OPS=4; do
    cxi 0 $env SHMEM_TRIGGER_DEPTH=2
    says WARN doorbell '.*SHMEM_TRIGGER_DEPTH=2 is too few: .* at least 3'
done
cxi 0 FAKE_CXI_RESERVED=4
says WARN entries '0 entries .*res_tles=72'
says WARN doorbell 'a thread does the work of streams: too few .*res_tles=72'
cxi 0 FAKE_CXI_RESERVED=30 FAKE_CXI_CNTRS=100
says WARN entries '22 entries .*res_tles=72'
says WARN counters '[1-9][0-9]* of 482 .*res_cts=N'
says WARN 'a failed put' 'not tried: '
cxi 0 SHMEM_DEVICE=hip FAKE_HIP_IO=upstream \
    LD_LIBRARY_PATH="$fake/hip:$fake/hiprtc"
says WARN doorbell '.*no doorbell for the device: .*(amdgpu-dkms)'
cxi 0 SHMEM_DEVICE=hip LD_LIBRARY_PATH="$fake/hip:$fake/hiprtc"
says PASS doorbell 'a stream of .* (hip) triggers '

cxi 1 FAKE_CXI_NO_VNI=1
says FAIL VNI 'the network does not open'
check grep -q 'gave this job no Slingshot network .*--network=' err

cxi 1 SHMEM_ST_EAGER=loud
says FAIL environment 'a variable has a bad value'
check grep -q 'SHMEM_ST_EAGER is "loud": ' err

# A job's PE 0 speaks.
"$BUILD/bin/oshrun" -n 2 "$BUILD/bin/shmem_info" --check cxi >out 2>err
check [ $? -eq 0 ]
says PASS entries '500 entries .* for 2 PEs of this NIC, 225 for this one'
check [ "$(wc -l <out)" -eq 9 ]

cxi 3 FI_PROVIDER_PATH=/nonexistent
check grep -qx 'NONE  cxi  *no Slingshot network here: .*' out
check [ "$(cat out err | wc -l)" -eq 1 ]
finish all
