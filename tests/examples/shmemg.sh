#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the programs of examples/shmemg are right on the software device,
# near and far, and say so in one line; the same sources are C++, and compile for
# CUDA and HIP as far as these compilers are here; nvcc links one.
# Timeout: 120
set -u
. "$(dirname "$0")/../device/device.inc"
[ -z "$real" ] || { echo 'skip: they are for the software device'; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
programs=$SRC/examples/shmemg
some='gc_setup gc_rma gc_ptr gc_context gc_amo gc_signaling gc_p2p
    gc_collectives gpu_aware_put gpu_centric_put'
kernels=9                       # gpu_aware_put has none

# All programs of the folder are here.
[ "$(cd "$programs" && echo *.c | wc -w)" -eq "$(echo "$some" | wc -w)" ] ||
    echo "FAIL: other programs in $programs" >>failed

# ---- they run ----

build()
{
    "$BUILD/bin/oshcc" -Wall -Wextra -Werror "$programs/$1.c" -o "$1" ||
        echo "FAIL: oshcc $1.c" >>failed
}

# right PROGRAM WORDS...: the words go to oshrun.
right()
{
    program=$1
    shift
    said=$(on software "$BUILD/bin/oshrun" "$@" "./$program" 2>&1) &&
        [ "$(echo "$said" | wc -l)" -eq 1 ] &&
        echo "$said" | grep -qE "^$program on .*, device host: right\$" ||
        echo "FAIL: $program $*: $said" >>failed
}

turn=0
two_at_a_time()
{
    "$@" &
    turn=$((turn + 1))
    [ $((turn % 2)) -ne 0 ] || wait
}
for name in $some; do
    two_at_a_time build $name
done
wait
for name in $some; do
    for n in 1 2 4 '2 --ppn 1' '4 --ppn 2'; do
        # shellcheck disable=SC2086
        two_at_a_time right $name -n $n
    done
done
wait

# ---- they compile ----

ran=0 skipped=0
# accepts COMMAND...
accepts()
{
    ran=$((ran + 1))
    "$@" >log 2>&1 || echo "FAIL: $*: $(head -n 20 log)" >>failed
}

# has ENTRIES: so many kernels are in `code`.
has()
{
    found=$(grep -cE "$1" code)
    [ "$found" -eq $kernels ] ||
        echo "FAIL: $found kernels, not $kernels: $1" >>failed
}

# To one program: each has its own main().
{
    echo '#include "gpu.h"'
    for name in $some; do
        printf 'namespace %s {\n#include "%s.c"\n}\n' $name $name
    done
    echo 'int main() { return 0; }'
} >all.cc
inc="-I$SRC/include -I$programs"
# shellcheck disable=SC2086
accepts ${CXX:-c++} -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
    $inc all.cc
if command -v nvcc >/dev/null 2>&1; then
    for arch in 75 90; do
        # shellcheck disable=SC2086
        accepts nvcc -x cu -ptx -arch=compute_$arch -o code $inc all.cc
        has '^(\.visible )?\.entry '
        grep -q '^\.const .* shmemi_dev_state\[' code ||
            echo "FAIL: compute_$arch: no state" >>failed
        cp code code.ptx
        accepts nvcc -cubin -arch=sm_$arch -o cubin code.ptx
    done
    # nvcc knows no option of a sanitizer.
    case $("$BUILD/bin/oshcc" --showme:compile) in
        *-fsanitize*) ;;
        *) accepts env OSH_CC=nvcc "$BUILD/bin/oshcc" -x cu \
            "$programs/gc_signaling.c" -o linked ;;
    esac
else
    skipped=$((skipped + 1))
fi
if clang -x hip --offload-arch=gfx90a -nogpulib -nogpuinc --cuda-device-only \
    -S -o /dev/null -c /dev/null >/dev/null 2>&1; then
    hip='-x hip --offload-arch=gfx90a -nogpulib -nogpuinc -Wall -Wextra -Werror
        -Wno-unused-function'
    # shellcheck disable=SC2086
    accepts clang $hip -O2 --cuda-device-only -S -o code $inc -I"$here" all.cc
    has '\.amdhsa_kernel '
    # shellcheck disable=SC2086
    accepts clang $hip -O1 --cuda-host-only -S -emit-llvm -o code $inc \
        -I"$here" all.cc
    for call in hipGetSymbolAddress hipGetLastError shmemx_dev_register \
        shmemx_dev_unregister; do
        grep -qE "(call|invoke).*[@]$call\\b" code ||
            echo "FAIL: the host's code has no $call" >>failed
    done
else
    skipped=$((skipped + 1))
fi
[ $skipped -eq 0 ] || echo "skip: $skipped of 2 compilers for GPUs"
echo "$ran compilations"
finish
