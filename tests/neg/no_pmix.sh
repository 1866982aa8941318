#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a copy that a launcher started without a PMIx server that
# answers is refused with the launcher's variable and the way out; alone, or
# with SHMEM_SINGLETON=1, it is a job of one PE.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
int main(void)
{
    shmem_init();
    printf("%d of %d\n", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}
C

# starts WHAT VAR=VALUE...
starts()
{
    what=$1
    shift
    try 0 env "$@" ./bad
    [ $status -eq 0 ] && [ "$(cat "$out")" = '0 of 1' ] && [ ! -s "$err" ] ||
        fail "$what: status $status: $(cat "$out" "$err")"
}

# refuses VAR ADVICE
refuses()
{
    try 0 env "$1=4" ./bad
    ended 1 "$1"
    said "$1" "sluice: \\([^ ]+\\): a launcher ran 4 copies \\($1 is 4\\) but each would be a job of one PE: no PMIx server answered \\(PMIX_NAMESPACE is not set, PMIx_Init: not tried\\) and no PMI-2 \\(not tried\\); $2, or set SHMEM_SINGLETON=1 if one PE is meant \\[S-E-PMI\\]"
    starts "$1 of one copy" "$1=1"
    starts "$1 that is none" "$1="
    starts "$1 with SHMEM_SINGLETON" "$1=4" SHMEM_SINGLETON=1
}

starts 'without a launcher' A=1
refuses SLURM_STEP_NUM_TASKS 'start with "srun --mpi=pmix", or "srun --mpi=pmi2"'
refuses OMPI_COMM_WORLD_SIZE 'start with an mpirun that has PMIx'
pals='start with PALS_PMI=pmix, or have libpmi2.so.0 of cray-pmi in LD_LIBRARY_PATH \(module load cray-pmi\)'
refuses PALS_SIZE "$pals"
refuses PALS_NRANKS "$pals"
refuses FLUX_JOB_SIZE 'start with "flux run -o pmi=pmix"'
refuses PMI_SIZE 'start with oshrun or a launcher that has PMIx \(a program with MPI: mpirun of Open MPI, or srun --mpi=pmix\)'
try 0 env SLURM_STEP_NUM_TASKS=4 SHMEM_SINGLETON=0 ./bad
ended 1 'SHMEM_SINGLETON=0'

# A server that has gone: what a PE of an earlier job had in its environment.
"$bin/oshrun" --pmix -n 1 env -u SLUICE_JOB >env.log 2>&1 || fail "oshrun: $(cat env.log)"
gone=$(grep '^PMIX_' env.log | grep -v ' ')
[ -n "$gone" ] || fail "no PMIX_ variables: $(cat env.log)"
# shellcheck disable=SC2086
try 0 env $gone ./bad
ended 1 'a server that has gone'
said 'a server that has gone' 'sluice: \([^ ]+\): a launcher started this process \(PMIX_NAMESPACE is set\) but its PMIx server does not answer \(PMIx_Init: [^)]+\); start with oshrun, or set SHMEM_SINGLETON=1 if one PE is meant \[S-E-PMI\]'
# shellcheck disable=SC2086
starts 'a server that has gone, SHMEM_SINGLETON' $gone SHMEM_SINGLETON=1
# shellcheck disable=SC2086
try 0 env $gone SLURM_STEP_NUM_TASKS=3 ./bad
ended 1 'a server that has gone, in a job of Slurm'
said 'a server that has gone, in a job of Slurm' \
    'sluice: .* \(SLURM_STEP_NUM_TASKS is 3\) .* \(PMIX_NAMESPACE is set, PMIx_Init: .* \[S-E-PMI\]'

# One of several that finds no server does not run on its own.
# shellcheck disable=SC2016
try 3 --pmix sh -c 'unset SLUICE_JOB
    [ "$SLUICE_JOB_PE" != 1 ] || export SHMEM_FAULT=rt.init:1; exec ./bad'
ended 1 'one of three finds no server'
said 'one of three finds no server' 'sluice: PE 1 .* its PMIx server does not answer .* \[S-E-PMI\]'
soon "one of three finds no server"

# A server that answers is used, whatever else is set.
for unset in X SLUICE_JOB; do
    try 2 --pmix env -u $unset SLURM_STEP_NUM_TASKS=7 PMI_SIZE=9 SHMEM_SINGLETON=1 ./bad
    [ $status -eq 0 ] && [ "$(sort "$out" | tr '\n' ' ')" = '0 of 2 1 of 2 ' ] ||
        fail "a server that answers, without $unset: status $status: $(cat "$out" "$err")"
done
finish 'launchers without PMIx'
