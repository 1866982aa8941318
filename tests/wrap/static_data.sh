#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: static data is symmetric however the program is linked: at any
# address or a fixed one, with the shared library or the archive, whichever
# linker did it; and it stays private where SHMEM_STATIC_DATA says so.
set -u
. "$(dirname "$0")/wrap.inc"
[ -z "$sanitizer" ] || skip 'a sanitizer wants a program at any address'

# linked WORDS...: the program built with these words passes.
linked()
{
    rm -f program
    works "oshcc $*" "$bin/oshcc" -g "$@" "$SRC/tests/pe/static_data.c" \
        -o program || return
    works "run of oshcc $*" "$bin/oshrun" -n 2 ./program
}

# kind TYPE: of the last program, as its ELF header says.
kind()
{
    readelf -h program | grep -q "^ *Type: *$1 " ||
        fail "not $1: $(readelf -h program | grep Type:)"
}

linked -pie -fPIE && kind DYN
linked -no-pie -fno-pie && kind EXEC
linked -static-shmem -pie -fPIE && kind DYN
linked -static-shmem -no-pie -fno-pie && kind EXEC
! ldd program | grep -q libshmem || fail '-static-shmem is shared'
works 'one PE' ./program
linked -no-pie -fno-pie -Wl,-z,norelro -Wl,--build-id=none
for linker in gold lld; do
    ! have "ld.$linker" || linked "-fuse-ld=$linker"
done
! have clang || OSH_CC=clang linked -O2

# Private: a peer's store to it is refused by name, the PE's own are fine.
cat >private.c <<'END'
#include <shmem.h>
#include <stdio.h>
static long data = 5;
int main(int argc, char **argv)
{
    long *heap;

    shmem_init();
    heap = shmem_calloc(1, sizeof *heap);
    data++;
    shmem_long_p(argc > 1 ? &data : heap, argc + argv[0][0], 0);
    shmem_barrier_all();
    printf("%ld %d\n", data, shmem_addr_accessible(&data, 0));
    shmem_finalize();
    return 0;
}
END
if works private "$bin/oshcc" private.c -o private; then
    works SHMEM_STATIC_DATA=0 "$bin/oshrun" -n 2 -x SHMEM_STATIC_DATA=0 \
        ./private
    [ "$(sort -u "$out")" = '6 0' ] || fail "SHMEM_STATIC_DATA=0: $(cat "$out")"
    try "$bin/oshrun" -n 2 -x SHMEM_STATIC_DATA=0 ./private put
    [ $status -eq 1 ] || fail "a put to private data: status $status"
    grep -q 'shmem_long_p: dest 0x[0-9a-f]* is static data of the main program, which is private .*\[S-E-ADDR\]' \
        "$err" || fail "a put to private data: $(cat "$err")"
fi
# The child sees the data of the moment of the fork, though the parent goes on
# and a handler of the program comes before those of the library.
cat >child.c <<'END'
#include <pthread.h>
#include <shmem.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long data;
static void late(void)
{
    usleep(20000);
}
__attribute__((constructor(101))) static void watch(void)
{
    pthread_atfork(NULL, NULL, late);
}
int main(void)
{
    int status = 0;
    pid_t child;

    shmem_init();
    data = 1;
    child = fork();
    if (child == 0)
        _exit(data == 1 ? 0 : 1);
    data = 2;
    waitpid(child, &status, 0);
    shmem_finalize();
    return status != 0;
}
END
for how in '' -static-shmem; do
    # shellcheck disable=SC2086
    works "a child, $how" "$bin/oshcc" $how -pthread child.c -o child &&
        works "a child, $how" "$bin/oshrun" -n 2 ./child
done
finish 'static data of programs linked in every way'
