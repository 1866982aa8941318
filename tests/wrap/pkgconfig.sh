#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: programs compile with what pkg-config says of sluice and
# openshmem, shared and static, also below a prefix with a space.
# Timeout: 120
set -u
. "$(dirname "$0")/wrap.inc"
have pkg-config || skip 'no pkg-config'
prefix="$PWD/my prefix"
installs "$prefix"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
cc=$("$bin/oshcc" --showme:command)

for module in sluice openshmem; do
    works "$module" pkg-config --exists --print-errors "$module"
    eval "works $module $cc '$hello' -o $module \
        $(pkg-config --cflags --libs "$module")" && greets 2 ./$module $module
    ldd ./$module | grep -q "=> $prefix/lib/libshmem.so.1 " ||
        fail "$module: $(ldd ./$module | grep shmem)"
    eval "works $module $cc '$hello' -o $module \
        $(pkg-config --static --cflags --libs "$module")" &&
        greets 2 ./$module "$module, static libraries named"
done
eval "works archive $cc '$hello' -o archive \
    $(pkg-config --static --cflags --libs sluice |
        sed 's/-lshmem/-l:libshmem.a/')" && greets 2 ./archive archive
! ldd ./archive | grep -q libshmem || fail 'the archive is shared'

# All static where oshcc can make such a program by itself.
try "$bin/oshcc" -static "$hello" -o full
if [ $status -eq 0 ]; then
    eval "works -static $cc -static '$hello' -o full \
        $(pkg-config --static --cflags --libs sluice)" && greets 2 ./full -static
    ! readelf -l full | grep -q INTERP || fail '-static: a dynamic linker'
else
    grep -q 'S-E-STATIC' "$err" && echo "passed over: $(cat "$err")"
fi

prints 1.6 pkg-config --modversion openshmem
prints "$("$bin/oshcc" --showme:version | sed 's/.*) \(.*\),.*,.*/\1/')" \
    pkg-config --modversion sluice
works version pkg-config --atleast-version=0.1 sluice
for variable in cc oshrun; do
    file=$(eval "printf %s $(pkg-config --variable=$variable sluice)")
    [ -x "$file" ] || fail "variable $variable is $file"
done

# A moved prefix: pkg-config is told its name, or where the .pc file lies.
mv "$prefix" moved
works moved env PKG_CONFIG_PATH="$PWD/moved/lib/pkgconfig" \
    pkg-config --define-prefix --libs sluice
grep -q "/moved/lib -Wl,-rpath" "$out" || fail "moved: $(cat "$out")"
finish 'pkg-config'
