#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on CXI, symmetric memory goes with its descriptor, and so do
# short gets into any memory; queues of events that are full early stop no PE
# for long; the traffic class is the one that is asked for; and what a NIC puts
# is polled for, since no descriptor reports it.
# Timeout: 120
set -u
. "$(dirname "$0")/fake.inc"
SHMEM_OFI_PROVIDER=cxi FAKE_CXI_LOG=1 SHMEM_SYMMETRIC_SIZE=64m
export SHMEM_OFI_PROVIDER FAKE_CXI_LOG SHMEM_SYMMETRIC_SIZE
unset SHMEM_OFI_TCLASS FI_CXI_CQ_FILL_PERCENT SHMEM_TRIGGER
at=$BUILD/obj/tests

# block NAME: the commands of that function, two blocks at a time, each in a
# directory of its own; its output and its failures are in NAME.log.
block()
{
    start in_block "$1"
}
in_block()
{
    failures=0
    mkdir "$1.d"
    cd "$1.d" || exit
    "$1" >"../$1.log" 2>&1
    cat out >>"../$1.log"
    [ "$failures" -eq 0 ] || echo "$1: $failures checks failed" >>../failed
}
: >failed

# pes NAME=VALUE... TEST...: two PEs that are nodes.
pes()
{
    "$BUILD/bin/oshrun" -n 2 --ppn 1 env "$@" >out 2>&1
    check [ $? -eq 0 ]
}

# says LINES REGEX
says()
{
    check [ "$(grep -c "$2" out)" -eq "$1" ]
}

puts()
{
    pes "$at/osu/$1" heap -m 262144 -i 5
    says 2 '^fake cxi: [1-9][0-9]* transfers with a descriptor, 0 without;'
}
osu_put() { puts osu_oshm_put; }
osu_get() { puts osu_oshm_get; }
osu_put_nb() { puts osu_oshm_put_nb; }

# Into variables of the function.
amo()
{
    pes "$at/pe/amo"
    says 2 '^fake cxi: [1-9][0-9]* transfers with a descriptor, 0 without;'
}

# A hundredth of the queue: some 90 events.
full_put_nb()
{
    pes FI_CXI_CQ_FILL_PERCENT=1 "$at/osu/osu_oshm_put_nb" heap -m 1024 -i 300
}
full_outstanding()
{
    pes FI_CXI_CQ_FILL_PERCENT=1 "$at/pe/outstanding"
    says 2 ' [1-9][0-9]* times full of events$'
}
full_stream()
{
    pes FI_CXI_CQ_FILL_PERCENT=1 SHMEM_TRIGGER=nic "$at/st/kernel_order"
    says 2 'work queued [1-9]'
}

tclass()
{
    pes SHMEM_OFI_TCLASS=low_latency SHMEM_TRIGGER=nic "$at/st/kernel_order"
    says 2 '^fake cxi: traffic class 1$'
    says 2 'work queued [1-9]'
    pes "$at/pe/init"
    check [ "$(grep -c 'traffic class 0' out)" -eq "$(grep -c 'traffic' out)" ]
}
tclass_refused()
{
    "$BUILD/bin/oshrun" -n 2 --ppn 1 env SHMEM_OFI_TCLASS=bulk \
        FAKE_CXI_TCLASSES=1 "$at/pe/init" >out 2>&1
    check [ $? -ne 0 ]
    check grep -q 'SHMEM_OFI_TCLASS is bulk: ask the administrator' out
    SHMEM_OFI_TCLASS=quick "$BUILD/bin/oshrun" -n 1 "$at/pe/init" >out 2>&1
    check [ $? -ne 0 ]
    check grep -q 'SHMEM_OFI_TCLASS.*auto|best_effort|low_latency' out
}

# Newer releases have longer structures.
longer()
{
    pes FAKE_CXI_LONG=1 SHMEM_TRIGGER=nic "$at/st/kernel_order"
    says 0 'rule 22'
}

progress()
{
    pes SHMEM_LOG=info:ofi SHMEM_OFI_TCLASS=dedicated "$at/pe/init"
    check grep -q 'dedicated traffic; .*progress by events of messages, ' out
    pes SHMEM_LOG=info:ofi FAKE_CXI_NO_FD=1 "$at/pe/init"
    check grep -q 'progress by polling at intervals' out
    pes SHMEM_LOG=info:ofi SHMEM_OFI_PROVIDER='tcp;ofi_rxm' "$at/pe/init"
    check grep -q 'progress by events$' out
}

for name in amo full_outstanding osu_put osu_get osu_put_nb full_put_nb \
    full_stream tclass tclass_refused longer progress; do
    block $name
done
wait
check [ ! -s failed ]
finish failed ./*.log
