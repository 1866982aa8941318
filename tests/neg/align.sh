#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an atomic, a signal, a lock or a waited-for variable that is
# not aligned to its size is refused; puts and gets of bytes may be anywhere.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    static struct {
        _Alignas(64) char pad[60];
        char odd[68];           /* an 8-byte word here crosses a cache line */
    } line;
    long *l = (long *)(uintptr_t)line.odd;
    int *i = (int *)(uintptr_t)(line.odd + 2);
    uint64_t *u = (uint64_t *)(uintptr_t)line.odd;

    if (!strcmp(word, "bytes")) {
        shmem_putmem(line.odd + 1, b, 8, other);
        shmem_getmem((char *)b + 1, line.odd + 3, 17, other);
        shmem_int_atomic_inc((int *)(uintptr_t)line.odd, other);
        shmem_finalize();
        return 0;
    }
    ALONE
    CASE(fetch_add) shmem_long_atomic_fetch_add(l, 1, other);
    CASE(int_inc) shmem_int_atomic_inc(i, other);
    CASE(swap) shmem_double_atomic_swap((double *)l, 1, other);
    CASE(fetch) shmem_long_atomic_fetch(l, other);
    CASE(set) shmem_float_atomic_set((float *)i, 1, other);
    CASE(cswap) shmem_long_atomic_compare_swap(l, 0, 1, other);
    CASE(or_nbi) shmem_ulong_atomic_fetch_or_nbi((unsigned long *)b,
                                                 (unsigned long *)l, 1, other);
    CASE(put_signal) shmem_putmem_signal(line.odd, b, 8, u, 1, SHMEM_SIGNAL_SET,
                                         other);
    CASE(signal_add) shmem_signal_add(u, 1, other);
    CASE(signal_fetch) shmem_signal_fetch(u);
    CASE(signal_wait) shmem_signal_wait_until(u, SHMEM_CMP_EQ, 0);
    CASE(lock) shmem_set_lock(l);
    CASE(lock_test) shmem_test_lock(l);
    CASE(wait) shmem_long_wait_until(l, SHMEM_CMP_EQ, 0);
    CASE(test) shmem_int_test(i, SHMEM_CMP_EQ, 0);
    CASE(wait_some) shmem_long_wait_until_some(l, 2, at, NULL, SHMEM_CMP_EQ, 0);
    CASE(test_all) shmem_int_test_all(i, 2, NULL, SHMEM_CMP_EQ, 0);
C

# odd WORD CALL SIZE
odd()
{
    alone "$1" "$2: 0x[0-9a-f]+ is not aligned to the $3 bytes of its type \\[S-E-ALIGN\\]"
}

odd fetch_add shmem_long_atomic_fetch_add 8
odd int_inc shmem_int_atomic_inc 4
odd swap shmem_double_atomic_swap 8
odd fetch shmem_long_atomic_fetch 8
odd set shmem_float_atomic_set 4
odd cswap shmem_long_atomic_compare_swap 8
odd or_nbi shmem_ulong_atomic_fetch_or_nbi 8
odd put_signal shmem_putmem_signal 8
odd signal_add shmem_signal_add 8
odd signal_fetch shmem_signal_fetch 8
odd signal_wait shmem_signal_wait_until 8
odd lock shmem_set_lock 8
odd lock_test shmem_test_lock 8
odd wait shmem_long_wait_until 8
odd test shmem_int_test 4
odd wait_some shmem_long_wait_until_some 8
odd test_all shmem_int_test_all 4
refused fetch_add 'shmem_long_atomic_fetch_add: 0x[0-9a-f]+ is not aligned to the 8 bytes of its type \[S-E-ALIGN\]'
works bytes
finish 'misaligned atomics'
