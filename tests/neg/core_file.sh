#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE that dies while the system writes its core file is reported
# by its signal, and the core has the heap's blocks, but not the rest of it.
set -u
. "$(dirname "$0")/neg.inc"

sanitized && skip 'a sanitizer catches the signal'
case $(cat /proc/sys/kernel/core_pattern) in
    core | core.%p | core.%e.%p) ;;
    *) skip "cores go to $(cat /proc/sys/kernel/core_pattern)" ;;
esac
# shellcheck disable=SC3045  # dash has it
ulimit -S -c "$(ulimit -H -c)" && [ "$(ulimit -c)" != 0 ] || skip 'the limit of core files is 0'
program bad <<'C'
int main(void)
{
    char *first, *last;
    volatile int *none = NULL;

    shmem_init();
    first = shmem_malloc(40u << 20);
    last = shmem_malloc(100);
    memset(first, 7, 40u << 20);
    last = shmem_realloc(last, 100u << 20);     /* where it is */
    last += (100u << 20) - 20;
    strcpy(last, "behind them");
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        *none = *last;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C
unset SHMEM_SYMMETRIC_SIZE SHMEM_CHECK SHMEM_BACKTRACE
try 3 ./bad
[ $status -eq 139 ] || fail "exit status $status: $(cat "$err")"
grep -q '^oshrun: PE 1 (.* was killed by signal 11 (Segmentation fault, core dumped); ending the other 2 PEs.*\[S-E-PEDIED\]$' "$err" ||
    fail "$(cat "$err")"
size=$(stat -c %s core core.* 2>/dev/null | sort -n | tail -n 1)
[ "${size:-0}" -gt 41943040 ] && [ "$size" -lt 419430400 ] ||
    fail "a core of ${size:-no} bytes"
grep -q 'behind them' core core.* 2>/dev/null || fail 'the core has not the heap'
rm -f core core.*
finish "a core of $size bytes"
