#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: nvcc compiles a program with NVSHMEM's names, and kernels with
# the names without types, without a warning.
# Timeout: 180
# Background: nvcc compiles for several architectures
set -u
dir=$(dirname "$0")
failed=0
fail() { echo "FAIL: $*"; failed=1; }
command -v nvcc >/dev/null || { echo 'skip: no nvcc'; exit 77; }

# compile OPTION...: device code and host code.
compile()
{
    for arch in 75 90; do
        nvcc -ptx -arch=compute_$arch -Werror all-warnings \
            -I"$SRC/include" -I"$SRC/include/compat" "$@" -o $arch.ptx \
            "$dir/nvshmem.cu" >log 2>&1 ||
            fail "nvcc for $arch $*: $(head -c 600 log)"
        [ "$(grep -c '^.visible .entry\|^	*\.entry' $arch.ptx)" -eq 4 ] ||
            fail "for $arch $*: not four kernels"
    done
    nvcc -arch=sm_90 -Werror all-warnings -I"$SRC/include" \
        -I"$SRC/include/compat" "$@" -c -o nvshmem.o "$dir/nvshmem.cu" \
        >log 2>&1 || fail "nvcc, the host's code $*: $(head -c 600 log)"
}
compile -DOWN_STATE
compile
exit $failed
