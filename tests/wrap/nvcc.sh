#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: OSH_CC=nvcc gets what is meant for the linker in its own words,
# also behind another command; the real one builds a program where it is found.
set -u
. "$(dirname "$0")/wrap.inc"
[ -z "$sanitizer" ] || skip 'nvcc is tested without a sanitizer'
real=$(command -v nvcc)
oshcc=$bin/oshcc
root=$(readlink -f "$BUILD")
inc=$root/include lib=$root/lib
# nvcc has a shell read the words of -Xlinker.
case $lib in
    *[!A-Za-z0-9_@%+=:,./-]*) run=\"$lib\" ;;
    *) run=$lib ;;
esac
fake nvcc
export OSH_CC=nvcc

prints "<-I$inc><a.cu><-o><a b><-L$lib><-Xlinker><-rpath><-Xlinker><$run>\
<-Xlinker><--enable-new-dtags><-lshmem><-lm>" "$oshcc" a.cu -o 'a b'
prints "<-I$inc><-arch><sm_90><-c><a.cu>" "$oshcc" -arch sm_90 -c a.cu
prints "<-I$inc><a.cu><-Xlinker><-z,now><-Xcompiler><-pthread><-Xcompiler>\
<-pthread><-L$lib><-lshmem><-lm>" \
    "$oshcc" a.cu -Wl,-z,now -pthread -Xcompiler -pthread --no-rpath
prints "<-I$inc><a.cu><-Xlinker><\"-rpath,/a b\"><-L$lib><-lshmem><-lm>" \
    "$oshcc" --no-rpath a.cu '-Wl,-rpath,/a b'
for word in -c -E -M -dc -dw -dlink -ptx -cubin -fatbin -lib --ptx; do
    prints "<-I$inc><$word><a.cu>" "$oshcc" "$word" a.cu
done
prints '<--version>' "$oshcc" --version
works '-static-shmem' "$oshcc" -static-shmem a.cu
! grep -q '<-Wl,' "$out" || fail "-static-shmem: $(cat "$out")"
grep -q '<-l:libshmem.a>.*<-lpmix>' "$out" ||
    fail "-static-shmem: $(cat "$out")"

# The same by other names, and nvc is another compiler.
mkdir tools
cp fake/nvcc tools/nvcc-13.0
printf '#!/bin/sh\nexec "$@"\n' >fake/ccache
chmod 755 fake/ccache
fake nvc
for cc in "$PWD/tools/nvcc-13.0" "ccache nvcc"; do
    OSH_CC=$cc
    prints "<-I$inc><-Xlinker><-z><a.cu><-L$lib><-lshmem><-lm>" \
        "$oshcc" --no-rpath -Wl,-z a.cu
done
OSH_CC=nvc
prints "<-I$inc><-Wl,-z><a.c><-L$lib><-lshmem><-lm>" \
    "$oshcc" --no-rpath -Wl,-z a.c

if [ -n "$real" ] && "$real" --version >/dev/null 2>&1; then
    OSH_CC=$real
    cp "$hello" hello.cu
    works 'the real nvcc' "$oshcc" hello.cu -Wl,-z,now -pthread -o hello &&
        greets 2 ./hello 'program of nvcc'
    works 'the real nvcc' "$oshcc" -static-shmem hello.cu -o alone &&
        greets 2 ./alone 'program of nvcc, -static-shmem'
else
    echo 'skip: no nvcc, only its stand-in'
fi
finish 'nvcc through oshcc'
