#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: --debug runs all PEs or one under gdb or valgrind: a crash gives
# a backtrace of its PE, a typed command reaches gdb, the exit status is the
# program's, and a PE that is stopped is not taken for lost.
# Timeout: 120
set -u
. "$(dirname "$0")/oshrun.inc"
command -v gdb >/dev/null && command -v valgrind >/dev/null ||
    skip 'no gdb or no valgrind'
case $("$BUILD/bin/oshcc" --showme:compile) in
    *-fsanitize*) skip 'a sanitizer has its own reports' ;;
esac
cd "$dir" || exit 1
cat >bad.c <<'C'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void store(int *p)
{
    *p = 1;
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    char *lost = malloc(100);

    shmem_init();
    if (!strcmp(how, "crash") && shmem_my_pe() == 1)
        store((int *)8);
    if (!strcmp(how, "read") && lost[99])
        printf("chance\n");
    if (!strcmp(how, "limits"))
        printf("limits %s %s\n", getenv("SHMEM_TIMEOUT"), getenv("SHMEM_STALL"));
    free(lost);
    printf("PE %d\n", shmem_my_pe());
    shmem_barrier_all();
    shmem_finalize();
    return !strcmp(how, "status") ? 7 : 0;
}
C
oshcc -g -O1 -w bad.c -o bad || exit 1

try -n 2 --debug gdb ./bad 'an argument' well
expect 0 'gdb, all right'
for pe in 0 1; do
    grep -qx "\[$pe\] PE $pe" "$out" || fail "gdb, all right: $(cat "$out")"
done
try -n 2 --debug gdb ./bad status
expect 7 'gdb, status'
try -n 2 --debug gdb ./bad crash
grep -m 1 "Thread .*LWP" "$out" | grep -q "Thread 1 " || fail "not thread 1 first: $(cat "$out")"
[ $status -ne 0 ] || fail 'gdb, crash: status 0'
grep -q '^\[1\] #0 .*store (p=' "$out" && grep -q '^\[1\] #1 .*main ' "$out" ||
    fail "gdb, crash: $(cat "$out" "$err")"

# A PE that a debugger stops is not lost; the user's own values stay.
limits() # TIMEOUT STALL [VAR=VALUE...]
{
    want="limits $1 $2"
    shift 2
    timeout 60 env -u SHMEM_TIMEOUT -u SHMEM_STALL "$@" "$BUILD/bin/oshrun" \
        -n 1 --debug gdb ./bad limits >"$out" 2>"$err" </dev/null
    grep -q "$want\$" "$out" || fail "want $want: $(cat "$out" "$err")"
}
limits 0 0
limits 7 8 SHMEM_TIMEOUT=7 SHMEM_STALL=8

# One PE, with the user's commands.
(
    printf 'break store\nrun\n'
    sleep 2
    printf 'print 40 + 2\nbacktrace\nkill\nquit\n'
) | timeout 60 oshrun -n 2 --debug gdb:1 ./bad crash >"$out" 2>"$err"
grep -q '= 42$' "$out" && grep -q '#1 .*main ' "$out" ||
    fail "gdb:1: $(cat "$out" "$err")"
grep -q 'S-E-NET\|S-W-STALL' "$err" && fail "gdb:1: $(cat "$err")"

try -n 2 --debug valgrind:1 ./bad read
expect 0 'valgrind'
grep -q '^==[0-9]*== Conditional jump' "$err" && grep -q 'main (bad.c:' "$err" ||
    fail "valgrind: $(cat "$err")"
[ "$(grep -c '== Command: ' "$err")" -eq 1 ] || fail 'valgrind: not one PE'
timeout 20 env PATH=/nowhere "$BUILD/bin/oshrun" -n 1 --debug gdb ./bad well \
    >"$out" 2>"$err"
status=$?
[ $status -eq 127 ] && grep -q -- '--debug gdb: gdb: No such file' "$err" ||
    fail "no gdb: $status: $(cat "$err")"
finish 'PEs under gdb and valgrind'
