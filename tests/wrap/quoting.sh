#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every word reaches the compiler as it was typed: empty ones,
# spaces, quotes, patterns, dollars, line ends; also those of 1000 files.
set -u
. "$(dirname "$0")/wrap.inc"
fake cc1
export OSH_CC=cc1
touch star.x

# same WORDS...: in both ways through the wrapper, which adds its own words
# around them.
same()
{
    want=$(cc1 "$@")
    works "$want" "$bin/oshcc" -c "$@" || return
    case $(cat "$out") in
        *"<-c>$want") ;;
        *) fail "$want became $(cat "$out")" ;;
    esac
    works "$want" "$bin/oshcc" --no-rpath -c "$@" || return
    case $(cat "$out") in
        *"<-c>$want") ;;
        *) fail "$want, with one of ours before, became $(cat "$out")" ;;
    esac
}
same a.c
same 'a b.c' '' ' ' '  x  '
same '*.x' '?' '[a-z]*' '~' '!x' '{a,b}'
same "-DX=\"a b\"" "-DX='a'" '-DX=\"a\"' '-DX=$HOME' '-DX=`id`' '-DX=$(id)'
same '\' '\\' '\n' 'a\ b' '%s' '%'
same '-DX=a -c' '-DX= -E ' -DX '-M ' ' -show'
same 'a
b' "$(printf 'tab\there')" 'é' "$(printf '\377')"
same -- -n -e ';' '|' '&' '>' '<x' '(' '#'
same 1 2 3 4 5 6 7 8 9 10 11 12
same -o --showme -D --help

# The word that a program sees is the word that was typed.
cat >say.c <<'END'
#include <stdio.h>
#include <shmem.h>
int main(void) { puts(TEXT); return 0; }
END
unset OSH_CC
text='a  "quoted" $x `y` * -c '
works 'a text' "$bin/oshcc" \
    "-DTEXT=\"$(printf %s "$text" | sed 's/"/\\"/g')\"" say.c -o 'say it' &&
    prints "$text" './say it'

export OSH_CC=cc1
set --
n=0
while [ $n -lt 1000 ]; do
    n=$((n + 1))
    set -- "$@" "object $n.o"
done
same "$@"
finish 'words of the command line'
