#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what the standard does not give to the names without a type
# compiles with shmemx.h and not with shmem.h alone, in C11 and in C++.
# Timeout: 60
set -u
: "${SRC:?the source directory}"
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# source HEADER: the statements of standard input, one a line, as t.$kind; the
# first is on line 4.
source_of()
{
    {
        echo "#include <$1>"
        echo 'void f(unsigned *u, short *s, unsigned short *us, double *d,' \
            'int *i, const int *zeros, unsigned long *p) {'
        echo '(void)u, (void)s, (void)us, (void)d, (void)i, (void)zeros,' \
            '(void)p;'
        sed 's/$/;/'
        echo '}'
    } >t.$kind
    # shellcheck disable=SC2086  # words
    $compiler -Wall -Wextra -Werror -fsyntax-only -I"$SRC/include" t.$kind \
        >log 2>&1
}

# accepted HEADER FILE: each statement.
accepted()
{
    source_of "$1" <"$2" || fail "$compiler, $1: $(head -n 4 log)"
}

# refused HEADER FILE: each statement, by an error in its line.
refused()
{
    source_of "$1" <"$2" && fail "$compiler, $1: all of $2 compiles"
    at=3
    while read -r statement; do
        at=$((at + 1))
        grep -q "^t\.$kind:$at:.*error:" log ||
            fail "$compiler, $1: no error in $statement"
    done <"$2"
}

cat >amo <<'C'
shmem_add(u, 1u, 0)
(void)shmem_fadd(u, 1u, 0)
shmem_inc(u, 0)
(void)shmem_finc(p, 0)
shmem_set(p, 1ul, 0)
(void)shmem_fetch((const unsigned *)u, 0)
(void)shmem_swap(u, 1u, 0)
(void)shmem_cswap(p, 1ul, 2ul, 0)
C
cat >standard <<'C'
shmem_add(i, 1, 0)
(void)shmem_swap(d, 1., 0)
C
# No atomic of the standard adds these.
echo 'shmem_add(d, 1., 0)' >none
for v in s us; do
    for form in '' _vector; do
        value=${form:+$v}
        value=${value:-1}
        for verb in wait_until test; do
            echo "(void)shmem_${verb}_all$form($v, 1, zeros, 1, $value)"
            echo "(void)shmem_${verb}_any$form($v, 1, zeros, 1, $value)"
            echo "(void)shmem_${verb}_some$form($v, 1, p, zeros, 1, $value)"
        done
    done
done >sets
cat >plain <<'C'
shmem_wait_until(s, SHMEM_CMP_EQ, 1)
(void)shmem_test(us, SHMEM_CMP_EQ, 1)
(void)shmem_test_any(i, 1, zeros, SHMEM_CMP_EQ, 1)
C

for compiler in 'gcc -std=c11 -ftrack-macro-expansion=0' \
    'clang -std=c11 -ferror-limit=0' \
    'g++ -std=c++11' 'clang++ -std=c++11 -ferror-limit=0'; do
    command -v "${compiler%% *}" >/dev/null || continue
    case $compiler in *++*) kind=cpp ;; *) kind=c ;; esac
    accepted shmem.h plain
    accepted shmemx.h plain
    accepted shmemx.h sets
    refused shmem.h sets
    [ $kind = c ] || continue
    accepted shmem.h standard
    accepted shmemx.h standard
    accepted shmemx.h amo
    refused shmem.h amo
    refused shmem.h none
    refused shmemx.h none
done
exit $failed
