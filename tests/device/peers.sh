#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs that share a device are counted and told what they do without;
# devices that reach each other without atomics, not at all, or not through
# their window on the bus, are found out, named and made up for; shmem_info
# --check says the same of each.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: for stand-ins'; exit 77; }
: >failed
: >all
vendors='cuda-discrete hip-discrete'
# ran VARIABLE=VALUE... WORDS... PROGRAM: on both vendors' devices; what they
# say is in cuda-discrete and hip-discrete.
ran()
{
    words=
    while [ "${1#*=}" != "$1" ]; do
        words="$words $1"
        shift
    done
    echo "-- $words $*" >>all
    for vendor in $vendors; do
        # shellcheck disable=SC2086
        (on $vendor env $words "$BUILD/bin/oshrun" "$@" >"$vendor" 2>&1 ||
            echo "exit status $?" >>"$vendor") &
    done
    wait
    for vendor in $vendors; do
        cat "$vendor" >>all
        check [ -z "$(grep 'exit status' "$vendor")" ]
    done
}

# says REGEX, says_not REGEX: on both.
says()
{
    for vendor in $vendors; do
        [ "$(grep -cE "$1" "$vendor")" -eq 1 ] && continue
        echo "FAIL: $vendor does not say once: $1" >>all
        failures=$((failures + 1))
    done
}
says_not()
{
    check [ "$(cat $vendors | grep -cE "$1")" -eq 0 ]
}

# info VARIABLE=VALUE...: shmem_info, in the same way.
info()
{
    echo "-- $*: shmem_info --check" >>all
    for vendor in $vendors; do
        (on $vendor env "$@" "$BUILD/bin/shmem_info" --check >"$vendor" 2>&1) &
    done
    wait
    cat $vendors | grep ' device ' >>all
}
info_says()
{
    says "^$1"
}

one=FAKE_DEVICE_COUNT=1 two=FAKE_DEVICE_COUNT=2
amo=$at/pe/amo
no_atomics='devices of a node have no atomics on each other.s memory'
share='PEs share a device: kernels of one wait while those of another run'
no_share='cannot be shared between the PEs of a node'
pinned='the device heap lies in pinned host memory'

if [ "${1:-}" = window ]; then
    mount -t tmpfs none /sys/bus/pci/devices || exit 1
    for card in 17 18 c1 c2; do
        place=/sys/bus/pci/devices/0000:$card:00.0
        mkdir "$place"
        {
            echo 0x00000000f0000000 0x00000000f0007fff 0x0000000000040200
            echo 0x0000004000000000 0x00000040000fffff 0x000000000014220c
            echo 0x0000000000000000 0x0000000000000000 0x0000000000000000
        } >"$place/resource"
    done
    ran $two FAKE_DEVICE_BAR=1048576 -n 2 "$amo"
    says " PE 0 .*$no_share \\(mapping memory of a device: the window \\(BAR\\) of the device at .* has room for 1.0 MiB .*$pinned.*resizable BAR.*smaller SHMEM_DEVICE_SYMMETRIC_SIZE"
    info $two FAKE_DEVICE_BAR=1048576
    info_says 'WARN  device peers  *device 1 does not reach .* the window \(BAR\) of the device at .* has room for 1.0 MiB'
    cat all >&2
    finish
fi

# link NODE TO FLAGS: of AMD's driver in the kernel, to another device.
link()
{
    mkdir -p "$nodes/$1/io_links/0"
    printf 'type 11\nnode_from %s\nnode_to %s\nflags %s\n' "$@" \
        >"$nodes/$1/io_links/0/properties"
}

# Two devices, as PEs 0 and 1 see one each, behind a processor.
if [ "${1:-}" = kernel ]; then
    mount -t tmpfs none /sys/class || exit 1
    vendors=hip-discrete nodes=/sys/class/kfd/kfd/topology/nodes
    mkdir -p "$nodes/0"
    printf 'unique_id 0\n' >"$nodes/0/properties"
    for n in 1 2; do
        mkdir -p "$nodes/$n"
        printf 'location_id %d\ndomain 0\nunique_id %d\n' \
            $(((0xc0 + n) << 8)) $((0x5eec + n)) >"$nodes/$n/properties"
    done
    for flags in 1 13 17; do    # none, no atomics, no access
        link 1 2 $flags
        link 2 1 $flags
        ran $two FAKE_DEVICE_VISIBLE=one SHMEM_LOG=info:api -n 2 "$amo"
        if [ $flags -eq 1 ]; then
            says_not "$no_atomics"
        else
            says "$no_atomics"
        fi
    done
    cat all >&2
    finish
fi

# Who shares: said where it is asked for, and only there.
ran $one SHMEM_INFO=1 -n 2 "$amo"
says "^device: 2 $share, and streams .*wait for words"
check grep -q "$share, and streams wait for words without a kernel\$" cuda-discrete
check grep -q "$share, and streams cannot wait for words, for which a kernel" \
    hip-discrete
ran $one -n 2 "$amo"
says_not 'share'
ran $one SHMEM_LOG=info:api -n 4 --ppn 2 "$amo"
says "^\\[0 .* api\\] 4 $share"
ran $two SHMEM_INFO=1 SHMEM_LOG=info -n 2 "$amo"
says '^device heap: .* on '
says_not "share a device|no atomics|cannot"
ran $two FAKE_DEVICE_PARTS=1 SHMEM_INFO=1 -n 2 "$amo"
says_not "share a device"
ran $two SHMEM_INFO=1 -n 3 "$amo"
says "^device: 2 $share"

# Atomics on another device's memory, near and from another node, and what is
# made of them.  A kernel of these that tries dies.
for program in pe/amo pe/signal pe/wait pe/lock coll/move coll/reduce \
    coll/active_sets pe/nbi_completes; do
    ran $two FAKE_DEVICE_PEERS=copy -n 3 \
        "$at/$program"
done
ran $two FAKE_DEVICE_PEERS=copy SHMEM_LOG=info:api -n 4 --ppn 2 "$amo"
says '^\[0 .* api\] devices of a node have no atomics on each other.s memory'

# Access to another device is asked for once, however often one lends, and what
# the program has done before is no failure.
rm -f log
vendors=hip-discrete
ran $two FAKE_DEVICE_LOG=$PWD/log -n 4 "$amo"
check [ "$(grep -c hipDeviceEnablePeerAccess log)" -eq 4 ]
ran $two FAKE_DEVICE_FAIL=hipDeviceEnablePeerAccess:704 FAKE_HIP_PEERS=lazy -n 2 "$amo"
says_not "$no_share"
ran $two FAKE_DEVICE_FAIL=hipDeviceEnablePeerAccess:2 -n 2 "$amo"
says " PE 0 .*$no_share \\(hipDeviceEnablePeerAccess: out of memory.*$pinned"
vendors='cuda-discrete hip-discrete'

# Each PE sees one device, and maps what others lend.  The management library
# or the kernel knows whether atomics are among two that a process does not see.
ran $two FAKE_DEVICE_VISIBLE=one FAKE_DEVICE_PEERS=copy SHMEM_LOG=info:api -n 2 "$amo"
says "$no_atomics"
vendors=cuda-discrete
for program in pe/amo pe/signal pe/wait pe/lock coll/move coll/reduce \
    coll/active_sets pe/nbi_completes; do
    ran $two FAKE_DEVICE_VISIBLE=one SHMEM_LOG=info:api -n 2 \
        "$at/$program"
    says_not "$no_atomics|$no_share"
done
vendors=hip-discrete            # no kernel to ask: see `kernel`
ran $two FAKE_DEVICE_VISIBLE=one SHMEM_LOG=info:api -n 2 "$amo"
says "$no_atomics"
vendors='cuda-discrete hip-discrete'

# Memory that cannot be mapped: why, on one PE that knows.
ran $two FAKE_DEVICE_PEERS=none -n 2 "$amo"
says " PE 0 .*$no_share \\(peer access: the device at .* has no access to the memory of the one at .*$pinned.* different bridges .*\\[S-W-DEVICE\\]\$"
# shellcheck disable=SC2016
ran $one FAKE_DEVICE_HIDDEN=refused -n 2 sh -c 'export FAKE_DEVICE_FIRST=$SLUICE_JOB_PE; exec "$0"' "$amo"
says " PE 0 .*$no_share \\(.*IpcOpenMemHandle: the memory is of a device that this process does not see.*$pinned.*--gpu-bind=none"
ran $two FAKE_DEVICE_BAR=1048576 -n 2 "$amo"
says " PE 0 .*$no_share \\(.*IpcOpenMemHandle: mapping of buffer object failed.*$pinned.*one PID and one IPC namespace"

# The same by shmem_info, which does each.
info $two
info_says "PASS  device peers  *1 other device reaches .* with atomics\$"
info_says 'PASS  device heap  *(up to )?16.0 MiB for each of 1 PE on a device, .* are free'
info $two FAKE_DEVICE_PEERS=copy
info_says "PASS  device peers  *1 other device reaches .* but not with atomics"
info FAKE_DEVICE_COUNT=3 FAKE_DEVICE_PEERS=none
info_says 'WARN  device peers  *device 1 does not reach .* of device 0: peer access: the device at .* has no access'
info $two FAKE_DEVICE_BAR=1048576
info_says 'WARN  device peers  *device 1 does not reach .*: (mapping of buffer object failed|out of memory)'
info FAKE_DEVICE_MEMORY=8388608
info_says 'FAIL  device heap  *16.0 MiB for each of 1 PE .* 8.0 MiB of 8.0 MiB are free: set a smaller SHMEM_DEVICE_SYMMETRIC_SIZE'
info FAKE_DEVICE=bare
info_says 'WARN  device sharing the device exports no memory'
info_says 'PASS  device waits  *a stream waits for a word in a kernel that spins'
ran $one -n 2 "$BUILD/bin/shmem_info" --check
says 'WARN  device users  *2 PEs of this node for 1 device: kernels of one wait'
ran $two -n 2 "$BUILD/bin/shmem_info" --check
says_not 'device users'

if unshare -m mount -t tmpfs none /sys/class 2>mount; then
    mkdir kernel
    (cd kernel && unshare -m sh "$0" kernel) || check false
fi

# The window on the bus, where a folder can stand for the kernel's own.
if unshare -m mount -t tmpfs none /sys/bus/pci/devices 2>mount; then
    mkdir window
    (cd window && unshare -m sh "$0" window) || check false
else
    echo 'windows on the bus are not tried: mounts are not permitted' >&2
fi
cat all >&2
finish
