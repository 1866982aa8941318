#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a count whose bytes exceed the address space is refused, and
# never wraps to a small one; strides below their block are refused too.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    /* Each times its element is 8 bytes, less 2^64. */
    const size_t n8 = SIZE_MAX / 8 + 2, n4 = SIZE_MAX / 4 + 3,
                 n16 = SIZE_MAX / 16 + 2;
    const ptrdiff_t far = PTRDIFF_MAX;

    ALONE
    CASE(put) shmem_long_put(a, b, n8, other);
    CASE(put_zero) shmem_long_put(a, b, n8 - 1, other);
    CASE(get) shmem_long_get(b, a, n8, other);
    CASE(put_nbi) shmem_int_put_nbi((int *)a, (int *)b, n4, other);
    CASE(get32) shmem_get32(b, a, n4, other);
    CASE(put128) shmem_put128(a, b, n16, other);
    CASE(signal) shmem_long_put_signal(a, b, n8, &sig, 1, SHMEM_SIGNAL_SET,
                                       other);
    CASE(iput) shmem_long_iput(a, b, far / 4, 1, 9, other);
    CASE(iput_stride) shmem_long_iput(a, b, far, 1, 2, other);
    CASE(iget_stride) shmem_long_iget(b, a, 1, far, 2, other);
    CASE(iput_count) shmem_long_iput(a, b, 1, 1, n8, other);
    CASE(ibput_block) shmem_long_ibput(a, b, far, far, n8, 1, other);
    CASE(ibget_count) shmem_long_ibget(b, a, 2, 2, 1, n8, other);
    CASE(wait_all) shmem_long_wait_until_all(a, n8, NULL, SHMEM_CMP_EQ, 1);
    CASE(wait_any) shmem_int_wait_until_any((int *)a, n4, NULL, SHMEM_CMP_EQ, 1);
    CASE(test_some) shmem_long_test_some(a, n8, at, NULL, SHMEM_CMP_EQ, 1);
    CASE(whole) shmem_putmem(a, b, SIZE_MAX, other);
    CASE(negative) shmem_getmem(b, a, (size_t)-8, other);
    CASE(iput_low) shmem_long_iput(a, b, 0, 1, 2, other);
    CASE(iget_below) shmem_long_iget(b, a, 1, -1, 2, other);
    CASE(ibput_low) shmem_long_ibput(a, b, 2, 3, 3, 2, other);
C

# elements N SIZE
elements() { echo "$1 elements of $2 bytes exceed the address space \\[S-E-SIZE\\]"; }
eighth=2305843009213693953 fourth=4611686018427387906

refused put "shmem_long_put: $(elements $eighth 8)"
alone put_zero "shmem_long_put: $(elements 2305843009213693952 8)"
alone get "shmem_long_get: $(elements $eighth 8)"
alone put_nbi "shmem_int_put_nbi: $(elements $fourth 4)"
alone get32 "shmem_get32: $(elements $fourth 4)"
alone put128 "shmem_put128: $(elements 1152921504606846977 16)"
alone signal "shmem_long_put_signal: $(elements $eighth 8)"
alone iput 'shmem_long_iput: strides [0-9]+ and 1 of 8-byte elements exceed the address space \[S-E-SIZE\]'
alone iput_stride 'shmem_long_iput: strides [0-9]+ and 1 of 8-byte elements exceed the address space \[S-E-SIZE\]'
alone iget_stride 'shmem_long_iget: strides 1 and [0-9]+ of 8-byte elements exceed the address space \[S-E-SIZE\]'
alone iput_count 'shmem_long_iput: 2305843009213693953 blocks, 8 bytes apart, exceed the address space \[S-E-SIZE\]'
alone ibput_block 'shmem_long_ibput: strides [0-9]+ and [0-9]+ of 8-byte elements exceed the address space \[S-E-SIZE\]'
alone ibget_count 'shmem_long_ibget: 2305843009213693953 blocks, 16 bytes apart, exceed the address space \[S-E-SIZE\]'
alone wait_all "shmem_long_wait_until_all: $(elements $eighth 8)"
alone wait_any "shmem_int_wait_until_any: $(elements $fourth 4)"
alone test_some "shmem_long_test_some: $(elements $eighth 8)"
alone whole 'shmem_putmem: 18446744073709551615 bytes at dest 0x[0-9a-f]+ run past the end of the symmetric segment \[S-E-ADDR\]'
alone negative 'shmem_getmem: 18446744073709551608 bytes at source 0x[0-9a-f]+ run past the end of the symmetric segment \[S-E-ADDR\]'
alone iput_low 'shmem_long_iput: strides 0 and 1 are below the block of 1 elements \[S-E-ARG\]'
alone iget_below 'shmem_long_iget: strides 1 and -1 are below the block of 1 elements \[S-E-ARG\]'
alone ibput_low 'shmem_long_ibput: strides 2 and 3 are below the block of 3 elements \[S-E-ARG\]'
finish 'sizes beyond the address space'
