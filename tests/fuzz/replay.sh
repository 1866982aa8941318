#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: no input that was interesting to the fuzzer breaks a reader.
# Timeout: 60
# Needs: fuzzers
set -u

bad=0
for file in "$SRC"/tests/fuzz/*.c; do
    name=${file##*/}
    name=${name%.c}
    [ "$name" = replay ] && continue
    "$BUILD/obj/tests/fuzz/$name" "$SRC/tests/fuzz/corpus/$name" || {
        echo "$name: exit status $?"
        bad=1
    }
done
exit $bad
