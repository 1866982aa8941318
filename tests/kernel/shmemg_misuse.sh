#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a call of shmemg.h without a state, before kernels may communicate
# or after shmem_finalize, and one on a handle that is no context of kernels, end
# the job with one line that has the call.
# Light: short jobs, which end early
# Timeout: 30
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
export SHMEM_DEVICE=software

program bad <<'C'
#include <shmemg.h>
static long a[8];
static uint64_t sig;

static void call(const char *word, int me, int n)
{
    shmem_ctx_t of_host = SHMEM_CTX_INVALID, gone = SHMEM_CTX_INVALID;

    if (strncmp(word, "empty", 5)) {
        shmem_ctx_create(0, &of_host);
        shmem_ctx_create(SHMEM_DEVICE_CTX, &gone);
        shmem_ctx_destroy(gone);
    }
    if (me != n - 1 && strcmp(word, "fits"))
        shmem_barrier_all();
    if (!strcmp(word, "fits")) {
        shmemg_ctx_putmem(SHMEM_DEVICE_CTX_DEFAULT, a, a + 1, 8, 0);
        shmemg_ctx_quiet(SHMEM_CTX_INVALID);
        return;
    }
    CASE(empty_my_pe) shmemg_my_pe();
    CASE(empty_n_pes) shmemg_n_pes();
    CASE(empty_ptr) shmemg_ptr(a, 0);
    CASE(empty_quiet) shmemg_quiet_tg();
    CASE(empty_ctx) shmemg_ctx_long_p(of_host, a, 1, 0);
    CASE(empty_put) shmemg_putmem(a, a + 1, 8, 0);
    CASE(of_host) shmemg_ctx_putmem_htg(of_host, a, a + 1, 8, 0);
    CASE(of_default) shmemg_ctx_long_atomic_inc(SHMEM_CTX_DEFAULT, a, 0);
    CASE(invalid) shmemg_ctx_long_g(SHMEM_CTX_INVALID, a, 0);
    CASE(gone) shmemg_ctx_fence(gone);
    CASE(gone_signal) shmemg_ctx_putmem_signal_nbi(
        gone, a, a + 1, 8, &sig, 1, SHMEM_SIGNAL_SET, 0);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    int got = 0;

    (void)argc;
    if (!strncmp(word, "empty", 5))
        shmem_init();
    else
        shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_KERNEL_INIT,
                          &got);
    if (!strcmp(word, "late")) {
        shmem_finalize();
        shmemg_sync_all();
    }
    call(word, shmem_my_pe(), shmem_n_pes());
    if (strcmp(word, "fits"))
        printf("went on\n");
    shmem_finalize();
    return 0;
}
C
works fits

# empty WORD CALL
empty()
{
    refused "empty_$1" "shmemg_$2: kernels have no state: it takes a device and SHMEM_DEVICE_KERNEL_INIT \\[S-E-STATE\\]"
}
empty my_pe my_pe
empty n_pes n_pes
empty ptr ptr
empty quiet quiet_tg
empty ctx ctx_long_p
refused empty_put 'shmemx_dev_put: the state is empty: shmemx_dev_get\(\) fills it \[S-E-STATE\]'

# no_context WORD CALL
no_context()
{
    refused "$1" "shmemg_ctx_$2: no context of kernels has this handle: it takes one made with SHMEM_DEVICE_CTX \\[S-E-[A-Z]*\\]"
}
no_context of_host putmem_htg
no_context of_default long_atomic_inc
no_context invalid long_g
no_context gone fence
no_context gone_signal putmem_signal_nbi

try 1 ./bad late
[ $status -ne 0 ] && grep -q 'shmemx_dev_sync: the state is empty' "$err" ||
    fail "after shmem_finalize: status $status: $(head -n 3 "$err")"
finish 'calls of shmemg.h want a state and a context'
