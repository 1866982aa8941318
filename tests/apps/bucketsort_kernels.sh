#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the kernels of the sort compile for NVIDIA's and AMD's GPUs and
# as C, from one text.
set -u
: "${SRC:?the source directory}"
text=$SRC/apps/bucketsort/kernels.inc
failures=0 ran=0

# compiles ENTRIES COMMAND...: as many kernels come out, in `code`.
compiles()
{
    entries=$1
    shift
    ran=$((ran + 1))
    "$@" >log 2>&1 && [ "$(grep -c "$entries" code)" -eq 10 ] || {
        echo "FAIL: $*: $(head -n 5 log)" >&2
        failures=$((failures + 1))
    }
    rm -f code
}

cp "$text" kernels.cu && cp "$text" kernels.hip || exit 1
printf 'int x;\n' >probe.hip
if command -v nvcc >/dev/null 2>&1; then
    compiles '^.visible .entry sort_' nvcc -ptx -o code kernels.cu
    nvcc -cubin -arch=sm_90 -o cubin kernels.cu >log 2>&1 || {
        echo "FAIL: nvcc -cubin: $(head -n 5 log)" >&2
        failures=$((failures + 1))
    }
fi
if clang -x hip --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only \
    -S -o /dev/null probe.hip >/dev/null 2>&1; then
    compiles '^[[:space:]]*\.amdhsa_kernel sort_' clang -O2 -x hip \
        --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only -S \
        -o code kernels.hip
fi
ran=$((ran + 1))
${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
    -x c "$text" || failures=$((failures + 1))
[ $ran -gt 1 ] || echo 'skipped: no compiler for GPUs: neither nvcc nor clang'
[ $failures -eq 0 ] && echo "ok: $ran compilers"
[ $failures -eq 0 ]
