#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: clang builds the library, and 2 s of libFuzzer for each break no reader
# of outside bytes.
# Background: its build and its runs leave the processors to other tests (nice).
# Timeout: 400
set -u

sh "$SRC/scripts/fuzz" --check || {
    echo 'skip: there is no clang with libFuzzer'
    exit 77
}
# The fuzz build has sanitizers of its own; once for all builds is enough.
if "$BUILD/bin/oshcc" --showme:compile | grep -q -e -fsanitize; then
    echo 'skip: the build without a sanitizer runs this'
    exit 77
fi
# What tests/run sets for its own sanitizers is not for these.
unset ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
FUZZ_EACH=2 nice sh "$SRC/scripts/fuzz" >found 2>&1 || {
    cat found
    exit 1
}
grep '^ok ' found
[ "$(grep -c '^ok ' found)" -eq \
    "$(find "$SRC/tests/fuzz" -name '*.c' ! -name replay.c | grep -c .)" ]
