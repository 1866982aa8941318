#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the C++ overloads compile without a warning in C++11 to C++20
# and call the functions of their types; SHMEM_STRICT leaves them out.
# Timeout: 120
set -u
dir=$(dirname "$0")
failed=0
fail() { echo "FAIL: $*"; failed=1; }
compilers=
for cxx in g++ clang++; do
    ! command -v $cxx >/dev/null || compilers="$compilers $cxx"
done
[ -n "$compilers" ] || { echo 'skip: no C++ compiler'; exit 77; }
for cxx in $compilers; do
    for std in c++11 c++14 c++20; do
        $cxx -std=$std -Wall -Wextra -pedantic -Werror -fsyntax-only \
            -I"$SRC/include" "$dir/overload.cpp" 2>log ||
            fail "$cxx -std=$std: $(head -n 5 log)"
    done
    for file in overload_st overload_more overload_dev; do
        $cxx -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only \
            -I"$SRC/include" "$dir/$file.cpp" 2>log ||
            fail "$cxx, $file: $(head -n 5 log)"
    done
    # Old programs wrap C headers; the overloads stay C++.
    printf 'extern "C" {\n#include <shmem.h>\n#include <shmemx.h>\n#include <shmemx_st.h>\n#include <shmemx_dev.h>\n}\n' \
        >wrapped.cpp
    echo 'void f(long *d, double *e, size_t n) { shmem_p(d, 1L, 0); shmem_p(e, 1., 0);
        shmemx_ibput(d, d, 1, 1, n, n, 0); }' \
        >>wrapped.cpp
    $cxx -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$SRC/include" \
        wrapped.cpp 2>log || fail "$cxx, in extern C: $(head -n 5 log)"
    for file in overload overload_st overload_more overload_dev; do
        ! $cxx -DSHMEM_STRICT -fsyntax-only -I"$SRC/include" \
            "$dir/$file.cpp" 2>/dev/null ||
            fail "$cxx: overloads in spite of SHMEM_STRICT"
    done
done
# Each generic name of C11 is an overload, too.
sed -n 's/^#define \(shmemx\{0,1\}_[a-z0-9_]*\)(.*/\1/p' "$SRC"/include/*_generic.h |
    sort -u >generic
printf '#include <shmem.h>\n#include <shmemx.h>\n#include <shmemx_st.h>\n' >all.cpp
${compilers##* } -E -I"$SRC/include" all.cpp | grep -o '\bshmemx\{0,1\}_[a-z0-9_]*(' |
    tr -d '(' | sort -u | comm -23 generic - >missing
[ -s generic ] && [ ! -s missing ] ||
    fail "no overload (*_overload.h) of $(paste -sd' ' missing)"
# A library with a sanitizer wants programs of the same compiler.
case $("$BUILD/bin/oshcc" --showme:compile) in
    *-fsanitize=*) ;;
    *) OSH_CXX=${compilers##* } && export OSH_CXX ;;
esac
for file in overload overload_st overload_more overload_dev; do
    "$BUILD/bin/oshc++" "$dir/$file.cpp" -o $file \
        >log 2>&1 || fail "oshc++: $(head -n 5 log)"
    for far in '' '--ppn 1'; do
        # shellcheck disable=SC2086
        timeout -k 5 60 "$BUILD/bin/oshrun" -n 2 $far ./$file >out 2>&1 ||
            fail "run: $(head -n 5 out)"
        [ "$(grep -c passed out)" -eq 2 ] || fail "run: $(head -n 5 out)"
    done
done
exit $failed
