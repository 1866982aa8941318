#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs that pass different arguments to an allocation call, or make
# different calls, end with one line that names the odd PE and both values.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(int argc, char **argv)
{
    const char *word = argv[1];
    int odd, me;
    void *a, *b;

    shmem_init();
    me = shmem_my_pe();
    odd = argc > 2 ? me == atoi(argv[2]) : me == 2;
    a = shmem_malloc(100);
    b = shmem_malloc(200);
    if (!strcmp(word, "malloc"))
        shmem_malloc(odd ? 64 : 32);
    CASE(huge) shmem_malloc(odd ? SIZE_MAX : 32);
    CASE(zero) shmem_malloc(odd ? 0 : 32);
    CASE(align) shmem_align(odd ? 64 : 128, 64);
    CASE(realloc) shmem_realloc(a, odd ? 64 : 128);
    CASE(free) shmem_free(odd ? b : a);
    CASE(kind) odd ? shmem_free(a) : (void)shmem_malloc(32);
    CASE(barrier) odd ? shmem_barrier_all() : (void)shmem_malloc(32);
    CASE(apart) {
        shmem_malloc_with_hints(odd ? 5000 : 2000, SHMEMX_MALLOC_NO_BARRIER);
        shmem_free(shmem_malloc_with_hints(64, SHMEMX_MALLOC_NO_BARRIER));
    }
    CASE(late) {
        for (int i = 0; i < 61; i++)
            shmem_free(NULL), shmem_malloc(16);
        shmem_malloc(odd ? 64 : 32);
    }
    CASE(later) {
        for (int i = 0; i < 200; i++)
            shmem_malloc(odd && i == 90 ? 64 : 32);
    }
    CASE(same) {
        for (int i = 0; i < 100; i++) {
            a = shmem_realloc(a, 100 + 64 * i);
            shmem_free(shmem_align(64, 100));
            shmem_malloc_with_hints(i, SHMEMX_MALLOC_NO_BARRIER);
        }
        shmem_finalize();
        return 0;
    }
    shmem_barrier_all();
    printf("went on\n");
    shmem_finalize();
    return 0;
}
C
who='sluice: PE [0-3] \([^ ]+\): '

# odd REGEX WORD...: of four PEs; the line ends with REGEX and its companions.
odd()
{
    want=$1
    shift
    try 4 ./bad "$@"
    ended 1 "$*"
    said "$*" "$who$want$others"
}

SHMEM_CHECK=0
export SHMEM_CHECK
odd 'shmem_malloc: collective call 3: PE 2 passed size 64, PE 0 passed 32 \[S-E-HEAPARG\]' malloc
odd 'shmem_malloc: collective call 3: PE 0 passed size 64, PE 1 passed 32 \[S-E-HEAPARG\]' malloc 0
odd 'shmem_malloc: collective call 3: PE 0 passed size -1, PE 1 passed 32 \[S-E-HEAPARG\]' huge 0
odd 'shmem_malloc: collective call 3: PE 2 is in (shmem_barrier_all, PE 0 in shmem_malloc|another call, PE 0 in shmem_malloc; SHMEM_CHECK=1 names it) \[S-E-COLL\]' zero
odd 'shmem_align: collective call 3: PE 2 passed alignment 64, PE 0 passed 128 \[S-E-HEAPARG\]' align
odd 'shmem_realloc: collective call 3: PE 2 passed size 64, PE 0 passed 128 \[S-E-HEAPARG\]' realloc
odd 'shmem_free: collective call 3: PE 2 passed ptr heap\+0x[0-9a-f]+, PE 0 passed heap\+0x[0-9a-f]+ \[S-E-HEAPARG\]' free
odd 'shmem_malloc: collective call 3: PE 2 is in shmem_free, PE 0 in shmem_malloc \[S-E-COLL\]' kind
odd 'shmem_malloc: collective call 3: PE 2 is in (shmem_barrier_all, PE 0 in shmem_malloc|another call, PE 0 in shmem_malloc; SHMEM_CHECK=1 names it) \[S-E-COLL\]' barrier
# Calls without a barrier: by the next one with it.
odd 'shmem_free: collective call 3: PE 2 passed a total of SHMEMX_MALLOC_NO_BARRIER bytes 5064, PE 0 passed 2064 \[S-E-HEAPARG\]' apart
# The 64th call is still compared.
odd 'shmem_malloc: collective call 64: PE 2 passed size 64, PE 0 passed 32 \[S-E-HEAPARG\]' late
# Later ones by the 128th, without their arguments.
odd 'shmem_malloc: PE 2 and this PE passed different arguments to one of the first 128 allocation calls; SHMEM_CHECK=1 names it \[S-E-HEAPARG\]' later

SHMEM_CHECK=1
odd 'shmem_malloc: collective call 93: PE 2 passed size 64, PE 0 passed 32 \[S-E-HEAPARG\]' later
odd 'shmem_malloc: collective call 3: PE 2 passed size 0, PE 0 passed 32 \[S-E-HEAPARG\]' zero
try 4 ./bad same
ended 0 'equal arguments'
[ ! -s "$err" ] || fail "equal arguments: $(cat "$err")"
finish 'different arguments of allocation calls'
