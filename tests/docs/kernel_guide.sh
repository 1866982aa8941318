#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: each piece of C in the guide to kernels compiles where the guide's
# program has room for it, and does what the guide says, near and far; its CUDA
# compiles; and the calls and pages that it names are there.
# Timeout: 90
set -u
. "$(dirname "$0")/../device/device.inc"
guide=$SRC/docs/guide/in_a_kernel.md

awk '/^```c$/ { getline; piece = $2 ".piece"; on = 1; next }
    /^```/ { on = 0 } on { print >piece }' "$guide"
mv frame.c.piece frame.c
pieces=$(for piece in *.piece; do echo "${piece%.piece}"; done)
check [ "$(grep -c '^ */\* here \*/$' frame.c)" -eq 1 ]

# does NAME REGEX: PE 0 prints that.
does()
{
    sed "/^ *\/\* here \*\/\$/r $1.piece" frame.c >"$1.c"
    "$BUILD/bin/oshcc" -std=c11 -Wall -Wextra -Werror "$1.c" -o "$1" || {
        echo "FAIL: $1.c" >>failed
        return
    }
    for words in '-n 1' '-n 2' '-n 3 --ppn 1'; do
        # shellcheck disable=SC2086
        said=$(on software "$BUILD/bin/oshrun" $words "./$1" 2>&1) ||
            echo "FAIL ($?): $1, $words: $said" >>failed
        echo "$said" | grep -qE "$2" ||
            echo "FAIL: $1, $words: no '$2': $said" >>failed
    done
    tested="${tested-}$1
"
}
[ -z "$real" ] || { echo 'skip: for the software device'; exit 77; }
does send '^PE 0 of [123]: b 100[0-2], count 0$'
does count '^PE 0 of ([123]): b 0, count \1$'
does meet '^PE 0 of ([123]): b [789], count \1$'
check [ "$(printf %s "$tested" | sort)" = "$(echo "$pieces" | sort)" ]

{
    echo '#include <shmem.h>'
    echo '#include <shmemx_dev.h>'
    awk '/^```cuda$/ { on = 1; next } /^```/ { on = 0 } on' "$guide"
} >kernel.cu
! command -v nvcc >/dev/null ||
    nvcc -ptx -I"$SRC/include" -o kernel.ptx kernel.cu 2>cc.log ||
    { cat cc.log; echo 'FAIL: nvcc' >>failed; }

sh "$SRC/scripts/kernel-calls" >calls
grep -oE 'shmemx_dev_[a-z0-9_]+' "$guide" | sort -u | while read -r name; do
    grep -qx "$name" calls || grep -qx "$name" "$SRC/docs/extensions.txt" ||
        case $name in
            shmemx_dev_sync | shmemx_dev_atomic | shmemx_dev_collective) ;;
            shmemx_dev_put | shmemx_dev_wait_until | shmemx_dev_t) ;;
            *) echo "FAIL: no $name" >>failed ;;
        esac
done
grep -oE '\]\([a-z_/.]+\)' "$guide" | tr -d '()]' | while read -r link; do
    [ -e "$SRC/docs/guide/$link" ] || echo "FAIL: no $link" >>failed
done

[ ! -s failed ] || { cat failed; exit 1; }
[ $failures -eq 0 ]
