#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: oshcc and its aliases add the right words to each kind of command
# line and choose the compiler by the variables, under every spelling.
set -u
. "$(dirname "$0")/wrap.inc"
oshcc=$bin/oshcc
fake cc1

# What oshcc adds in this build.
add_c=$("$oshcc" --showme:compile)
add_l=$("$oshcc" --showme:link)
case $add_c in *-I*/include*) ;; *) fail ":compile is '$add_c'" ;; esac
case $add_l in
    *-L*'-Wl,-rpath,'*'-lshmem -lm') ;;
    *) fail ":link is '$add_l'" ;;
esac

# --- Which words are added. ---
export OSH_CC=cc1
# added c|l|cl|none WORDS...
added()
{
    kind=$1
    shift
    works "$*" "$oshcc" "$@" || return
    got=
    grep -q '<-I[^>]*/include>' "$out" && got=c
    grep -q '<-lshmem>' "$out" && got=${got}l
    [ "${got:-none}" = "$kind" ] ||
        fail "$*: adds ${got:-nothing}: $(cat "$out")"
}
for word in -c -S -E -M -MM -r -fsyntax-only --compile --preprocess; do
    added c "$word" a.c
    added c a.c -o a.o "$word"
done
added cl a.c
added cl a.o b.o -o a
added cl a.c -MD -MF a.d
added cl -shared -fPIC a.c -o a.so
added cl - -x c
added cl @words
# Words that only look like -c and the like belong to the option before.
for option in -o -I -D -Xlinker -include -x -MF -u -z; do
    added cl "$option" -c a.c
    added cl a.c "$option" -E
done
added cl '-DX=a -c' a.c
added cl a.c -Wl,-E -cpp -std=c11 -Map
# Questions to the compiler.
for word in -v --version -dumpversion -dumpmachine -print-prog-name=ld \
    -V '-###'; do
    added none "$word"
    prints "<$word>" "$oshcc" "$word"
done
prints '<>' "$oshcc"
added none -v -o a.out

# --- The compiler. ---
unset OSH_CC
fake cc2
for form in CC:oshcc CC:shmemcc CXX:oshc++ CXX:oshcxx CXX:oshCC CXX:shmemc++ \
    CXX:shmemcxx; do
    kind=${form%:*} name=${form#*:}
    own=$("$bin/$name" --showme:command)
    [ "$kind" = CXX ] || [ "$own" = "$("$oshcc" --showme:command)" ] ||
        fail "$name is $own"
    for prefix in OSHMEM SMA SHMEM OSH; do
        export "${prefix}_$kind=$prefix -m64"
        prints "$prefix -m64" "$bin/$name" --showme:command
    done
    unset "OSH_$kind" "SHMEM_$kind" "SMA_$kind" "OSHMEM_$kind"
    prints "$own" env OSH_CC= OSH_CXX= "$bin/$name" --showme:command
done
[ "$("$bin/oshc++" --showme:command)" != "$("$oshcc" --showme:command)" ] ||
    fail 'oshc++ runs the C compiler'
export OSH_CC='cc1 -one  *' # words, but no patterns
prints '<-one><*><-v>' "$oshcc" -v
mkdir 'in dir'
cp fake/cc2 'in dir/cc 2'
export OSH_CC="$PWD/in dir/cc 2"
prints '<-v>' "$oshcc" -v
prints "'$PWD/in dir/cc 2'" "$oshcc" --showme:command
unset OSH_CC
# A variable for oshcc is none that the library warns of.
if [ -z "$sanitizer" ]; then
    works 'SHMEM_CC of another' "$oshcc" "$hello" -o hello &&
        works 'SHMEM_CC set' env SHMEM_CC=cc SHMEM_CXX=c++ ./hello
    [ ! -s "$err" ] || fail "SHMEM_CC set: $(cat "$err")"
fi

prints '<-v>' env OSH_CC=' cc2 ' "$oshcc" -v

# --- What it would do. ---
# A sanitizer is in both parts, and once in the whole.
lib=${add_l#"${sanitizer:+"-fsanitize=$sanitizer "}"}
export OSH_CC=cc1
for word in --showme -showme --show -show; do
    prints "cc1 $add_c $lib" "$oshcc" "$word"
    prints "cc1 $add_c a.c -o a $lib" "$oshcc" a.c "$word" -o a
    prints "cc1 $add_c -c a.c" "$oshcc" "$word" -c a.c
    prints cc1 "$oshcc" "$word:command"
    prints "$add_c" "$oshcc" a.c "$word:compile"
    prints "$add_l" "$oshcc" "$word:link" -c a.c
    prints 'shmem m' "$oshcc" "$word:libs"
done
prints "$add_l" "$oshcc" -showlibs
prints "$add_l" "$oshcc" --showlibs
for part in incdirs:include libdirs:lib; do
    name=${part%:*} end=${part#*:}
    try "$oshcc" "--showme:$name"
    grep -q "^'\{0,1\}/.*/$end'\{0,1\}\$" "$out" ||
        fail ":$name is '$(cat "$out")'"
    [ -d "$(eval "echo $(cat "$out")")" ] || fail ":$name: $(cat "$out")"
done
try "$oshcc" --showme:libs_static
grep -qE '^shmem .*pmix.* hwloc' "$out" || fail ":libs_static: $(cat "$out")"
try "$oshcc" --showme:libdirs_static
grep -q "^$("$oshcc" --showme:libdirs)" "$out" || fail ':libdirs_static'
try "$oshcc" --showme:version
grep -q '^oshcc (Sluice) [0-9.]*, OpenSHMEM 1.6, C$' "$out" ||
    fail ":version: $(cat "$out")"
try "$bin/oshc++" --showme:version
grep -q '^oshc++ .* C++$' "$out" || fail ":version: $(cat "$out")"
for word in --help --showme:help; do
    works "$word" "$oshcc" "$word"
    grep -q -- '--showme:PART' "$out" || fail "$word: $(cat "$out")"
    grep -q OSH_CC "$out" || fail "$word names no variable"
done
prints '<--help=warnings>' "$oshcc" --help=warnings
# What is printed can be typed.
works 'typed back' sh -c "$("$oshcc" --showme "-DX=\"a 'b' \$c\"" '' -c a.c)"
grep -qF "<-DX=\"a 'b' \$c\"><><-c><a.c>" "$out" ||
    fail "typed back: $(cat "$out")"

# --- The library. ---
try "$oshcc" --showme:link --no-rpath
grep -q 'lib.* -lshmem -lm$' "$out" || fail "--no-rpath: $(cat "$out")"
! grep -q rpath "$out" || fail "--no-rpath: $(cat "$out")"
for word in -static -static-pie -static-shmem; do
    works "$word" "$oshcc" "$word" a.c
    grep -q '<-l:libshmem.a>.*<-lpmix>.*<-lhwloc>' "$out" ||
        fail "$word: $(cat "$out")"
    ! grep -q '<-lshmem>' "$out" || fail "$word: both libraries"
done
! grep -q -- -static- "$out" || fail 'the compiler is told -static-shmem'
works -static "$oshcc" -static a.c
grep -q '<-static>' "$out" || fail 'the compiler is not told -static'

# --- Refusals. ---
refused S-E-ARGS "no part 'colour'" "$oshcc" --showme:colour
refused S-E-ARGS "no part 'a?b'" "$oshcc" '--showme:a
b'
[ ! -w /dev/full ] || for word in --showme --showme:libs --help; do
    refused S-E-OUTPUT 'cannot write' sh -c '"$@" >/dev/full' sh "$oshcc" $word
done
refused S-E-FORTRAN 'no Fortran' "$bin/oshfort" a.f90
refused S-E-CC "OSH_CC chose 'nosuch'.*set OSH_CC" env OSH_CC=nosuch \
    "$oshcc" a.c
refused S-E-CC "OSH_CXX chose 'no'" env OSH_CXX='no such' "$bin/oshc++" a.c
refused S-E-CC 'OSH_CC chose oshcc itself' env OSH_CC="$oshcc" "$oshcc" a.c
refused S-E-KERNELS 'k.cu has kernels of a GPU.*set OSH_CC=nvcc' "$oshcc" -c k.cu
refused S-E-KERNELS 'k.hip has kernels .*set OSH_CXX=hipcc' "$bin/oshc++" k.hip
echo 'int in_text;' >k.cu
"$oshcc" -x c -c k.cu -o k.o || fail 'k.cu as C'
mkdir alone
sed "s,^libdir=.*,libdir='/nowhere'," "$oshcc" >alone/oshcc
chmod 755 alone/oshcc
refused S-E-PREFIX 'no libshmem' alone/oshcc a.c
finish 'options, names and variables of oshcc'
