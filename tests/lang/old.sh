#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: programs in the style of older versions and other libraries
# build unchanged, without a warning, and run: C99 and C++ with mpp/shmem.h,
# names from before 1.2, constants with an underscore, active sets.
set -u
: "${BUILD:?the build directory}"
failed=0
fail() { echo "FAIL: $*"; failed=1; }

cat >before12.c <<'C'
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

long pSync[_SHMEM_BCAST_SYNC_SIZE];
long rSync[_SHMEM_REDUCE_SYNC_SIZE];
int pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8];
static int src, sum;
static volatile long flag;      /* as some codes declare what they wait for */

int main(void)
{
    int i, me, npes;
    int *array;

    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    for (i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
        rSync[i] = _SHMEM_SYNC_VALUE;
    array = (int *)shmalloc(4 * sizeof *array);
    array = (int *)shrealloc(array, 8 * sizeof *array);
    for (i = 0; i < 8; i++)
        array[i] = me;
    shmem_barrier_all();
    shmem_int_put(array, array + 4, 2, (me + 1) % npes);
    shmem_barrier_all();
    if (array[0] != (me + npes - 1) % npes)
        return 1;
    src = me + 1;
    shmem_int_sum_to_all(&sum, &src, 1, 0, 0, npes, pWrk, rSync);
    if (sum != npes * (npes + 1) / 2)
        return 2;
    shmem_broadcast32(array, &src, 1, 0, 0, 0, npes, pSync);
    if (me && array[0] != 1)
        return 3;
    shmem_long_p((long *)&flag, 5, (me + 1) % npes);
    shmem_long_wait_until((long *)&flag, _SHMEM_CMP_EQ, 5);
    if (shmem_long_swap((long *)&flag, 7, me) != 5 ||
        shmem_int_finc(&src, me) != me + 1 || shmem_int_fadd(&src, 2, me) != me + 2 ||
        shmem_int_cswap(&src, me + 4, 0, me) != me + 4)
        return 4;
    shmem_clear_cache_inv();
    shmem_udcflush();
    shfree(array);
    shmem_barrier_all();
    printf("old and well\n");
    return 0;                   /* start_pes ends by itself */
}
C
# The calls about caches are in shmemx.h only: old programs declared them by
# including what there was.
sed 's|#include <mpp/shmem.h>|#include <mpp/shmemx.h>|' before12.c >cache.c
grep -v 'cache_inv\|udcflush' before12.c >plain.c

cat >generic.c <<'C'
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>

static double values[4], got;
static int sync_array[2];

int main(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    double mine[2] = { 1.5, 2.5 };

    shmem_init();
    shmem_put(values, mine, 2, shmem_my_pe());
    shmem_p(&values[2], 3.5, shmem_my_pe());
    got = shmem_g(&values[2], shmem_my_pe());
    shmem_atomic_add(&sync_array[0], 1, 0);
    shmem_barrier_all();
    shmem_sum_reduce(team, &values[3], &values[0], 1);
    shmem_sync(team);
    if (got != 3.5 || values[3] != 1.5 * shmem_n_pes() ||
        shmem_atomic_fetch(&sync_array[0], 0) != shmem_n_pes())
        shmem_global_exit(1);
    shmem_barrier_all();
    printf("old and well\n");
    shmem_finalize();
    return 0;
}
C

# build OUTPUT COMPILER OPTIONS... SOURCE: then runs it on 2 PEs.
build()
{
    out=$1 compiler=$2
    shift 2
    "$BUILD/bin/$compiler" "$@" -Wall -Wextra -pedantic -Werror -o "$out" \
        >log 2>&1 || { fail "$compiler $*: $(head -n 5 log)"; return; }
    timeout -k 5 60 "$BUILD/bin/oshrun" -n 2 "./$out" >run 2>&1 ||
        { fail "$compiler $*: run: $(head -n 5 run)"; return; }
    [ "$(grep -c 'old and well' run)" -eq 2 ] ||
        fail "$compiler $*: $(head -n 5 run)"
}

# A library with a sanitizer wants programs of the same compiler.
c='gcc clang' cpp='g++ clang++'
case $("$BUILD/bin/oshcc" --showme:compile) in
    *-fsanitize=*) c=gcc cpp=g++ ;;
esac
for cc in $c; do
    command -v $cc >/dev/null || continue
    export OSH_CC=$cc
    build c99 oshcc -std=c99 plain.c
    build c11 oshcc -std=c11 plain.c
    build cache oshcc -std=c99 cache.c
    build generic oshcc -std=c11 generic.c
    build strict oshcc -std=c11 -DSHMEM_STRICT plain.c
done
for cxx in $cpp; do
    command -v $cxx >/dev/null || continue
    export OSH_CXX=$cxx
    cp plain.c plain.cpp
    build cpp oshc++ -std=c++11 plain.cpp
done
exit $failed
