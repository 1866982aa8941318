#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the kernels of the sort compile for NVIDIA's and AMD's GPUs and
# as C, from one text; so does, behind them, the one that sends the keys, with
# the library's headers in the text.
set -u
: "${SRC:?the source directory}"
text=$SRC/apps/bucketsort/kernels.inc
failures=0 ran=0

# compiles N ENTRIES COMMAND...: so many kernels come out, in `code`.
compiles()
{
    many=$1 entries=$2
    shift 2
    ran=$((ran + 1))
    "$@" >log 2>&1 && [ "$(grep -c "$entries" code)" -eq "$many" ] || {
        echo "FAIL: $*: $(head -n 5 log)" >&2
        failures=$((failures + 1))
    }
    rm -f code
}

cp "$text" kernels.cu && cp "$text" kernels.hip || exit 1
sh "$SRC/scripts/kernel-text" "$text" "$SRC/apps/bucketsort/ki.inc" >ki.cu
cp ki.cu ki.hip || exit 1
printf 'int x;\n' >probe.hip
if command -v nvcc >/dev/null 2>&1; then
    compiles 10 '^.visible .entry sort_' nvcc -ptx -o code kernels.cu
    compiles 11 '^.visible .entry sort_' nvcc -w -I"$SRC/include" \
        -arch=compute_75 -ptx -o code ki.cu
    nvcc -cubin -arch=sm_90 -o cubin kernels.cu >log 2>&1 || {
        echo "FAIL: nvcc -cubin: $(head -n 5 log)" >&2
        failures=$((failures + 1))
    }
fi
if clang -x hip --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only \
    -S -o /dev/null probe.hip >/dev/null 2>&1; then
    compiles 10 '^[[:space:]]*\.amdhsa_kernel sort_' clang -O2 -x hip \
        --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only -S \
        -o code kernels.hip
    # hiprtc brings size_t.
    compiles 11 '^[[:space:]]*\.amdhsa_kernel sort_' clang -O2 -x hip \
        --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only -S \
        -D__HIPCC_RTC__ -include stddef.h -o code ki.hip
fi
ran=$((ran + 1))
${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
    -x c "$text" || failures=$((failures + 1))
[ $ran -gt 1 ] || echo 'skipped: no compiler for GPUs: neither nvcc nor clang'
[ $failures -eq 0 ] && echo "ok: $ran compilers"
[ $failures -eq 0 ]
