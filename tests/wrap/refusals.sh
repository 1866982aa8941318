#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: configure ends with one line where an argument cannot serve, and
# takes flags of several lines as one list.
set -u
. "$(dirname "$0")/wrap.inc"
mkdir include
cp "$SRC/configure" . && cp "$SRC/include/shmemx.h" include || exit 1

# no TEXT ARGS...: one line with the text, and nothing for make.
no()
{
    text=$1
    shift
    rm -f config.mak
    try sh ./configure "$@"
    [ $status -eq 1 ] || fail "$*: status $status, not 1"
    [ "$(wc -l <"$err")" -eq 1 ] || fail "$*: not one line: $(cat "$err")"
    grep -q "^configure: $text" "$err" || fail "$*: '$(cat "$err")'"
    [ ! -e config.mak ] || fail "$*: wrote config.mak"
}
no '--colour: unknown option' --colour
no '--prefix: a value is missing' --prefix
no 'prefix is here: it must be an absolute path' --prefix=here
no 'prefix is /a|b: a quote' '--prefix=/a|b'
no 'libdir is /a?b: a newline' '--libdir=/a
b'
no '--a?b: unknown option' '--a
b'
no "CC is 'no such': there is no program no" CC='no such'
no 'cc cannot compile and link .* are the flags right' CC=cc CFLAGS=--no-such
no '--with-pmix=/no: there is no include/pmix.h below it' --with-pmix=/no

try env CPPFLAGS='-DONE
-DTWO' sh ./configure 'CFLAGS=-O1
-g'
[ $status -eq 0 ] || fail "flags of two lines: $(cat "$err")"
grep -qx 'CFLAGS = -O1 -g' config.mak || fail "$(cat config.mak)"
grep -qx 'CPPFLAGS = -DONE -DTWO' config.mak || fail "$(cat config.mak)"
# They come back when make configures again.
grep -q "^CONFIGURE_ARGS = .*'CFLAGS=-O1 -g'.*'CPPFLAGS=-DONE -DTWO'" \
    config.mak || fail "$(cat config.mak)"
finish 'configure: arguments that cannot serve'
