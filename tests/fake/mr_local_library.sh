#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the library runs between nodes on a provider that wants each
# local buffer registered (FI_MR_LOCAL), a structure for the context of each
# operation (FI_CONTEXT) and little inline, and that refuses posts now and then;
# as on what efa, psm3 and opx want.
# Timeout: 120
set -u
. "$(dirname "$0")/fake.inc"
FI_PROVIDER_PATH=$fake/local
: "${T_SEED:=1}"
T_AWAKE_MS=1000                 # it reports nothing
export T_SEED T_AWAKE_MS
unset FAKE_LOCAL_NICS FAKE_LOCAL_STORM FAKE_LOCAL_SEED FAKE_LOCAL_HMEM FAKE_LOCAL_LOG

: >failed
# on LIKE PROGRAM [VAR=VALUE...]: all is right, and the provider was used.
on()
(
    like=$1 program=$2 said=$(echo "$*" | tr ' /=' ...)
    shift 2
    env FAKE_LOCAL_LIKE="$like" SHMEM_OFI_PROVIDER="$like" FAKE_LOCAL_LOG=1 \
        "$@" "$BUILD/bin/oshrun" -n 2 --ppn 1 "$BUILD/obj/tests/$program" \
        >"$said" 2>&1 && grep -q "^fake $like: [1-9]" "$said" && exit
    {
        echo "FAIL: $like $program $*"
        head -n 12 "$said"
    } >>failed
)

# Puts and gets of each kind of memory, messages, static data as a source,
# requests that wait for room, growing registrations.
for program in pe/rma_typed pe/nb pe/lock pe/order pe/wait pe/amo_mixed \
    st/onesided st/match_heap_use st/restart_after_streams \
    st/match_persistent; do
    start on strict $program
done
start on strict pe/amo_mixed SHMEM_OFI_AMO=nic
for like in efa psm3 opx; do
    start on $like pe/rma_typed
    start on $like pe/read_only_source
    start on $like st/restart_after_streams SHMEM_OFI_AMO=nic
done
# Stripes over two NICs, of memory that is registered for each, or for neither.
for program in pe/striped_transfers pe/read_only_source; do
    start on efa $program FAKE_LOCAL_NICS=2 SHMEM_OFI_RAILS=2 \
        SHMEM_OFI_RAIL_THRESHOLD=32k
done

# Of device memory and atomics, efa gives both from the interface 1.18 on.
env LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc" SHMEM_DEVICE=cuda \
    FAKE_DEVICE=coherent FAKE_LOCAL_HMEM=1 FAKE_LOCAL_LIKE=efa \
    SHMEM_OFI_PROVIDER=efa "$BUILD/bin/shmem_info" --check >info 2>&1
case $(sed -n 's/.*network.*libfabric \([0-9.]*\).*/\1/p' info) in
    '') check false ;;
    1.17) check grep -q 'efa on efa0.*by way of host memory' info ;;
    *) check grep -q 'efa on efa0.*it offers to reach device memory' info ;;
esac
wait
check [ ! -s failed ]
finish info failed
