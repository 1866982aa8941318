#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: operators and comparisons that are none, contexts that are not
# valid and locks used against their rules are refused by what is wrong.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    static long lock;
    shmem_ctx_t none = SHMEM_CTX_INVALID;

    if (!strcmp(word, "good")) {
        shmem_ctx_quiet(none);
        shmem_ctx_fence(none);
        shmem_ctx_destroy(none);
        for (int i = 0; i < 3; i++) {
            shmem_set_lock(&lock);
            shmem_clear_lock(&lock);
        }
        shmem_finalize();
        return 0;
    }
    ALONE
    CASE(sig_op) shmem_putmem_signal(a, b, 8, &sig, 1, 99, 0);
    CASE(sig_op_nbi) shmem_long_put_signal_nbi(a, b, 1, &sig, 1, -1, 0);
    CASE(cmp) shmem_long_wait_until(a, 99, 0);
    CASE(cmp_test) shmem_int_test((int *)a, -1, 0);
    CASE(cmp_some) shmem_long_test_any(a, 2, NULL, 6000, 0);
    CASE(cmp_signal) shmem_signal_wait_until(&sig, 99, 0);
    CASE(ctx_put) shmem_ctx_putmem(none, a, b, 8, 0);
    CASE(ctx_g) shmem_ctx_long_g(none, a, 0);
    CASE(ctx_inc) shmem_ctx_long_atomic_inc(none, a, 0);
    CASE(clear) shmem_clear_lock(&lock);
    CASE(clear_twice) {
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
        shmem_clear_lock(&lock);
    }
    CASE(set_twice) {
        shmem_set_lock(&lock);
        shmem_set_lock(&lock);
    }
    CASE(clear_failed) {
        shmem_set_lock(&lock);
        if (!shmem_test_lock(&lock + 0))
            printf("got it twice\n");
        shmem_clear_lock(&lock);
        shmem_clear_lock(&lock);
    }
C

cmp='comparison -?[0-9]+ is none of SHMEM_CMP_EQ, NE, GT, GE, LT, LE \[S-E-ARG\]'
invalid='the context is SHMEM_CTX_INVALID \[S-E-CTX\]'
held='this PE does not hold the lock at static data\+0x[0-9a-f]+ \[S-E-LOCK\]'

refused sig_op 'shmem_putmem_signal: signal operator 99 is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD \[S-E-ARG\]'
alone sig_op_nbi 'shmem_long_put_signal_nbi: signal operator -1 is neither .* \[S-E-ARG\]'
refused cmp "shmem_long_wait_until: $cmp"
alone cmp_test "shmem_int_test: $cmp"
alone cmp_some "shmem_long_test_any: $cmp"
alone cmp_signal "shmem_signal_wait_until: $cmp"
refused ctx_put "shmem_ctx_putmem: $invalid"
alone ctx_g "shmem_ctx_long_g: $invalid"
alone ctx_inc "shmem_ctx_long_atomic_inc: $invalid"
refused clear "shmem_clear_lock: $held"
alone clear_twice "shmem_clear_lock: $held"
alone clear_failed "shmem_clear_lock: $held"
refused set_twice 'shmem_set_lock: this PE already holds or waits for the lock at static data\+0x[0-9a-f]+ \[S-E-LOCK\]'
works good
finish 'operators, contexts and locks'
