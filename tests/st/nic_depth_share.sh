#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a NIC's entries of deferred work are divided by the PEs that use
# that NIC, not by those of the node; nodes of SHMEM_PPN share the NICs of their
# machine.  SHMEM_TRIGGER_DEPTH takes less than the share, never more.  Where no
# entries are reserved, which the provider says as a number near 2^64, a line
# names the option of srun.
# Timeout: 60
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH FAKE_CXI_SOFT FAKE_CXI_DEPTH T_PAGE \
    SHMEM_NIC_MAP
FI_PROVIDER_PATH=$at/fake/cxi
SHMEM_OFI_PROVIDER=cxi
T_SEED=${T_SEED:-1}
export T_SEED FI_PROVIDER_PATH SHMEM_OFI_PROVIDER

# queries FILE N PPN VAR=VALUE...: what the PEs say.
queries()
{
    file=$1 n=$2 ppn=$3
    shift 3
    on software env SHMEM_LOG=info:ofi "$@" "$BUILD/bin/oshrun" -n "$n" \
        --ppn "$ppn" "$at/st/doorbell" >"$file" 2>&1
    echo "exit status $?" >>"$file"
}

# does FILE COUNT REGEX
does()
{
    check grep -qx 'exit status 0' "$1"
    check [ "$(grep -c "$3" "$1")" -eq "$2" ]
    [ "$failures" -eq 0 ] || head -n 20 "$1"
}

queries one 4 2 FAKE_CXI_DEPTH=100 &
queries two 4 2 FAKE_CXI_DEPTH=100 FAKE_CXI_NICS=2 &
wait
queries nodes 2 1 FAKE_CXI_DEPTH=50 &
queries more 4 2 FAKE_CXI_DEPTH=100 SHMEM_TRIGGER_DEPTH=100 &
wait
queries less 4 2 FAKE_CXI_DEPTH=100 SHMEM_TRIGGER_DEPTH=9
does one 4 'deferred work: 23 entries of cxi on cxi0'
does two 2 'deferred work: 45 entries of cxi on cxi0'
does two 2 'deferred work: 45 entries of cxi on cxi1'
does nodes 2 'deferred work: 23 entries of cxi on cxi0'
does more 4 'deferred work: 23 entries of cxi on cxi0'
does less 4 'deferred work: 9 entries of cxi on cxi0'

# What is said twice may come as one line.
line='deferred work of cxi on cxi0: .*too few trigger list entries .*srun'
line="$line --network=single_node_vni,job_vni,res_tles=136; streams go by"
for reserved in 0 1 7 8 13; do
    queries few 2 1 FAKE_CXI_RESERVED=$reserved
    check grep -qx 'exit status 0' few
    check grep -q "$line way of a thread .*\[S-W-NET\]" few
    [ "$failures" -eq 0 ] || head -n 20 few
done
queries asked 2 1 FAKE_CXI_RESERVED=14
does asked 2 'deferred work: 3 entries of cxi on cxi0'
# A variable does not make entries.
queries none 2 1 FAKE_CXI_RESERVED=4 SHMEM_TRIGGER_DEPTH=50
check grep -qx 'exit status 0' none
check grep -q "$line way of a thread .*\[S-W-NET\]" none
finish
