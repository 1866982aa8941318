#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a device's stream reaches the doorbells of a NIC where any
# version of its runtime lets it, whatever size pages have; where it cannot, or
# what it stores is lost, one line says so and a thread does the work.
# Light: short jobs
# Timeout: 60
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH FAKE_CXI_SOFT FAKE_HIP_IO T_PAGE
FI_PROVIDER_PATH=$at/fake/cxi
SHMEM_OFI_PROVIDER=cxi
T_SEED=${T_SEED:-1}
export T_SEED FI_PROVIDER_PATH SHMEM_OFI_PROVIDER

# queries FILE DEVICE VAR=VALUE...: what the PEs say.
program=doorbell
queries()
{
    file=$1 device=$2
    shift 2
    on "$device" env SHMEM_LOG=info:ofi "$@" "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$at/st/$program" >"$file" 2>&1
    echo "exit status $?" >>"$file"
}

# does FILE REGEX: it worked, and both PEs say this, in one line or two.
does()
{
    check grep -qx 'exit status 0' "$1"
    check [ "$(grep "$2" "$1" | sed 's/.*(and 1 other PE: .*/&\n/' |
        wc -l)" -eq 2 ]
    [ "$failures" -eq 0 ] || head -n 20 "$1"
}

nic='deferred work: [0-9]* entries of cxi'
queries old hip-discrete &
queries new hip-discrete FAKE_HIP_IO=taken &
wait
queries page hip-coherent T_PAGE=65536 &
queries cuda cuda-discrete T_PAGE=65536 &
wait
for file in old new page cuda; do
    does $file "$nic"
done
soft='streams go by way of a thread .*\[S-W-NET\]'
queries kernel hip-discrete FAKE_HIP_IO=upstream &
queries lost hip-discrete FAKE_HIP_IO=lost &
wait
program=doorbell_two_threads
queries threads hip-discrete FAKE_HIP_IO=lost FAKE_CXI_ERRORS_COUNT=1
does kernel "no doorbell for the device: .*(amdgpu-dkms).*; $soft"
does lost "stores to a doorbell does not get to the NIC (hip, .*; $soft"
does threads "stores to a doorbell does not get to the NIC (hip, .*; $soft"
finish
