#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: oshcc serves as CC of a configure script: it compiles, links,
# preprocesses, finds functions in the library, and tells when one is missing.
set -u
. "$(dirname "$0")/wrap.inc"
mkdir project
cd project || exit 1

# The probes that autoconf makes, in its order and spelling.
cat >configure <<'END'
#!/bin/sh
: "${CC=oshcc}"
say() { printf 'checking %s... ' "$1"; }
got() { printf '%s\n' "$1"; }
die() { got "$1"; sed 's/^/| /' conftest.err; exit 77; }
rm -f a.out a.exe conftest*
cat >conftest.c <<'C'
int
main (void)
{

  ;
  return 0;
}
C
for ac_option in --version -v -V -qversion -version; do
    $CC $ac_option >conftest.out 2>conftest.err </dev/null
    echo "$CC $ac_option: $?" >>config.log
done
say 'whether the C compiler works'
$CC  conftest.c  >conftest.err 2>&1 && test -x a.out || die no
got yes
say 'for suffix of executables'
$CC -o conftest conftest.c 2>conftest.err && ./conftest || die no
got ''
say 'for suffix of object files'
$CC -c conftest.c 2>conftest.err && test -s conftest.o || die no
got o
say 'whether the compiler supports GNU C'
sed 's/^  ;/#ifndef __GNUC__\n choke me\n#endif/' conftest.c >conftest2.c
$CC -c conftest2.c 2>conftest.err || die no
got yes
say 'whether warnings are errors'
$CC -c -Werror conftest.c 2>conftest.err || die no
$CC -Werror -o conftest conftest.c 2>conftest.err || die no
got yes
say 'how to run the C preprocessor'
CPP="$CC -E"
echo '#include <shmem.h>' >conftest.c
$CPP conftest.c 2>conftest.err | grep 'shmem_init' >conftest.out || die no
echo '#include <ac_nonexistent.h>' >conftest.c
$CPP conftest.c >/dev/null 2>conftest.err && die 'a missing header is found'
got "$CPP"
for function in shmem_init shmem_putmem_nbi shmem_align shmem_ptr \
    shmem_nosuch; do
    say "for $function"
    cat >conftest.c <<C
#ifdef __cplusplus
extern "C"
#endif
char $function ();
int
main (void)
{
return $function ();
}
C
    if $CC -o conftest conftest.c >conftest.err 2>&1; then
        got yes
        HAVE="$HAVE $function"
    else
        got no
    fi
done
say 'dependency style'
mkdir -p sub && echo 'int x;' >sub/conftest.c
depfile=sub/conftest.Po
$CC -c -o sub/conftest.o -MT sub/conftest.o -MD -MP -MF $depfile \
    sub/conftest.c 2>conftest.err && grep 'sub/conftest.o' $depfile \
    >/dev/null || die none
got gcc3
printf 'CC = %s\nHAVE =%s\n' "$CC" "$HAVE" >Makefile
cat Makefile.in >>Makefile
END
printf 'hello: hello.o\n\t$(CC) -o $@ hello.o\n.c.o:\n\t$(CC) -c $<\n' \
    >Makefile.in
cp "$hello" hello.c
PATH=$bin:$PATH
export PATH
works 'configure' sh ./configure
grep -q '^HAVE = shmem_init shmem_putmem_nbi shmem_align shmem_ptr$' Makefile ||
    fail "functions found: $(grep HAVE Makefile)"
works 'make' make && greets 3 ./hello 'configured program'
make -s -B CC='oshcc -DMORE' hello >"$out" 2>&1 || fail "CC: $(cat "$out")"

# The same by autoconf itself, with all that it does.
if have autoconf; then
    mkdir ../auto
    cd ../auto || exit 1
    cat >configure.ac <<'END'
AC_INIT([t], [1])
AC_PROG_CC([oshcc])
AC_PROG_CPP
AC_CHECK_HEADERS([shmem.h shmemx.h pshmem.h mpp/shmem.h])
AC_SEARCH_LIBS([shmem_init], [sma], [], [AC_MSG_ERROR([no shmem_init])])
AC_CHECK_FUNC([shmem_nosuch], [AC_MSG_ERROR([shmem_nosuch is found])])
AC_CHECK_SIZEOF([shmem_ctx_t], [], [[#include <shmem.h>]])
AC_OUTPUT
END
    if works autoconf autoconf; then
        works 'its configure' sh ./configure
        for line in 'works... yes' 'GNU C... yes' 'for shmem.h... yes' \
            'mpp/shmem.h... yes' 'shmem_init... none required' \
            'shmem_ctx_t... 8'; do
            grep -q "$line" "$out" || fail "no '$line': $(cat "$out" "$err")"
        done
    fi
else
    echo 'skip: no autoconf, only a script of its kind'
fi
finish 'oshcc as CC of configure scripts'
