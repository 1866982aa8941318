#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every family of calls refuses a PE outside its team, and names
# the call, the PE and the range; the calls that may ask about any PE do not.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    shmem_ctx_t ctx;
    int list[2] = { 0, n };

    shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx);
    if (!strcmp(word, "may_ask")) {
        for (int pe = -1; pe <= n; pe += n + 1)
            if (shmem_ptr(a, pe) || shmem_pe_accessible(pe) ||
                shmem_addr_accessible(a, pe))
                printf("PE %d is accessible\n", pe);
        shmem_finalize();
        return 0;
    }
    if (!strncmp(word, "printed", 7)) {
        printf("so far");       /* into a file: not written yet */
        if (!strcmp(word, "printed_locked"))
            flockfile(stdout);
        shmem_long_p(a, 1, n);
    }
    ALONE
    CASE(putmem) shmem_putmem(a, b, 8, n);
    CASE(putmem_below) shmem_putmem(a, b, 8, -1);
    CASE(putmem_far) shmem_putmem(a, b, 8, 2147483647);
    CASE(putmem_least) shmem_putmem(a, b, 8, -2147483647 - 1);
    CASE(putmem_nothing) shmem_putmem(a, b, 0, n);
    CASE(put) shmem_long_put(a, b, 3, n);
    CASE(put_nbi) shmem_long_put_nbi(a, b, 3, n);
    CASE(put32) shmem_put32(a, b, 3, n);
    CASE(ctx_put) shmem_ctx_long_put(ctx, a, b, 1, n);
    CASE(p) shmem_long_p(a, 1, n);
    CASE(getmem) shmem_getmem(b, a, 8, n);
    CASE(get_nbi) shmem_long_get_nbi(b, a, 1, -1);
    CASE(g) shmem_long_g(a, n);
    CASE(ctx_g) shmem_ctx_double_g(ctx, (double *)a, n);
    CASE(iput) shmem_long_iput(a, b, 2, 1, 2, n);
    CASE(iget) shmem_long_iget(b, a, 2, 1, 2, n);
    CASE(ibput) shmem_long_ibput(a, b, 2, 2, 1, 2, n);
    CASE(ibget) shmem_long_ibget(b, a, 2, 2, 1, 2, n);
    CASE(put_signal) shmem_putmem_signal(a, b, 8, &sig, 1, SHMEM_SIGNAL_SET, n);
    CASE(signal_only) shmem_putmem_signal(a, b, 0, &sig, 1, SHMEM_SIGNAL_ADD, n);
    CASE(signal_add) shmem_signal_add(&sig, 1, n);
    CASE(signal_set) shmem_signal_set(&sig, 1, -1);
    CASE(fetch_add) shmem_long_atomic_fetch_add(a, 1, n);
    CASE(inc) shmem_int_atomic_inc((int *)a, n);
    CASE(cswap) shmem_long_atomic_compare_swap(a, 0, 1, -1);
    CASE(fetch) shmem_double_atomic_fetch((double *)a, n);
    CASE(set) shmem_float_atomic_set((float *)a, 1, n);
    CASE(swap_nbi) shmem_long_atomic_swap_nbi(b, a, 1, n);
    CASE(xor) shmem_ulong_atomic_xor((unsigned long *)a, 1, n);
    CASE(pe_quiet) shmem_pe_quiet(list, 2);
    CASE(fadd) shmem_long_fadd(a, 1, n);
C

# outside WORD CALL [PE]: the PE that is not there, else the number of PEs.
outside()
{
    alone "$1" "$2: PE ${3-1} is outside 0\\.\\.0 \\[S-E-PE\\]"
}

outside putmem shmem_putmem
outside putmem_below shmem_putmem -1
outside putmem_far shmem_putmem 2147483647
outside putmem_least shmem_putmem -2147483648
outside putmem_nothing shmem_putmem
outside put shmem_long_put
outside put_nbi shmem_long_put_nbi
outside put32 shmem_put32
outside ctx_put shmem_ctx_long_put
outside p shmem_long_p
outside getmem shmem_getmem
outside get_nbi shmem_long_get_nbi -1
outside g shmem_long_g
outside ctx_g shmem_ctx_double_g
outside iput shmem_long_iput
outside iget shmem_long_iget
outside ibput shmem_long_ibput
outside ibget shmem_long_ibget
outside put_signal shmem_putmem_signal
outside signal_only shmem_putmem_signal
outside signal_add shmem_signal_add
outside signal_set shmem_signal_set -1
outside fetch_add shmem_long_atomic_fetch_add
outside inc shmem_int_atomic_inc
outside cswap shmem_long_atomic_compare_swap -1
outside fetch shmem_double_atomic_fetch
outside set shmem_float_atomic_set
outside swap_nbi shmem_long_atomic_swap_nbi
outside xor shmem_ulong_atomic_xor
outside pe_quiet shmem_pe_quiet
outside fadd shmem_long_fadd

# One PE of several: it speaks, all end.
try 3 ./bad putmem
ended 1 'PE 2 of 3'
said 'PE 2 of 3' 'sluice: PE 2 \([^ ]+\): shmem_putmem: PE 3 is outside 0\.\.2 \[S-E-PE\]'

# What was printed before is not lost; an error amid a print does not hang.
try 0 ./bad printed
[ "$status $(cat "$out")" = '1 so far' ] || fail "printed: $(cat "$out" "$err")"
try 0 ./bad printed_locked
[ $status -eq 1 ] || fail "printed_locked: status $status: $(cat "$err")"
soon printed_locked

for n in 0 2; do
    try $n ./bad may_ask
    ended 0 'asking about a PE'
    [ ! -s "$err" ] || fail "asking about a PE: $(cat "$err")"
done
finish 'PEs outside 0..n-1'
