#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the kernels of gol2d, faces and jacobi2d compile for NVIDIA's and AMD's GPUs
# and as C, each behind those of the halo in one text; so does, behind these,
# the one kernel of a whole run, with the library's headers in the text, as a
# compiler at run time takes it.
set -u
: "${SRC:?the source directory}"
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

printf 'int x;\n' >probe.hip
# Two texts: kernels of single steps, and these with the one of a whole run.
for program in gol2d:3: faces:5: jacobi2d:5: gol2d:5:ki faces:7:ki jacobi2d:7:ki; do
    ki=${program##*:} program=${program%:*}
    many=${program#*:} program=${program%:*}
    set -- "$SRC/apps/halo/kernels.inc" "$SRC/apps/$program/kernels.inc"
    [ -z "$ki" ] || set -- "$@" "$SRC/apps/halo/ki.inc" "$SRC/apps/$program/ki.inc"
    sh "$SRC/scripts/kernel-text" "$@" >text.cu
    cp text.cu text.hip && cat "$@" >text.c || exit 1
    if command -v nvcc >/dev/null 2>&1; then
        compiles "$many" '^.visible .entry halo_' nvcc -w -I"$SRC/include" \
            -arch=compute_75 -ptx -o code text.cu
    fi
    # hiprtc brings size_t.
    if clang -x hip --offload-arch=gfx90a -nogpulib -nogpuinc \
        --cuda-device-only -S -o /dev/null probe.hip >/dev/null 2>&1; then
        compiles "$many" '^[[:space:]]*\.amdhsa_kernel halo_' clang -O2 -x hip \
            --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only -S \
            -D__HIPCC_RTC__ -include stddef.h -o code text.hip
    fi
    ran=$((ran + 1))
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
        -I"$SRC/include" text.c || failures=$((failures + 1))
done
[ $ran -gt 2 ] || echo 'skipped: no compiler for GPUs: neither nvcc nor clang'
[ $failures -eq 0 ] && echo "ok: $ran compilations"
[ $failures -eq 0 ]
