#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a null pointer with a length is refused with the call, the
# argument and the number of bytes; with length 0 it is not looked at.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    if (!strcmp(word, "no_length")) {
        shmem_putmem(NULL, NULL, 0, other);
        shmem_long_get_nbi(NULL, NULL, 0, other);
        shmem_long_iput(NULL, NULL, 1, 1, 0, other);
        shmem_long_ibget(NULL, NULL, 1, 1, 1, 0, other);
        shmem_putmem_signal(NULL, NULL, 0, &sig, 1, SHMEM_SIGNAL_ADD, other);
        shmem_long_wait_until_all(NULL, 0, NULL, SHMEM_CMP_EQ, 1);
        shmem_long_wait_until_some_vector(NULL, 0, NULL, NULL, SHMEM_CMP_EQ, NULL);
        shmem_pe_quiet(NULL, 0);
        shmem_free(NULL);
        shmem_finalize();
        return 0;
    }
    ALONE
    CASE(put_to) shmem_putmem(NULL, b, 24, other);
    CASE(put_from) shmem_putmem(a, NULL, 24, other);
    CASE(put_from_8) shmem_long_put(a, NULL, 1, other);
    CASE(put_nbi) shmem_long_put_nbi(a, NULL, 3, other);
    CASE(get_to) shmem_getmem(NULL, a, 24, other);
    CASE(get_from) shmem_long_get(b, NULL, 3, other);
    CASE(p) shmem_long_p(NULL, 1, other);
    CASE(g) shmem_long_g(NULL, other);
    CASE(iput_from) shmem_long_iput(a, NULL, 2, 1, 2, other);
    CASE(iget_from) shmem_long_iget(b, NULL, 1, 2, 2, other);
    CASE(ibget_to) shmem_long_ibget(NULL, a, 2, 2, 2, 1, other);
    CASE(signal) shmem_putmem_signal(a, b, 8, NULL, 1, SHMEM_SIGNAL_SET, other);
    CASE(signal_from) shmem_putmem_signal(a, NULL, 24, &sig, 1,
                                          SHMEM_SIGNAL_SET, other);
    CASE(signal_set) shmem_signal_set(NULL, 1, other);
    CASE(signal_fetch) shmem_signal_fetch(NULL);
    CASE(signal_wait) shmem_signal_wait_until(NULL, SHMEM_CMP_EQ, 1);
    CASE(inc) shmem_long_atomic_inc(NULL, other);
    CASE(fetch) shmem_long_atomic_fetch(NULL, other);
    CASE(fetch_nbi) shmem_long_atomic_fetch_nbi(NULL, a, other);
    CASE(add_nbi) shmem_long_atomic_fetch_add_nbi(NULL, a, 1, other);
    CASE(cswap_nbi) shmem_int_atomic_compare_swap_nbi(NULL, (int *)a, 0, 1, other);
    CASE(wait) shmem_long_wait_until(NULL, SHMEM_CMP_EQ, 1);
    CASE(test) shmem_int_test(NULL, SHMEM_CMP_EQ, 1);
    CASE(wait_all) shmem_long_wait_until_all(NULL, 3, NULL, SHMEM_CMP_EQ, 1);
    CASE(wait_some) shmem_long_wait_until_some(a, 3, NULL, NULL, SHMEM_CMP_EQ, 0);
    CASE(test_some) shmem_long_test_some(a, 3, NULL, NULL, SHMEM_CMP_EQ, 0);
    CASE(test_vector) shmem_long_test_all_vector(a, 3, NULL, SHMEM_CMP_EQ, NULL);
    CASE(some_vector) shmem_long_test_some_vector(a, 3, at, NULL, SHMEM_CMP_EQ,
                                                  NULL);
    CASE(lock) shmem_set_lock(NULL);
    CASE(pe_quiet) shmem_pe_quiet(NULL, 3);
C

# null WORD CALL ARGUMENT BYTES
null()
{
    alone "$1" "$2: $3 is a null pointer, with $4 bytes \\[S-E-NULL\\]"
}

null put_to shmem_putmem dest 24
null put_from shmem_putmem source 24
null put_from_8 shmem_long_put source 8
null put_nbi shmem_long_put_nbi source 24
null get_to shmem_getmem dest 24
null get_from shmem_long_get source 24
null p shmem_long_p dest 8
null g shmem_long_g source 8
null iput_from shmem_long_iput source 16
null iget_from shmem_long_iget source 24
null ibget_to shmem_long_ibget dest 16
null signal shmem_putmem_signal sig_addr 8
null signal_from shmem_putmem_signal source 24
null signal_set shmem_signal_set sig_addr 8
null signal_fetch shmem_signal_fetch sig_addr 8
null signal_wait shmem_signal_wait_until sig_addr 8
null inc shmem_long_atomic_inc dest 8
null fetch shmem_long_atomic_fetch source 8
null fetch_nbi shmem_long_atomic_fetch_nbi fetch 8
null add_nbi shmem_long_atomic_fetch_add_nbi fetch 8
null cswap_nbi shmem_int_atomic_compare_swap_nbi fetch 4
null wait shmem_long_wait_until ivar 8
null test shmem_int_test ivar 4
null wait_all shmem_long_wait_until_all ivars 24
null wait_some shmem_long_wait_until_some indices 24
null test_some shmem_long_test_some indices 24
null test_vector shmem_long_test_all_vector cmp_values 24
null some_vector shmem_long_test_some_vector cmp_values 24
null lock shmem_set_lock lock 8
refused put_to 'shmem_putmem: dest is a null pointer, with 24 bytes \[S-E-NULL\]'
refused pe_quiet 'shmem_pe_quiet: no list of PEs, but 3 PEs \[S-E-NULL\]'
works no_length
finish 'null pointers'
