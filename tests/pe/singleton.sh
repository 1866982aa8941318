#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a program started by itself, without a launcher, is a job of
# one PE in which all families of calls work, and its status is its own.
# Timeout: 180
set -u
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
failures=0 ran=0

fail()
{
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# value KEY FILE: of the test's opening comment.
value()
{
    sed -n "1,/\\*\\//s/^ \\* $1: *//p" "$2" | sed 's/ *\*\/ *$//'
}

# Each test that one PE can pass, as oshrun would start it but without it.
alone()
{
    # shellcheck disable=SC2046  # words of an environment
    env $(value Env "$1") timeout -k 5 60 "$2" >out 2>&1 </dev/null
    status=$?
    ran=$((ran + 1))
    [ $status -eq 0 ] || [ $status -eq 77 ] ||
        fail "$2: status $status: $(tail -n 5 out)"
}

for source in "$SRC"/tests/pe/*.c "$SRC"/tests/coll/*.c; do
    name=${source#"$SRC/"}
    case $(value PEs "$source") in
        1 | '1 '*) alone "$source" "$BUILD/obj/${name%.c}" ;;
    esac
done
[ $ran -ge 20 ] || fail "only $ran tests can run on one PE"

cat >end.c <<'C'
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static long count;

int main(int argc, char **argv)
{
    shmem_init();
    if (shmem_my_pe() != 0 || shmem_n_pes() != 1)
        return 90;
    shmem_long_atomic_add(&count, 1, 0);
    shmem_barrier_all();
    if (count != 1 || argc != 2)
        return 91;
    if (!strcmp(argv[1], "global_exit"))
        shmem_global_exit(6);
    if (!strcmp(argv[1], "exit"))
        exit(7);
    shmem_finalize();
    return strcmp(argv[1], "return") ? 8 : 0;
}
C
"$BUILD/bin/oshcc" -O1 -Wall end.c -o end >out 2>&1 ||
    { cat out >&2; exit 1; }

# ends STATUS WORD
ends()
{
    timeout -k 5 60 ./end "$2" >out 2>&1 </dev/null
    status=$?
    [ $status -eq "$1" ] || fail "$2: status $status, not $1: $(cat out)"
}
ends 0 return
ends 8 other
ends 7 exit
ends 6 global_exit
[ $failures -eq 0 ] && echo "ok: $ran tests on one PE without a launcher"
[ $failures -eq 0 ]
