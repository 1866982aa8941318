#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a program started by Open MPI's mpirun finds its PMIx server:
# PEs reach each other, lines and statuses come out as under oshrun, and a PE
# that is killed leaves no process and no file.
set -u
. "$(dirname "$0")/oshrun.inc"
mpirun --version 2>/dev/null | grep -q 'Open MPI' ||
    skip 'no mpirun of Open MPI is installed'

cat >"$dir/pe.c" <<'C'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long sum, box = -1;

/* Each PE adds itself at every PE and writes to the next one's heap. */
static int reach(void)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *heap = shmem_malloc(sizeof *heap), want = (long)n * (n + 1) / 2;

    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(&sum, me + 1, pe);
    shmem_long_p(heap, me, (me + 1) % n);
    shmem_long_p(&box, me, (me + 1) % n);
    shmem_barrier_all();
    if (sum != want || *heap != (me + n - 1) % n || box != *heap ||
        shmem_long_g(heap, (me + 1) % n) != me)
        return 9;
    shmem_barrier_all();
    sum = 0;
    shmem_free(heap);
    printf("PE %d of %d reaches all\n", me, n);
    return 0;
}

int main(int argc, char **argv)
{
    const char *word = argv[argc - 1];
    int me, status;

    shmem_init();
    me = shmem_my_pe();
    status = reach();
    if (!strcmp(word, "status")) {
        status = me ? 7 : 0;
    } else if (!strcmp(word, "global") && me) {
        shmem_global_exit(5);
    } else if (!strcmp(word, "misuse") && me) {
        shmem_long_p(&box, 1, 1000);
    } else if (!strcmp(word, "killed") && me) {
        raise(SIGKILL);
    }
    if (!strcmp(word, "global") || !strcmp(word, "killed"))
        shmem_long_wait_until(&sum, SHMEM_CMP_EQ, 77);  /* never */
    shmem_finalize();
    return status;
}
C
oshcc -O1 -Wall "$dir/pe.c" -o "$dir/pe" >"$dir/cc.log" 2>&1 ||
    { cat "$dir/cc.log" >&2; exit 1; }

mark=mark-$$-$(now)
mkdir "$dir/tmp"
touch "$dir/stamp"
sleep 0.02
root=
[ "$(id -u)" -ne 0 ] || root=--allow-run-as-root

# mpi N WORD...: as try does.  It looks for ssh also where it needs none.
mpi()
{
    n=$1
    shift
    env SLUICE_TEST_MARK="$mark" TMPDIR="$dir/tmp" OMPI_MCA_plm_rsh_agent=sh \
        timeout -k 5 60 mpirun $root --oversubscribe --bind-to none -n "$n" \
        "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# What mpirun itself may have to say is its own affair.
quiet()
{
    ! grep '^sluice:' "$err" >&2 || fail "$1: the library said that"
}

# reached N WHAT: each of N PEs has said so, once and whole.
reached()
{
    pe=0
    while [ $pe -lt "$1" ]; do
        [ "$(grep -cx "PE $pe of $1 reaches all" "$out")" -eq 1 ] ||
            fail "$2: PE $pe: $(sort "$out" | head -n 5)"
        pe=$((pe + 1))
    done
    [ "$(wc -l <"$out")" -eq "$1" ] || fail "$2: $(cat "$out")"
}

for n in 1 2 4; do
    mpi $n "$dir/pe" reach
    expect 0 "$n PEs" && quiet "$n PEs"
    reached $n "$n PEs"
done
mpi 2 -x SHMEM_SYMMETRIC_SIZE=none "$dir/pe" reach
expect 1 'a bad setting'
grep -q '^sluice: .*SHMEM_SYMMETRIC_SIZE.*\[S-E-ENV\]$' "$err" ||
    fail "a bad setting: $(head -n 5 "$err")"
mpi 2 "$dir/pe" status
expect 7 'a PE that returns 7'
mpi 2 "$dir/pe" global
expect 5 'shmem_global_exit of 5'
mpi 2 "$dir/pe" misuse
expect 1 'a PE out of range'
grep -q '^sluice: PE 1 ([^ ]*): shmem_long_p: PE 1000 .* \[S-E-PE\]$' "$err" ||
    fail "a PE out of range: $(head -n 5 "$err")"
mpi 3 "$dir/pe" killed
expect 137 'a PE that is killed'

none_left "SLUICE_TEST_MARK=$mark" 'after all jobs'
left=$(find "$dir/tmp" -mindepth 1)
[ -z "$left" ] || fail "files left: $left"
left=$(find /dev/shm -mindepth 1 -newer "$dir/stamp" 2>/dev/null |
    grep -E 'sluice|shmem|pmix')
[ -z "$left" ] || fail "shared memory left: $left"
finish 'mpirun: data, lines, statuses, settings, a killed PE'
