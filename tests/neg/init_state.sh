#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: calls before the first init and after the last finalize are
# refused by name, and the calls that are allowed then work.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

program bad <<'C'
static long a[8];
static uint64_t sig;

static void misuse(const char *word)
{
    long b[8] = { 0 };
    int n;

    if (!strcmp(word, "n_pes"))
        printf("%d PEs\n", shmem_n_pes());
    CASE(my_pe) printf("PE %d\n", shmem_my_pe());
    CASE(old_my_pe) printf("PE %d\n", _my_pe());
    CASE(putmem) shmem_putmem(a, b, 8, 0);
    CASE(get) shmem_long_get(b, a, 1, 0);
    CASE(nothing) shmem_putmem(a, b, 0, 0);
    CASE(p) shmem_long_p(a, 1, 0);
    CASE(iget) shmem_long_iget(b, a, 1, 1, 1, 0);
    CASE(fetch_add) shmem_long_atomic_fetch_add(a, 1, 0);
    CASE(put_signal) shmem_putmem_signal(a, b, 8, &sig, 1, SHMEM_SIGNAL_SET, 0);
    CASE(signal_fetch) shmem_signal_fetch(&sig);
    CASE(wait) shmem_long_wait_until(a, SHMEM_CMP_EQ, 0);
    CASE(wait_none) shmem_long_wait_until_all(a, 0, NULL, SHMEM_CMP_EQ, 0);
    CASE(test) shmem_long_test(a, SHMEM_CMP_EQ, 0);
    CASE(fence) shmem_fence();
    CASE(quiet) shmem_quiet();
    CASE(pe_quiet) shmem_pe_quiet(NULL, 0);
    CASE(barrier) shmem_barrier_all();
    CASE(sync) shmem_sync_all();
    CASE(malloc) shmem_malloc(64);
    CASE(malloc_none) shmem_malloc(0);
    CASE(calloc) shmem_calloc(1, 64);
    CASE(align) shmem_align(64, 64);
    CASE(realloc) shmem_realloc(a, 64);
    CASE(free) shmem_free(a);
    CASE(free_null) shmem_free(NULL);
    CASE(lock) shmem_set_lock(a);
    CASE(lock_test) shmem_test_lock(a);
    CASE(ptr) shmem_ptr(a, 0);
    CASE(accessible) shmem_addr_accessible(a, 0);
    CASE(ctx_create) shmem_ctx_create(0, &(shmem_ctx_t){ 0 });
    CASE(team) shmem_team_my_pe(SHMEM_TEAM_WORLD);
    CASE(team_sync) shmem_team_sync(SHMEM_TEAM_WORLD);
    CASE(reduce) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, a, a + 4, 1);
    CASE(query_thread) shmem_query_thread(&n);
    CASE(global_exit) shmem_global_exit(0);
    CASE(finalize) shmem_finalize();
    CASE(finalize_often) {
        for (int i = 0; i < 3; i++)
            shmem_finalize();
        return;
    }
    CASE(init_again) {
        for (int i = 0; i < 2; i++) {
            shmem_finalize();
            shmem_init();
            if (shmem_my_pe() < 0)
                printf("no PE\n");
            shmem_finalize();
        }
        return;
    }
    printf("went on\n");
}

/* What may be called at any time. */
static void allowed(int up)
{
    char name[SHMEM_MAX_NAME_LEN];
    int major, minor, is = -1;

    shmem_query_initialized(&is);
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    if (is != up || major != 1 || minor != 6 || !name[0])
        printf("initialized: %d, not %d\n", is, up);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("SLUICE_JOB_PE");

    (void)argc;
    allowed(0);
    /* Before: of two PEs the second misbehaves, the first comes to init. */
    if (!strcmp(argv[1], "before") && (!rank || !strcmp(rank, "1"))) {
        misuse(argv[2]);
        return 0;
    }
    shmem_init();
    allowed(1);
    int misbehave = shmem_my_pe() == shmem_n_pes() - 1;
    shmem_finalize();
    allowed(0);
    if (!strcmp(argv[1], "after") && misbehave)
        misuse(argv[2]);
    return 0;
}
C

# call WORD FUNCTION: both refusals.
call()
{
    try 0 ./bad before "$1"
    ended 1 "$1 before init"
    said "$1" "sluice: \\([^ ]+\\): $2: called before shmem_init \\[S-E-STATE\\]"
    try 0 ./bad after "$1"
    ended 1 "$1 after finalize"
    said "$1" "sluice: PE 0 \\([^ ]+\\): $2: called after the last shmem_finalize \\[S-E-STATE\\]"
}

call n_pes shmem_n_pes
call my_pe shmem_my_pe
call putmem shmem_putmem
call get shmem_long_get
call nothing shmem_putmem
call p shmem_long_p
call iget shmem_long_iget
call fetch_add shmem_long_atomic_fetch_add
call put_signal shmem_putmem_signal
call signal_fetch shmem_signal_fetch
call wait shmem_long_wait_until
call wait_none shmem_long_wait_until_all
call test shmem_long_test
call fence shmem_fence
call quiet shmem_quiet
call pe_quiet shmem_pe_quiet
call barrier shmem_barrier_all
call sync shmem_sync_all
call malloc shmem_malloc
call malloc_none shmem_malloc
call calloc shmem_calloc
call align shmem_align
call realloc shmem_realloc
call free shmem_free
call free_null shmem_free
call lock shmem_set_lock
call lock_test shmem_test_lock
call ptr shmem_ptr
call accessible shmem_addr_accessible
call ctx_create shmem_ctx_create
call team shmem_team_my_pe
call team_sync shmem_team_sync
call reduce shmem_long_sum_reduce
call query_thread shmem_query_thread
call global_exit shmem_global_exit

# One finalize too many is a warning, once; one too early is an error.
try 0 ./bad before finalize
ended 1 'finalize before init'
said finalize 'sluice: \([^ ]+\): shmem_finalize: called before shmem_init \[S-E-STATE\]'
late='shmem_finalize: called after the last shmem_finalize; the call does nothing \[S-W-STATE\]'
for word in finalize_often init_again; do
    try 0 ./bad after $word
    ended 0 $word
    said $word "sluice: PE 0 \\([^ ]+\\): $late"
done
try 2 ./bad after finalize_often
ended 0 'PE 1 finalizes often'
said 'PE 1 finalizes often' "sluice: PE 1 \\([^ ]+\\): $late"

try 2 ./bad before putmem
ended 1 'PE 1 before init'
said 'PE 1 before init' 'sluice: PE 1 \([^ ]+\): shmem_putmem: called before shmem_init \[S-E-STATE\]'
try 2 ./bad after putmem
ended 1 'PE 1 after finalize'
said 'PE 1 after finalize' 'sluice: PE 1 \([^ ]+\): shmem_putmem: called after the last shmem_finalize \[S-E-STATE\]'

try 2 ./bad allowed
ended 0 'what is allowed at any time'
finish 'calls before init and after finalize'
