#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on CXI one endpoint of a PE receives, whatever contexts and
# streams it has, and pins 4 MiB for that, not the provider's 108; what the
# user sets stays.
# Timeout: 120
set -u
. "$(dirname "$0")/fake.inc"
SHMEM_OFI_PROVIDER=cxi FAKE_CXI_LOG=1
export SHMEM_OFI_PROVIDER FAKE_CXI_LOG
for name in $(env | sed -n 's/^\(FI_CXI_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
mib=1048576

# received FILE ENDPOINTS MIB_OF_BUFFERS
received()
{
    check grep -q "^fake cxi: $2 endpoints received, with $(($3 * mib)) bytes \
of buffers, 0 of them registered with a GPU\$" "$1"
    check [ "$(grep -c 'endpoints received' "$1")" -eq \
        "$(grep -c "$2 endpoints received, with $(($3 * mib)) " "$1")" ]
}

# vars NAME=VALUE... ENDPOINTS OTHERS: what the stand-in counts.
vars()
{
    env FI_CXI_DEFAULT_TX_SIZE=77 "$@" 2>vars.err
    check [ $? -eq 0 ]
}
vars "$fake/cxi_vars" 0 3
received vars.err 1 36
vars FI_CXI_RX_MATCH_MODE=hybrid "$fake/cxi_vars" 2 3
received vars.err 3 324
vars FI_CXI_RX_MATCH_MODE=software FI_CXI_REQ_BUF_SIZE=2097152 \
    FI_CXI_OFLOW_BUF_SIZE=1048576 "$fake/cxi_vars"
received vars.err 1 12
vars FI_CXI_RX_MATCH_MODE=hybrid FI_CXI_REQ_BUF_MIN_POSTED=1 \
    FI_CXI_OFLOW_BUF_COUNT=1 "$fake/cxi_vars"
received vars.err 1 36
check grep -q \
    '^fake cxi: FI_CXI_REQ_BUF_MIN_POSTED of 1 does not do: it becomes 2$' \
    vars.err

vars FI_CXI_CQ_FILL_PERCENT=4 FI_CXI_DEFAULT_CQ_SIZE=64 "$fake/cxi_vars"
check grep -q ' [1-9] times full of events$' vars.err

# pes NAME=VALUE... TEST: two PEs that are nodes.
pes()
{
    env SHMEM_SYMMETRIC_SIZE=64m "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        env "$@" >out 2>&1
    check [ $? -eq 0 ]
}
pes "$BUILD/obj/tests/pe/ctx"
received out 1 4
pes SHMEM_TRIGGER=nic "$BUILD/obj/tests/st/kernel_order"
received out 1 4
check grep -q 'work queued [1-9]' out

# What is set before stays; the second name of one of them counts, too.
pes FI_CXI_REQ_BUF_SIZE=2097152 FI_CXI_REQ_BUF_MIN_POSTED=3 \
    FI_CXI_OFLOW_BUF_SIZE=4194304 FI_CXI_OFLOW_BUF_COUNT=4 \
    "$BUILD/obj/tests/pe/init"
received out 1 22
# Nothing that Sluice sets is corrected.
pes "$BUILD/obj/tests/pe/init"
check [ "$(grep -c 'does not do' out)" -eq 0 ]
finish vars.err out
