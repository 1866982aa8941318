#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: modules and code of the runtime API have the state of the default
# context in their copies: from when kernels may communicate, with the device
# heap as it opens, with code that is loaded late, and until shmem_finalize,
# which leaves none; what is no such module is refused with a line.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ "$real" != hip ] || { echo 'skip: it has no module for a real device'; exit 77; }

# Without a size the device heap opens as the first call needs it.
for device in ${real:-cuda-discrete cuda-bare hip-discrete hip-coherent}; do
    said=said.$device
    on "$device" env -u SHMEM_DEVICE_SYMMETRIC_SIZE \
        "$BUILD/bin/oshrun" -n 1 "$at/device/module_state" >"$said" 2>&1 ||
        { echo "FAIL: $device"; cat "$said"; } >>failed
    for line in 'module_init: the module has no variable shmemi_dev_state' \
        'module_init: the module was compiled with headers of another release' \
        'module_init: module is a null pointer' \
        'module_finalize: the module was not initialized' \
        'dev_register: the code was compiled with headers of another release'
    do
        grep -q "shmemx_$line" "$said" ||
            echo "FAIL: $device: no line \"$line\"" >>failed
    done
done
# The device in software has no modules, and asks no code for its state.
on software env -u T_MEMORY "$BUILD/bin/oshrun" -n 1 \
    "$at/device/module_state" software >said.software 2>&1 ||
    { echo "FAIL: software"; cat said.software; } >>failed
grep -q 'the program has kernels that were compiled for a GPU with shmemg.h or nvshmem.h, and the device is the software device: they cannot communicate' \
    said.software || echo "FAIL: software: no line about the program's kernels" >>failed
grep -q 'module_init: .*the device has no modules' said.software ||
    echo "FAIL: software: no line that there are no modules" >>failed
finish
