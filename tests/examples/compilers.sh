#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the text of the examples on streams is C and C++, CUDA for nvcc
# and HIP for clang, as far as these compilers are here.
# Timeout: 120
set -u
: "${SRC:?the source directory}"
failures=0 ran=0
some='ping halo channel batch tickets prefetch ring graph_halo graph_ring trigger partitioned partitioned_allreduce'

# To one program: an example in a namespace has its own main().
{
    echo '#include "example.h"'
    echo '#include <shmemx_part.h>'
    for name in $some; do
        printf 'namespace %s {\n#include "%s.c"\n}\n' $name $name
    done
    echo 'int main() { return 0; }'
} >all.cc

# accepts COMMAND...
accepts()
{
    ran=$((ran + 1))
    "$@" >log 2>&1 || {
        echo "FAIL: $*: $(head -n 20 log)" >&2
        failures=$((failures + 1))
    }
}

inc="$SRC/include"
accepts ${CXX:-c++} -Wall -Wextra -Werror -fsyntax-only -I"$inc" \
    -I"$SRC/examples" all.cc
if clang -x hip --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only \
    -S -o /dev/null -c /dev/null >/dev/null 2>&1; then
    hip='-x hip --offload-arch=gfx90a -nogpulib -nogpuinc -Wall -Wextra'
    # shellcheck disable=SC2086
    accepts clang $hip -Werror -Wno-unused-function --cuda-device-only -S \
        -o code -I"$inc" -I"$SRC/examples" -I"$SRC/tests/examples" all.cc &&
        [ "$(grep -c '\.amdhsa_kernel .*' code)" -eq 15 ] || {
        echo "FAIL: $(grep -c '\.amdhsa_kernel ' code) kernels for HIP" >&2
        failures=$((failures + 1))
    }
    # shellcheck disable=SC2086
    accepts clang $hip -Werror -Wno-unused-function --cuda-host-only \
        -fsyntax-only -I"$inc" -I"$SRC/examples" -I"$SRC/tests/examples" all.cc
fi
if command -v nvcc >/dev/null 2>&1; then
    accepts nvcc -x cu -ptx -o code -I"$inc" \
        -I"$SRC/examples" all.cc &&
        [ "$(grep -c '^.visible .entry\|^.entry' code)" -eq 15 ] || {
        echo "FAIL: $(grep -c '\.entry ' code) kernels for CUDA" >&2
        failures=$((failures + 1))
    }
fi
[ $ran -gt 1 ] || echo 'skip: no compiler for GPUs: neither nvcc nor clang'
[ $failures -eq 0 ] && echo "ok: $ran compilations"
[ $failures -eq 0 ]
