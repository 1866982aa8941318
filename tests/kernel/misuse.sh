#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a kernel's call with a wrong PE, address, alignment or state ends
# the job with one line that has the call, and so do a job's wrong settings of
# rings; the host's calls for kernels refuse wrong contexts and grids.
# Light: short jobs, which end early
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
export SHMEM_DEVICE=software

program bad <<'C'
#include <shmemx_dev.h>
#include <shmemx_st.h>
static long a[8];
static uint64_t sig;
static int pe;
static const char *word;

static void kernel(const shmemx_item_t *it, void *arg)
{
    const shmemx_dev_t *d = arg;
    long b[8] = { 0 }, *stack = &b[2], *heap = malloc(64);
    char *odd = (char *)a + 2;
    size_t at[8];

    (void)it;
    (void)at;
    if (!strcmp(word, "fits")) {
        shmemx_dev_putmem(d, a, b, 0, pe);
        shmemx_dev_getmem(d, b, a, 0, pe);
        shmemx_dev_putmem(d, a + 7, b, 8, pe);
        shmemx_dev_long_wait_until_all(d, a, 0, NULL, SHMEM_CMP_EQ, 1);
        shmemx_dev_quiet(d);
        free(heap);
        return;
    }
    CASE(putmem) shmemx_dev_putmem(d, a, b, 8, d->n_pes);
    CASE(putmem_large) shmemx_dev_putmem(d, a, b, 64, -1);
    CASE(putmem_most) shmemx_dev_putmem(d, a, b, 8, 2147483647);
    CASE(get) shmemx_dev_long_get(d, b, a, 1, d->n_pes);
    CASE(get_nbi) shmemx_dev_long_get_nbi(d, b, a, 1, -1);
    CASE(p) shmemx_dev_long_p(d, a, 1, d->n_pes);
    CASE(g) shmemx_dev_long_g(d, a, -2147483647 - 1);
    CASE(iput) shmemx_dev_long_iput(d, a, b, 2, 1, 2, d->n_pes);
    CASE(put_signal) shmemx_dev_putmem_signal(d, a, b, 8, &sig, 1,
                                              SHMEM_SIGNAL_SET, -1);
    CASE(signal) shmemx_dev_signal_set(d, &sig, 1, d->n_pes);
    CASE(inc) shmemx_dev_long_atomic_inc(d, a, -1);
    CASE(fetch) shmemx_dev_double_atomic_fetch(d, (double *)a, d->n_pes);

    CASE(to_stack) shmemx_dev_putmem(d, stack, b, 8, pe);
    CASE(to_heap) shmemx_dev_long_put(d, heap, b, 3, pe);
    CASE(from_stack) shmemx_dev_long_get(d, b, stack, 3, pe);
    CASE(to_nothing) shmemx_dev_long_p(d, NULL, 1, pe);
    CASE(past_end) shmemx_dev_putmem(d, a, b, (size_t)1 << 31, pe);
    CASE(wraps) shmemx_dev_putmem(d, a, b, (size_t)-8, pe);
    CASE(from_null) shmemx_dev_putmem(d, stack, NULL, 64, pe);
    CASE(amo_stack) shmemx_dev_long_atomic_add(d, stack, 1, pe);
    CASE(signal_stack) shmemx_dev_signal_add(d, stack, 1, pe);
    CASE(stride) shmemx_dev_long_iput(d, a, b, 0, 1, 2, pe);
    CASE(amo_odd) shmemx_dev_long_atomic_add(d, (long *)odd, 1, pe);
    CASE(signal_odd) shmemx_dev_signal_set(d, odd, 1, pe);
    CASE(operator) shmemx_dev_putmem_signal(d, a, b, 8, &sig, 1, 77, pe);
    CASE(operator_512) shmemx_dev_signal_op(d, &sig, 1, 512, pe);
    CASE(operator_alone) shmemx_dev_signal_op(d, &sig, 1, 2, pe);
    CASE(wait_stack) shmemx_dev_long_wait_until(d, stack, SHMEM_CMP_EQ, 1);
    CASE(wait_odd) shmemx_dev_long_wait_until_all(d, (long *)odd, 1, NULL,
                                                  SHMEM_CMP_EQ, 1);
    CASE(wait_cmp) shmemx_dev_long_wait_until(d, a, 7, 1);
    CASE(team) shmemx_dev_long_sum_reduce(d, SHMEM_TEAM_WORLD, a, b, 1);
    CASE(team_sync) shmemx_dev_team_sync(d, SHMEM_TEAM_INVALID);
    CASE(root) shmemx_dev_long_broadcast(d, SHMEM_DEVICE_TEAM_WORLD, a, b, 1,
                                         77);
    shmemx_dev_quiet(d);        /* requests are checked by then */
    free(heap);
}

static void no_state(const shmemx_item_t *it, void *arg)
{
    const shmemx_dev_t *d = arg;

    (void)it;
    if (!strcmp(word, "empty_put"))
        shmemx_dev_putmem(d, a, a, 8, 0);
    CASE(empty_n_pes) putchar(pe % shmemx_dev_n_pes(d));
    CASE(empty_inc) shmemx_dev_long_atomic_inc(d, a, 0);
    CASE(empty_quiet) shmemx_dev_quiet(d);
    CASE(empty_fence) shmemx_dev_fence(d);
    CASE(empty_fence_block) shmemx_dev_fence_block(d);
    CASE(empty_quiet_warp) shmemx_dev_quiet_warp(d);
    CASE(empty_barrier) shmemx_dev_barrier_all(d);
    CASE(empty_wait) shmemx_dev_long_wait_until(d, a, SHMEM_CMP_EQ, 1);
    CASE(empty_coll) shmemx_dev_long_sum_reduce(d, SHMEM_DEVICE_TEAM_WORLD, a,
                                                a, 1);
}

/* Calls of the host that refuse; the lines are on standard error. */
static int host(shmemx_dev_t *d)
{
    shmem_ctx_t ctx;

    shmem_ctx_create(0, &ctx);
    if (!strcmp(word, "ctx"))
        return shmemx_dev_get(ctx, d);
    CASE(ctx_default) return shmemx_dev_get(SHMEM_CTX_DEFAULT, d);
    CASE(ctx_invalid) return shmemx_dev_get(SHMEM_CTX_INVALID, d);
    CASE(ctx_wild) return shmemx_dev_get((shmem_ctx_t)64, d);
    CASE(grid) return shmemx_launch_check(100000, 32, 0);
    CASE(grid_none) return shmemx_launch_check(0, 32, 0);
    CASE(grid_fits) return !shmemx_launch_check(3, 1024, 4096);
    return 0;
}

int main(int argc, char **argv)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t s;
    shmemx_dev_t d;
    int me, n;

    (void)argc;
    word = argv[1];
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    pe = (me + 1) % n;
    memset(&d, 0, sizeof d);
    if (!strncmp(word, "empty", 5)) {
        if (me == n - 1)
            no_state(NULL, strcmp(word, "empty_put") || n == 1
                           ? (void *)shmemx_dev_default() : &d);
        shmem_barrier_all();
    }
    if (shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &d))
        return 3;
    if (argc > 2) {
        if (host(&d) == 0)
            printf("was accepted\n");
        shmem_finalize();
        return 0;
    }
    shmemx_stream_create(&s);
    if (me != n - 1 && strcmp(word, "fits"))
        shmem_barrier_all();
    shmemx_stream_launch(s, &grid, kernel, &d);
    shmemx_stream_sync(s);
    if (strcmp(word, "fits"))
        printf("went on\n");
    shmemx_stream_destroy(s);
    shmem_finalize();
    return 0;
}
C

works fits

# outside WORD CALL PE
outside()
{
    refused "$1" "shmemx_dev_$2: PE $3 is outside the context's team, in a kernel of this PE \\[S-E-PE\\]"
}
outside putmem put '[12]'
outside putmem_large put -1
outside putmem_most put 2147483647
outside get get '[12]'
outside get_nbi get -1
outside p p '[12]'
outside g g -2147483648
outside iput iput '[12]'
outside put_signal put_signal -1
outside signal signal '[12]'
outside inc atomic -1
outside fetch atomic '[12]'

# not_symmetric WORD CALL BYTES
not_symmetric()
{
    refused "$1" "shmemx_dev_$2: [^ ]+ with $3 bytes, of a kernel's call for PE 0, is not symmetric \\[S-E-ADDR\\]"
}
not_symmetric to_stack put 8
not_symmetric to_heap put 24
not_symmetric from_stack get 24
refused to_nothing "shmemx_dev_p: the symmetric address is a null pointer, in a kernel's call for PE 0 \\[S-E-NULL\\]"
not_symmetric from_null put 64
not_symmetric past_end put 2147483648
not_symmetric wraps put 18446744073709551608
not_symmetric amo_stack atomic 8
not_symmetric signal_stack signal 8
refused stride "shmemx_dev_iput: .*stride.*"
refused amo_odd "shmemx_dev_atomic: .*align.*"
refused signal_odd "shmemx_dev_signal: .*align.*"
refused operator "shmemx_dev_signal: .*77.*"
refused operator_512 "shmemx_dev_signal: .*255.*"
refused operator_alone "shmemx_dev_signal: .*2.*"

export SHMEM_CHECK=1
not_symmetric wait_stack wait_until 8
refused wait_odd "shmemx_dev_wait_until: .*align.*"
refused wait_cmp "shmemx_dev_wait_until: comparison 7 .*"
refused team "shmemx_dev_collective: 0x[0-9a-f]+ is no team of kernels: .*SHMEM_DEVICE_TEAM_WORLD.* \\[S-E-TEAM\\]"
refused team_sync "shmemx_dev_sync: 0 is no team of kernels: .*\\[S-E-TEAM\\]"
refused root "shmemx_dev_collective: root 77 is outside the team's members, 0\\.\\.[01] \\[S-E-PE\\]"
unset SHMEM_CHECK
# Without it the first is a warning.
warns() # WORD TEXT
{
    try 0 ./bad "$1"
    [ $status -eq 0 ] && grep -qx 'went on' "$out" ||
        fail "$1: exit status $status: $(cat "$out" "$err")"
    said "$1" "sluice: PE 0 \\([^ ]+\\): shmemx_dev_collective: $2; such calls return -1 and do nothing, and only this one is reported \\(SHMEM_CHECK=1 ends the job\\) \\[S-W-[A-Z]+\\]"
}
warns team '0x[0-9a-f]+ is no team of kernels: .*SHMEM_DEVICE_TEAM_WORLD.*'
warns root "root 77 is outside the team's members, 0\\.\\.0"

for word in put n_pes inc:atomic quiet fence fence_block:fence \
    quiet_warp:quiet barrier:sync wait:wait_until \
    coll:collective; do
    refused "empty_${word%:*}" "shmemx_dev_${word#*:}: the state is empty: shmemx_dev_get\\(\\) fills it \\[S-E-STATE\\]"
done

# Collectives, of both PEs: one of them is the first to be refused.
program coll <<'C'
#include <shmemx_dev.h>
enum { N = 3000 };
static long a[2 * N];

int main(int argc, char **argv)
{
    const shmem_team_t world = SHMEM_DEVICE_TEAM_WORLD;
    const char *word = argv[1];
    shmemx_dev_t d;
    long *b;

    (void)argc;
    shmem_init();
    b = malloc(sizeof a);
    if (shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &d))
        return 3;
    if (!strcmp(word, "to"))
        shmemx_dev_long_fcollect(&d, world, b, a, N);
    CASE(from) shmemx_dev_long_sum_reduce(&d, world, a, b, N);
    CASE(whole) shmemx_dev_long_broadcast(&d, world, b, a, N, 1);
    printf("went on\n");
    shmem_finalize();
    return 0;
}
C
# both WORD BYTES [OPTION...]
both()
{
    word=$1 bytes=$2
    shift 2
    try 2 "$@" ./coll "$word"
    [ $status -eq 1 ] && grep -qE "^sluice: PE [01] \\([^ ]+\\): shmemx_dev_collective: [^ ]+ with $bytes bytes, of a kernel's call for PE [01], is not symmetric \\[S-E-ADDR\\]$others\$" "$err" ||
        fail "$word $*: status $status: $(head -n 3 "$err" "$out")"
}
for far in '' '--ppn 1'; do
    # shellcheck disable=SC2086  # words
    {
        both to 24000 $far
        both from '(12000|2048)' $far
        both whole 24000 $far
    }
done

# The host's calls.
# host WORD REGEX: it returns an error, after this line.
host()
{
    try 0 ./bad "$1" host
    ended 0 "$1"
    said "$1" "sluice: PE 0 \\([^ ]+\\): $2"
}
for word in ctx ctx_default ctx_invalid ctx_wild; do
    host $word "shmemx_dev_get: the context is not SHMEM_DEVICE_CTX_DEFAULT, and was not made with SHMEM_DEVICE_CTX \\[S-W-CTX\\]"
done
host grid 'shmemx_launch_check: 100000 groups of 32 items wait for each other, and 1024 are resident at once \(SHMEM_DEVICE_RESIDENT\) \[S-W-DEVICE\]'
host grid_none 'shmemx_launch_check: a grid of 0 groups of 32 items \[S-W-ARG\]'
works grid_fits host

# Groups that wait for those that have not begun, until the host helps.
program groups <<'C'
#include <shmemx_dev.h>
#include <shmemx_st.h>
enum { GROUPS = 256 };
static uint64_t came;

static void kernel(const shmemx_item_t *it, void *arg)
{
    (void)it;
    shmemx_dev_uint64_atomic_inc(arg, &came, 0);
    shmemx_dev_uint64_wait_until(arg, &came, SHMEM_CMP_GE, GROUPS);
}

int main(void)
{
    shmemx_grid_t grid = { .groups = GROUPS, .items = 1, .phases = 1 };
    shmemx_stream_t s;
    shmemx_dev_t d;

    shmem_init();
    if (shmemx_stream_create(&s) ||
        shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &d))
        return 3;
    shmemx_stream_launch(s, &grid, kernel, &d);
    sleep(2);
    shmem_uint64_atomic_set(&came, GROUPS, 0);
    shmemx_stream_sync(s);
    shmemx_stream_destroy(s);
    shmem_finalize();
    return 0;
}
C
SHMEM_STALL=1 try 0 ./groups
ended 0 'groups that have not begun'
grep -qE 'shmemx_dev_wait_until waits for [0-9]+ s for [0-9]+ to be >= 256 at static data\+0x[0-9a-f]+; [0-9]+ of 256 groups of its grid have not begun: groups that wait for each other need shmemx_grid_t.resident \[S-W-STALL\]' \
    "$err" || fail "groups that have not begun: $(head -n 3 "$err")"

export SHMEM_DEVICE_RING_SIZE=63
try 0 ./bad fits
ended 1 'a small ring'
said 'a small ring' 'sluice: .*SHMEM_DEVICE_RING_SIZE is "63": want a whole number from 64 to 65536 \[S-E-ENV\]'
unset SHMEM_DEVICE_RING_SIZE
export SHMEM_FAULT=stream_bounce:1
try 2 --ppn 1 ./bad fits
[ $status -eq 3 ] ||
    fail "without memory for blocks: status $status"
grep -qE 'shmemx_dev_get: a ring of [0-9]+ requests \(SHMEM_DEVICE_RING_SIZE\) for kernels could not be opened: Cannot allocate memory \[S-W-CTX\]' \
    "$err" || fail "without memory for blocks: $(head -n 3 "$err")"
unset SHMEM_FAULT
export SHMEM_DEVICE=none
try 0 ./bad grid host
[ $status -eq 3 ] || fail "without a device: status $status"
grep -q 'shmemx_dev_get: there is no device (SHMEM_DEVICE) \[S-W-DEVICE\]' \
    "$err" || fail "without a device: $(head -n 3 "$err")"

finish 'kernels and their settings are checked'
