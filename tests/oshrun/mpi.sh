#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a program of MPI and of this library joins the job of its
# launcher whichever it starts and ends first, or ends with a line that says
# what to do: Open MPI and MPICH under mpirun, mpiexec.hydra and oshrun.
# Light: Open MPI waits for its daemons.
# Timeout: 120
set -u
. "$(dirname "$0")/oshrun.inc"

cat >"$dir/both.c" <<'C'
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>

static long sum;

static void use(void)
{
    int me, n, one = 1, all = 0;
    long pes = shmem_n_pes();

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++)
        shmem_long_atomic_add(&sum, shmem_my_pe() + 1, pe);
    shmem_barrier_all();
    if (all != n || sum != pes * (pes + 1) / 2)
        printf("MPI %d, sum %ld\n", all, sum);
    printf("PE %d of %ld, MPI %d of %d\n", shmem_my_pe(), pes, me, n);
    fflush(stdout);
}

/* The letters of the word in turn: starts and ends, use between. */
int main(int argc, char **argv)
{
    for (const char *c = argv[argc - 1]; *c; c++) {
        switch (*c) {
        case 'M':
            MPI_Init(&argc, &argv);
            break;
        case 'm':
            MPI_Finalize();
            break;
        case 'S':
            shmem_init();
            break;
        case 'a':
            shmem_free(shmem_malloc(8));
            break;
        case 's':
            shmem_finalize();
            break;
        default:
            use();
        }
    }
    return 0;
}
C
orders='MS-sm MS-ms SM-sm SM-ms SMa-ms'
made=
# MPICH alone does not run under the thread sanitizer.
case $(oshcc --showme:compile) in
    *-fsanitize=thread*) mpis=openmpi ;;
    *) mpis='openmpi mpich' ;;
esac
for mpi in $mpis; do
    command -v mpicc.$mpi >/dev/null || continue
    # The words of oshcc are quoted for a shell.
    eval "mpicc.$mpi -O1 \"\$dir/both.c\" -o \"\$dir/$mpi\"" \
        "$(oshcc --showme:compile) $(oshcc --showme:link)" \
        >"$dir/cc.log" 2>&1 ||
        { cat "$dir/cc.log" >&2; exit 1; }
    made="$made $mpi"
done
[ -n "$made" ] || skip 'neither mpicc.openmpi nor mpicc.mpich is installed'

# Open MPI: it looks for ssh also where it needs none, and two processes that
# start without a launcher at one time get in each other's way in a directory.
export OMPI_MCA_plm_rsh_agent=sh OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cat >"$dir/own" <<'S'
export TMPDIR="$0.$SLUICE_JOB_PE"
mkdir -p "$TMPDIR" && exec "$@"
S

# What the MPIs leave to the end, in plugins that are gone by then, is no leak
# of this library's: other tests find those.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

# under LAUNCHER...: the last words of it are the program's.
under()
{
    timeout -k 5 60 "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# together PES RANKS WHAT: each of PES PEs was in a job of all, and of so many
# in MPI.
together()
{
    expect 0 "$3"
    pe=0
    while [ $pe -lt "$1" ]; do
        [ "$(grep -c "^PE $pe of $1, MPI [0-9]* of $2\$" "$out")" -eq 1 ] ||
            fail "$3: PE $pe: $(sort "$out" | head -n 5)"
        pe=$((pe + 1))
    done
    [ "$(wc -l <"$out")" -eq "$1" ] || fail "$3: $(cat "$out")"
}

# warned TEXT ORDER: by PE 0, once; not where MPI runs neither when the library
# starts nor when it ends.
warned()
{
    expected=1
    [ "$2" != SM-ms ] || expected=0
    [ "$(grep -c "^sluice: PE 0 .*$1.*MPI did not join this job; .*\[S-W-PMI\]\$" "$err")" -eq $expected ] ||
        fail "oshrun, $mpi, $2: $(head -n 5 "$err")"
}

for order in $orders; do
    for mpi in $made; do
        under oshrun -n 2 sh "$dir/own" "$dir/$mpi" $order
        together 2 1 "oshrun, $mpi, $order"
        warned 'MPI_COMM_WORLD has 1 rank, but the job has 2 PEs: ' "$order"
        under oshrun --pmix -n 2 sh "$dir/own" "$dir/$mpi" $order
        together 2 '[12]' "oshrun --pmix, $mpi, $order"
        grep -q 'MPI 0 of 2' "$out" ||
            warned 'MPI_COMM_WORLD has 1 rank, but the job has 2 PEs: ' "$order"
    done
    case $made in
        *openmpi*mpich*)
            mpi=mpich
            under mpirun.openmpi --oversubscribe --bind-to none -n 2 \
                "$dir/mpich" $order
            together 2 1 "mpirun, mpich, $order"
            warned 'MPI_COMM_WORLD has 1 rank, but the job has 2 PEs: ' "$order" ;;
    esac
    case $made in
        *openmpi*)
            under mpirun.openmpi --oversubscribe --bind-to none -n 2 \
                "$dir/openmpi" $order
            together 2 2 "mpirun, $order"
            ! grep -q MPI_COMM_WORLD "$err" || fail "mpirun, $order: $(cat "$err")" ;;
    esac
done

# Hydra speaks PMI of its own.
for mpi in $made; do
    command -v mpiexec.hydra >/dev/null || break
    for order in MS-sm SM-ms; do
        under mpiexec.hydra -n 2 sh -c 'SLUICE_JOB_PE=$PMI_RANK
            . "$0"' "$dir/own" "$dir/$mpi" $order
        [ $status -ne 0 ] || fail "hydra, $mpi, $order: status 0"
        # Hydra itself may print which process it has killed.
        ! grep -E '^(PE|MPI) ' "$out" || fail "hydra, $mpi, $order: $(cat "$out")"
        grep -q '^sluice: .*a launcher ran 2 copies (PMI_SIZE is 2) .*start with oshrun or a launcher that has PMIx.* \[S-E-PMI\]$' "$err" ||
            fail "hydra, $mpi, $order: $(head -n 5 "$err")"
    done
done
finish "MPI beside the library:$made"
