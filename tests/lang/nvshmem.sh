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

# compile OPTION...: device code for two architectures, of the newer one with the
# host's code, too.
compile()
{
    nvcc -ptx -arch=compute_75 -Werror all-warnings -I"$SRC/include" \
        -I"$SRC/include/compat" "$@" -o nvshmem_75.ptx "$dir/nvshmem.cu" \
        >log 2>&1 || fail "nvcc for 75 $*: $(head -c 600 log)"
    nvcc -arch=sm_90 -Werror all-warnings -I"$SRC/include" \
        -I"$SRC/include/compat" "$@" -keep -c -o nvshmem.o "$dir/nvshmem.cu" \
        >log 2>&1 || fail "nvcc for 90 and the host $*: $(head -c 600 log)"
    for ptx in nvshmem_75.ptx nvshmem.ptx; do
        [ "$(grep -c '^.visible .entry\|^	*\.entry' $ptx)" -eq 5 ] ||
            fail "$ptx $*: not four kernels and that of the header"
        rm -f $ptx
    done
}
# The same code with less work for the compiler, where it has an option for that.
quick=
! nvcc --help | grep -q -e --Ofast-compile || quick='--Ofast-compile=max'
compile -DOWN_STATE $quick
compile
exit $failed
