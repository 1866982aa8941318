#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: make install fills a prefix with a space; programs compile there
# and run from anywhere; the prefix may move; uninstall leaves nothing.
# Timeout: 120
set -u
. "$(dirname "$0")/wrap.inc"
prefix="$PWD/my prefix"
installs "$prefix"

for file in bin/oshcc bin/oshc++ bin/shmemcc bin/oshrun bin/shmem_info bin/shmem_top \
    bin/bucketsort bin/gol2d bin/faces bin/jacobi2d lib/libshmem.so lib/libshmem.so.1 lib/libshmem.a \
    lib/sluice/libpsm2.so.2 \
    include/shmem.h include/shmemx.h include/pshmem.h include/mpp/shmem.h include/compat/nvshmem.h \
    lib/pkgconfig/sluice.pc lib/pkgconfig/openshmem.pc \
    lib/cmake/Sluice/SluiceConfig.cmake share/doc/sluice/README.md \
    share/sluice/valgrind.supp share/doc/sluice/LICENSE share/doc/sluice/docs/guide/on_a_stream.md \
    share/doc/sluice/examples/README.md share/doc/sluice/examples/ping.c \
    share/doc/sluice/examples/example.h \
    share/doc/sluice/examples/shmemg/gc_rma.c share/man/man1/oshcc.1; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done
# What pages for users link to is installed with them.
(cd "$prefix/share/doc/sluice" && ls README.md docs/start/*.md docs/guide/*.md \
    examples/*.md docs/results/*.md) >pages
[ "$(wc -l <pages)" -gt 30 ] || fail "few pages: $(cat pages)"
while read -r page; do
    at=$prefix/share/doc/sluice/$(dirname "$page")
    grep -oE '\]\([^)#:]*\)' "$prefix/share/doc/sluice/$page" | tr -d '])(' |
        while read -r link; do
            [ -e "$at/$link" ] || echo "$page: $link"
        done
done <pages >links
[ ! -s links ] || fail "links lead nowhere: $(cat links)"
find "$prefix" -name 'osu_*' | grep . && fail 'a benchmark is installed'
[ "$(readlink "$prefix/bin/oshc++")" = oshcc ] || fail 'oshc++ is no link'
! find "$prefix" -type f ! -perm -a+r | grep . || fail 'unreadable files'

# Another prefix compiles what tells it, and nothing else.
[ "$(grep ' CC ' copy/make.out)" = '  CC      obj/tools/shmem_info/report.o' ] ||
    fail "another prefix compiles: $(grep ' CC ' copy/make.out | head -n 5)"
works 'the prefix' "$prefix/bin/shmem_info"
grep -qF "$prefix" "$out" || fail "shmem_info tells another prefix"

# Over its own sources there is nothing to install, and much to uninstall.
(cd copy && ./configure --prefix="$PWD") >refused 2>&1 &&
    fail 'the source directory is taken for a prefix'
grep -q 'prefix is .*: that is the source directory' refused ||
    fail "the source directory as prefix: $(cat refused)"

# compiles DIR WHAT: and what comes out uses the library of DIR.
compiles()
{
    rm -f hello
    works "$2" "$1/bin/oshcc" "$hello" -o hello || return
    works "$2" ldd hello
    grep -q "libshmem.so.1 => $1/lib/libshmem.so.1 " "$out" ||
        fail "$2: $(grep shmem "$out")"
    bin=$1/bin
    greets 4 "$PWD/hello" "$2"
    (cd / && "$bin/oshrun" -n 2 "$OLDPWD/hello") >"$out" 2>&1 ||
        fail "$2, from another directory: $(cat "$out")"
    works "$2, -static-shmem" "$1/bin/oshcc" -static-shmem "$hello" \
        -o hello && greets 2 ./hello "$2, -static-shmem"
}
# Neither the build tree nor the copy may help.
mv copy gone
compiles "$prefix" 'installed'
works 'bucketsort' "$prefix/bin/oshrun" -n 2 "$prefix/bin/bucketsort" --help
works 'gol2d' "$prefix/bin/oshrun" -n 2 "$prefix/bin/gol2d" --help
mv gone copy

# A prefix that is a link keeps its name, which outlives an upgrade.
mv "$prefix" version-1
ln -s version-1 "$prefix"
works 'a prefix that is a link' "$prefix/bin/oshcc" --showme:link
! grep -q version-1 "$out" || fail "a prefix that is a link: $(cat "$out")"
rm "$prefix"
mv version-1 "$prefix"

# Without configuring again: the whole tree is somewhere else.
mv "$prefix" "$PWD/moved there"
compiles "$PWD/moved there" 'moved'
ln -s "$PWD/moved there" link
works 'by a link' link/bin/oshcc -c "$hello"
mv "$PWD/moved there" "$prefix"

# Staged below DESTDIR, which no file may know, and for all users whatever the
# umask is.
stage="$PWD/the stage"
mkdir "$stage"
works 'DESTDIR' sh -c 'umask 077; exec make -C copy install DESTDIR="$1"' sh "$stage"
[ -z "$(find "$stage" ! -type l ! -perm -044)" ] ||
    fail "not for all users: $(find "$stage" ! -type l ! -perm -044 | head -n 3)"
[ ! -e "$stage/bin" ] && [ -x "$stage$prefix/bin/oshcc" ] ||
    fail "DESTDIR: $(find "$stage" -name oshcc)"
! grep -rl 'the stage' "$stage" | grep . || fail 'files know their stage'
mv "$prefix" hidden
compiles "$stage$prefix" 'staged'
mv hidden "$prefix"

# Make itself takes no prefix, which would reach half of the files.
make -C copy install "prefix=$PWD/half" >refused 2>&1 &&
    fail 'make install prefix=DIR installs'
grep -q 'the prefix is an option of ./configure' refused && [ ! -e half ] ||
    fail "make install prefix=DIR: $(cat refused)"

# What others have put there stays.
: >"$prefix/bin/other"
: >"$prefix/include/other.h"
works uninstall make -C copy uninstall DESTDIR="$stage"
find "$stage" ! -type d | grep . && fail 'files left in the stage'
works uninstall make -C copy uninstall
[ "$(find "$prefix" ! -type d | sort)" = "$prefix/bin/other
$prefix/include/other.h" ] || fail "left: $(find "$prefix" ! -type d)"
find "$prefix" -type d -name '*luice*' | grep . && fail 'directories left'

# A moved tree whose library is not in lib/.
(cd copy && ./configure --prefix="$prefix" --libdir="$prefix/lib64" &&
    make install) >lib64.out 2>&1 || fail "lib64: $(tail -n 5 lib64.out)"
mv copy gone
mv "$prefix" "$PWD/moved"
works 'gol2d beside lib64' "$PWD/moved/bin/oshrun" -n 2 \
    "$PWD/moved/bin/gol2d" --help
finish 'installation'
