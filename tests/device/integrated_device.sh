#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a runtime that calls a device integrated is believed when the
# processor has loaded and stored there; else its memory is the device's alone.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: for a stand-in'; exit 77; }

on hip-discrete env FAKE_HIP_INTEGRATED=1 "$BUILD/bin/shmem_info" --check \
    >alone 2>&1
on hip-coherent "$BUILD/bin/shmem_info" --check >both 2>&1
check grep -q "device memory .*; the device's alone" alone
check grep -q 'device memory .*; the processor reaches it' both
extra=FAKE_HIP_INTEGRATED=1
job hip-discrete -n 2 "$at/pe/amo"
finish
