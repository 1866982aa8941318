#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: each piece of C in the guide to streams compiles where the guide's
# own program has room for it, and does what the guide says, near and far, and
# on a stand-in for a GPU; and what the guide names and links to is there.
# Timeout: 90
set -u
. "$(dirname "$0")/../device/device.inc"
guide=$SRC/docs/guide/on_a_stream.md

# A piece is known by the name in its first line; in lists it is indented.
awk '/^ *```c$/ { getline; piece = $2 ".piece"; on = 1; next }
    /^ *```/ { on = 0 } on { print >piece }' "$guide"
mv frame.c.piece frame.c
some=$(for piece in *.piece; do echo "${piece%.piece}"; done)
check [ "$(grep -c '^ *```c$' "$guide")" -eq $(($(echo "$some" | wc -l) + 1)) ]

# All of them in one program, in blocks of their own; a variable says which.
for name in $some; do
    printf 'if (!strcmp(getenv("PIECE"), "%s")) {\n' "$name"
    cat "$name.piece"
    echo '}'
done >here
check [ "$(grep -c '^ */\* here \*/$' frame.c)" -eq 1 ]
sed '/^ *\/\* here \*\/$/r here' frame.c >pieces.c
for name in frame pieces; do
    "$BUILD/bin/oshcc" -std=c11 -Wall -Wextra -Werror -include stdlib.h \
        $name.c -o $name || exit 1
done

# does NAME TEXT...: what PE 0 prints.
does()
{
    name=$1
    shift
    while read -r device words; do
        # shellcheck disable=SC2086
        {
            said=$(PIECE=$name on "$device" "$BUILD/bin/oshrun" $words \
                ./pieces 2>&1) || echo "FAIL ($?): $device $words" >>failed
            for text; do
                echo "$said" | grep -qE "$text" ||
                    echo "FAIL: $name, $device $words: no '$text': $said" \
                        >>failed
            done
        } &
    done <<END
software -n 2
software -n 2 --ppn 1
cuda-discrete -n 3
END
    tested="${tested-}$name
"
    turn=$((${turn:-0} + 1))
    [ $((turn % 2)) -ne 0 ] || wait
}
[ -z "$real" ] || { echo 'skip: for stand-ins'; exit 77; }
does send '^PE 0 of [23], .*: 1111111111111111$'
does streams '^PE 0 of [23], .*: 2222222222222222$'
does host '^PE 0 of [23], .*: 3333333333333333$'
does barrier '^PE 0 of [23], .*: 3333333333333333$'
does values '^PE 0 of 2, .*: 2$|^PE 0 of 3, .*: 3$' '^PE 1 of [23], .*: 0$'
does queue '^PE 0 of [23], .*: 4444444444444444$'
does persistent '^PE 0 of [23], .*: a0a0a0a0a0a0a0a$'
does halo '^PE 0 of [23], .*: a0a0a0a0a0a0a0a$'
does ready '^PE 0 of [23], .*: 5959595959595959$'
does one_shot '^PE 0 of [23], .*: 7777777777777777$'
does graph '^PE 0 of [23], .*: 4444444444444444$'
does epochs '^PE 0 of [23], .*: 4545454545454545$'
does reuse '^PE 0 of [23], .*: 4646464646464646$'
does signal_first '^PE 0 of [23], .*: 0$'
does host_signal '^PE 0 of [23], .*: 0$'
does engines '^(host|cuda): device heap: puts by copy, atomics by copy; far: puts by (none|soft)$'
does errors '^refused: Invalid argument$' \
    'shmemx_long_p_on_stream: PE [23] is outside 0\.\.[12].* not enqueued'
wait
# One of all that are there.
check [ "$(echo "$some" | sort)" = "$(printf %s "$tested" | sort)" ]
check timeout 60 "$BUILD/bin/oshrun" -n 1 ./frame

# --- Names and links ---

grep -oE '\bshmemx?_[a-zA-Z0-9_]*[a-z0-9]\b' "$guide" |
    sed 's/TYPENAME/long/' | sort -u | while read -r name; do
    case $name in
        shmemx_st | shmemx_on_stream | *_t) continue ;; # header, page, types
    esac
    grep -qE "^(#define )?$name\>" "$SRC/docs/extensions.txt" \
        "$SRC/docs/openshmem-1.6.txt" "$SRC/include/shmemx_st_generic.h" ||
        echo "no call $name"
done >names
grep -oE '\]\([^)#:]*\)' "$guide" | tr -d '])(' | while read -r link; do
    [ -e "$SRC/docs/guide/$link" ] || echo "no file $link"
done >>names
# In all pages of the guide; openshmem.md in docs/start has other libraries' too.
grep -ohE '\bSHMEM_[A-Z][A-Z0-9_]*[A-Z0-9]\b' "$SRC"/docs/guide/*.md "$SRC/README.md" |
    sort -u | while read -r name; do
        grep -qE "^ENV\([a-z]*, *${name#SHMEM_}," "$SRC/src/base/env_defs.h" ||
            grep -qw "$name" "$SRC"/include/*.h "$SRC"/include/compat/*.h ||
            echo "no variable $name"
    done >>names
check [ ! -s names ]
cat names >&2
finish
