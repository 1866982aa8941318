#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs that a launcher with PMI-2 has started are one job, by its
# client library; they share a node where its map says so, or where it has none
# by their hosts; without the library, or where it fails, a line says what to do.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
unset FI_PROVIDER_PATH PMIX_NAMESPACE SHMEM_SINGLETON
: "${T_SEED:=1}"
export T_SEED
log=none

# job N PROGRAM [VAR=VALUE...]: the job's statuses in $log.N, and what it said.
job()
{
    n=$1 program=$2
    shift 2
    log=$(echo "$program.$n.$*" | tr -c '[:alnum:]\n' _)
    mkdir "$log"
    pids=
    for rank in $(seq 0 $((n - 1))); do
        fault=
        [ "$rank" != "${bad:-none}" ] || fault=SHMEM_FAULT=rt.fence:1
        env LD_LIBRARY_PATH="$fake/pmi2" $fault FAKE_PMI2_DIR="$PWD/$log" PMI_FD=9 \
            PMI_RANK="$rank" PMI_SIZE="$n" "$@" \
            "$BUILD/obj/tests/pe/$program" >"$log/out.$rank" 2>&1 &
        pids="$pids $!"
    done
    failed=0
    for pid in $pids; do
        wait "$pid" || failed=$((failed + 1))
    done
    cat "$log"/out.* >"$log.out"
    return $failed
}

# all N: each process has finalized, and none broke a rule.
all()
{
    [ "$(find "$log" -name 'final.*' | wc -l)" -eq "$1" ] &&
        ! grep -q 'fake pmi2' "$log.out" && return
    cat "$log.out"
    return 1
}

# Maps: of one node, of two in turn, none.
check job 4 init 'FAKE_PMI2_MAPPING=(vector,(0,1,4))'
check all 4
check job 4 rma_typed 'FAKE_PMI2_MAPPING=(vector,(0,2,1))'
check all 4
check job 2 init
check all 2
check job 2 rma_typed SHMEM_PPN=1
check all 2
# A PE asks one that is in the last fence, or on the brink of it, and had not
# heard of it.
for seed in 1 2 3; do
    check job 12 ../coll/long_data SHMEM_PPN=4 SHMEM_TIMEOUT=10 T_SEED=$seed
    check all 12
done

# One that ends with an error takes the others along.
bad=1 job 3 init 'FAKE_PMI2_MAPPING=(vector,(0,1,3))'
check [ $? -eq 3 ]
check [ -e "$log/aborted" ]
check grep -q 'PE 1 .*PMI2_KVS_Fence of 3 PEs: .*\[S-E-PMI\]' "$log.out"

# One PE is a job of its own, and so is one of several whose library knows of no
# other, if that is asked for.
check job 1 init
check job 1 init SLURM_STEP_NUM_TASKS=2 SHMEM_SINGLETON=1
job 1 init SLURM_STEP_NUM_TASKS=2
check [ $? -eq 1 ]
check grep -q 'SLURM_STEP_NUM_TASKS is 2.* PMI-2 (libpmi2.so.0 knows of one PE' "$log.out"

# Nobody answers: the line says what to do.
env LD_LIBRARY_PATH="$fake/pmi2" PMI_FD=9 PMI_SIZE=2 SLURM_STEP_NUM_TASKS=2 \
    "$BUILD/obj/tests/pe/init" >none.out 2>&1
check [ $? -ne 0 ]
check grep -q '(SLURM_STEP_NUM_TASKS is 2) .* PMI-2 (PMI2_Init of libpmi2.so.0 failed); start with "srun --mpi=pmix", .*\[S-E-PMI\]' none.out
env PMI_FD=9 PMI_RANK=0 PALS_RANKID=0 PALS_SIZE=2 "$BUILD/obj/tests/pe/init" \
    >pals.out 2>&1
check [ $? -ne 0 ]
check grep -q '(PALS_SIZE is 2) .* PMI-2 ([^)]*libpmi2.so.0[^)]*); .*cray-pmi.*\[S-E-PMI\]' pals.out
finish ./*.out
