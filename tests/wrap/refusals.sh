#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: configure ends with one line where an argument cannot serve; it
# takes flags of several lines as one list, and what packages' macros pass.
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
no '--host=pdp11-dec-bsd: there is no pdp11-dec-bsd-gcc' --host=pdp11-dec-bsd
no '--program-prefix=x: unknown option' --program-prefix=x
no 'libdir is ${home}/a: a quote' '--libdir=${home}/a'
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

# has LINE...: config.mak has these lines.
has()
{
    [ $status -eq 0 ] || fail "$how: $(cat "$err")"
    for line do
        grep -qx "$line" config.mak || fail "$how: no $line: $(cat config.mak)"
    done
}
# Debian's debhelper and the macro %configure of rpm.
how=debhelper
try sh ./configure --build=x86_64-linux-gnu --prefix=/usr \
    '--includedir=${prefix}/include' '--mandir=${prefix}/share/man' \
    '--infodir=${prefix}/share/info' --sysconfdir=/etc --localstatedir=/var \
    --disable-option-checking --disable-silent-rules \
    '--libdir=${exec_prefix}/lib/x86_64-linux-gnu' --runstatedir=/run \
    --disable-maintainer-mode --disable-dependency-tracking
has 'prefix = /usr' 'libdir = /usr/lib/x86_64-linux-gnu' \
    'includedir = /usr/include' 'mandir = /usr/share/man'
how=rpm
machine=$(uname -m)-redhat-linux-gnu
try sh ./configure "--build=$machine" "--host=$machine" --program-prefix= \
    --disable-dependency-tracking --prefix=/usr --exec-prefix=/usr \
    --bindir=/usr/bin --sbindir=/usr/sbin --sysconfdir=/etc \
    --datadir=/usr/share --includedir=/usr/include --libdir=/usr/lib64 \
    --libexecdir=/usr/libexec --localstatedir=/var --sharedstatedir=/var/lib \
    --mandir=/usr/share/man --infodir=/usr/share/info
has 'libdir = /usr/lib64' 'bindir = /usr/bin' 'CROSS = '
finish 'configure: arguments that cannot serve'
