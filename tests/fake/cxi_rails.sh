#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what is striped over several NICs of the stand-in for CXI is
# right, though data may arrive after its completion and one NIC overtake the
# other; a PE goes on with the NICs that open, and PEs with as many as both
# have.
# Timeout: 120
set -u
. "$(dirname "$0")/fake.inc"
export SHMEM_OFI_PROVIDER=cxi FAKE_CXI_NICS=4 SHMEM_OFI_RAIL_THRESHOLD=32k

# run RAILS PES LOCAL [VAR=VALUE...]
run()
{
    rails=$1 pes=$2 local=$3
    shift 3
    env SHMEM_OFI_RAILS="$rails" "$@" "$BUILD/bin/oshrun" -n "$pes" \
        --ppn "$local" "$BUILD/obj/tests/pe/striped_transfers" >out 2>err
    check [ $? -eq 0 ]
}

# text REGEX RAILS [VAR=VALUE...]: what SHMEM_INFO says of the network.
text()
{
    want=$1 rails=$2
    shift 2
    env SHMEM_OFI_RAILS="$rails" SHMEM_INFO=1 "$@" "$BUILD/bin/oshrun" \
        -n 2 --ppn 1 "$BUILD/obj/tests/pe/init" >out 2>err
    check grep -Eq "^network: cxi on cxi0 .*$want\$" out
}

text '; 2 rails, cxi0, cxi1, from 32.0 KiB' 2
text '; 4 rails, cxi0, cxi1, cxi2, cxi3, from 32.0 KiB' 0
text 'polling for puts' 1
SHMEM_OFI_RAILS=3 "$BUILD/bin/shmem_info" >out 2>err
check grep -q 'cxi on cxi0 .*; large transfers over cxi0, cxi1, cxi2; ' out
run 4 4 2
check [ ! -s err ]
run 3 2 1 SHMEM_OFI_AMO=message

# PE 1 has one NIC, or one that does not open: both use one.
cat >uneven <<'SH'
[ "$SLUICE_JOB_PE" -eq 0 ] || export $UNEVEN
exec "$@"
SH
for uneven in SHMEM_OFI_RAILS=3 SHMEM_FAULT=ofi.rail:1; do
    UNEVEN=$uneven SHMEM_OFI_RAILS=2 "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        sh ./uneven "$BUILD/obj/tests/pe/striped_transfers" >out 2>err
    check [ $? -eq 0 ]
done
check grep -q 'PE 1 .*SHMEM_OFI_RAILS: provider cxi on cxi0 does not work on cxi1: fi_fabric: No such device; this PE goes on without that NIC \[S-W-NET\]' err
text "" 6
check grep -q 'SHMEM_OFI_RAILS is 6, but provider cxi on cxi0 has 4 NICs here' \
    err
finish err
