#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what src/gtl says of CUDA and HIP is what the headers say that
# are installed here, and the vendors' compilers take our kernels; a value, a
# declaration or a kernel that is wrong is found.
set -u
: "${SRC:?the source directory}"
# It does not see a header that comes first now.
CCACHE_DISABLE=1
export CCACHE_DISABLE
sh "$SRC/scripts/abi-check" >found 2>&1 || { cat found; exit 1; }
cat found
case $(tail -n 1 found) in
    *': 0 compared'*)
        echo 'no headers of CUDA or HIP, no ptxas, no clang for GPUs: skipped'
        exit 77 ;;
esac

# wrong PART FILE SED WHAT: that part of the check fails with that change of
# src/gtl/FILE.
mkdir -p gtl/cuda gtl/hip
wrong()
{
    sed "$3" "$SRC/src/gtl/$2" >"gtl/$2"
    cmp -s "$SRC/src/gtl/$2" "gtl/$2" && { echo "FAIL: $3 does nothing"; exit 1; }
    if CPPFLAGS=-I$PWD sh "$SRC/scripts/abi-check" "$1" >said 2>&1; then
        cat said
        echo "FAIL: $4 passes"
        exit 1
    fi
    rm "gtl/$2"
}

if ! grep -q 'abi/cuda.cc skipped' found; then
    wrong headers cuda/cuda_values.h \
        's/CUDA_ERROR_NOT_READY, 600/CUDA_ERROR_NOT_READY, 601/' \
        'a wrong value'
    wrong headers cuda/cuda_abi.h 's/void \*s, unsigned long long \*out/int s/' \
        'a wrong declaration'
    wrong headers cuda/cuda_abi.h 's/uint64_t word, value;/uint32_t word, value;/' \
        'a structure of another layout'
fi
grep -q 'abi/hip.c skipped' found ||
    wrong headers hip/hip_abi.h 's/HIP_NOT_READY = 600/HIP_NOT_READY = 601/' \
        'a wrong value of HIP'
grep -q 'cuda_kernels.inc skipped' found ||
    wrong cuda cuda/cuda_kernels.inc 's/atom\.sys\.exch/atom.sys.change/' \
        'a kernel that ptxas refuses'
! grep -q 'hip_source.inc compiles' found ||
    wrong hip hip/hip_source.inc 's/builtin_amdgcn_s_sleep/builtin_amdgcn_s_doze/' \
        'a kernel that clang refuses'
