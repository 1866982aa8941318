#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: nvcc compiles and links calls of shmemg.h; where a GPU answers, a
# program's own code, a plug-in's and a module find their state, a kernel that
# has none ends by a trap, and the programs of examples/shmemg are right.
# Timeout: 300
set -u
. "$(dirname "$0")/../neg/neg.inc"
most=60
source=$SRC/tests/kernel/shmemg_modules.cu

command -v nvcc >/dev/null || skip 'no nvcc'
sanitized && skip 'nvcc is tested without a sanitizer'

# compile SOURCE PROGRAM OPTION...: for GPUs from Turing on.
compile()
{
    text=$1 to=$2
    shift 2
    OSH_CC=nvcc "$bin/oshcc" -O2 -gencode arch=compute_75,code=compute_75 \
        -Werror all-warnings -x cu "$@" "$text" -o "$to" >cc.log 2>&1 ||
        fail "nvcc: $(head -n 5 cc.log)"
}
compile "$source" ./modules -ldl
compile "$source" ./plugin.so -DPLUGIN -shared -Xcompiler -fPIC
nvcc -ptx -arch=compute_75 -DPLUGIN -I"$SRC/include" -o shift.ptx "$source" \
    >cc.log 2>&1 || fail "nvcc -ptx: $(head -n 5 cc.log)"
# The library is linked to no runtime of a vendor's.
! ldd "$BUILD/lib/libshmem.so" | grep -E 'libcuda|libamdhip' ||
    fail 'the library is linked to a runtime'
nm -u ./modules | grep -q shmemx_dev_register ||
    fail 'the code is not registered'

export SHMEM_DEVICE=cuda SHMEM_STALL=5 SHMEM_TIMEOUT=20
"$bin/shmem_info" --check 2>&1 | grep -q '^PASS  device ' || {
    echo 'skip: no GPU of NVIDIA answers'
    finish 'compiled by nvcc'
}

# right N PROGRAM WORD...
right()
{
    try "$@"
    [ $status -eq 0 ] || fail "$*: status $status: $(head -n 8 "$err" "$out")"
}
for n in 1 2; do
    right $n ./modules plugin shift.ptx ./plugin.so
done
right 1 ./modules left
./modules empty >said 2>&1 || fail "empty: $(head -n 4 said)"
for program in "$SRC"/examples/shmemg/*.c; do
    name=$(basename "$program" .c)
    compile "$program" "./$name"
    right 1 "./$name"
    right 2 "./$name"
    grep -q ': right$' "$out" || fail "$name: $(head -n 4 "$out")"
done
finish 'modules on a GPU'
