#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: under Slurm srun --mpi=pmix starts PEs on a node and on several,
# oshrun in a batch job hands over to it, and lines, settings and statuses pass.
# Timeout: 90
set -u
. "$(dirname "$0")/hosts.inc"

for tool_needed in slurmctld slurmd srun salloc; do
    command -v $tool_needed >/dev/null || skip "$tool_needed is not installed"
done
[ -n "$(find /usr/lib*/ -name mpi_pmix.so 2>/dev/null | head -n 1)" ] ||
    skip 'this Slurm has no plugin for PMIx'
hosts up 2 || exit

# Neither systemd nor munge, nor accounting or limits: what starts PEs remains.
cores=$(nproc)
mkdir "$dir/ctld" "$dir/spool.sluice-a" "$dir/spool.sluice-b"
cat >"$dir/slurm.conf" <<CONF
ClusterName=sluice
SlurmctldHost=sluice-head(10.77.0.254)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$dir/ctld
SlurmctldPidFile=$dir/ctld.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdSpoolDir=$dir/spool.%n
SlurmdPidFile=$dir/%n.pid
SlurmdLogFile=$dir/%n.log
TmpFS=$HOSTS_DIR/tmp
MailProg=/bin/true
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_min_interval=10000
NodeName=sluice-a NodeAddr=10.77.0.1 CPUs=$cores Sockets=1 CoresPerSocket=$cores
NodeName=sluice-b NodeAddr=10.77.0.2 CPUs=$cores Sockets=1 CoresPerSocket=$cores
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
CONF
SLURM_CONF=$dir/slurm.conf
export SLURM_CONF

HOSTS_TIMEOUT=90 hosts exec head slurmctld -D >"$dir/head.out" 2>&1 &
for h in a b; do
    HOSTS_TIMEOUT=90 hosts exec $h slurmd -D >"$dir/$h.out" 2>&1 &
done
n=0
until [ "$(hosts exec head sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; do
    n=$((n + 1))
    [ $n -lt 100 ] || {
        tail -n 4 "$dir"/*.log "$dir"/*.out >&2
        echo 'FAIL: the cluster does not start' >&2
        exit 1
    }
    sleep 0.1
done

# at_head WORD...: a command on the login node; leaves $out, $err, $status.
at_head()
{
    HOSTS_TIMEOUT=20 hosts exec head "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# expect STATUS WHAT: of the last command.
expect()
{
    [ $status -eq "$1" ] ||
        fail "$2: status $status, not $1: $(cat "$out" "$err" | head -n 5)"
}

compile pe
where='0 of 4 on sluice-a 1 of 4 on sluice-a 2 of 4 on sluice-b 3 of 4 on sluice-b'

# placed WHAT: the four PEs have said where they are.
placed()
{
    [ "$(grep -v '^salloc' "$out" | sort | xargs)" = "$where" ] ||
        fail "$1: $(cat "$out" "$err" | head -n 8)"
}

at_head srun --mpi=pmix -N 1 -n 2 "$dir/pe" sum
expect 0 'two PEs of one node'
[ "$(sort "$out" | xargs)" = '0 of 2 on sluice-a 1 of 2 on sluice-a' ] ||
    fail "two PEs of one node: $(cat "$out")"
at_head srun --mpi=pmix -N 1 -n 2 "$dir/pe" status
expect 7 'a PE of one node that returns 7'
SHMEM_SYMMETRIC_SIZE=none at_head srun --mpi=pmix -n 2 "$dir/pe" sum
[ $status -ne 0 ] && grep -q 'SHMEM_SYMMETRIC_SIZE.*\[S-E-ENV\]' "$err" ||
    fail "a bad setting: $status: $(cat "$err")"

# By PMI-2, where its library is there: on a node, and on two.
if ldconfig -p | grep -q 'libpmi2\.so\.0'; then
    at_head srun --mpi=pmi2 -N 1 -n 2 "$dir/pe" sum
    expect 0 'two PEs of one node by PMI-2'
    [ "$(sort "$out" | xargs)" = '0 of 2 on sluice-a 1 of 2 on sluice-a' ] ||
        fail "two PEs of one node by PMI-2: $(cat "$out" "$err")"
    at_head srun --mpi=pmi2 -N 2 -n 4 "$dir/pe" sum
    expect 0 'four PEs of two nodes by PMI-2'
    placed 'four PEs of two nodes by PMI-2'
    at_head srun --mpi=pmi2 -N 2 -n 2 "$dir/pe" status
    [ $status -ne 0 ] || fail "a PE that returns 7 by PMI-2: $(cat "$err")"
fi

at_head srun -n 2 "$dir/pe" sum
[ $status -ne 0 ] && grep -q 'srun --mpi=pmix' "$err" ||
    fail "srun without PMIx: $status: $(cat "$out" "$err")"

# The shell of salloc is on the login node, the job's node is another.
at_head salloc -Q -N 1 oshrun -n 2 "$dir/pe" sum
expect 0 'oshrun in a job of one node'
[ "$(sort "$out" | xargs)" = '0 of 2 on sluice-a 1 of 2 on sluice-a' ] ||
    fail "oshrun in a job of one node: $(cat "$out" "$err")"
grep -q '^oshrun: node sluice-a of this .* handing over to .*/srun$' "$err" ||
    fail "oshrun in a job of one node: $(cat "$err")"
# A script runs once, however many tasks the job has.
printf '#!/bin/sh\n%s sum\n' "$dir/pe" >"$dir/batch"
at_head sbatch -W -N 1 -n 2 -o "$dir/batch.out" "$dir/batch"
expect 0 'one PE in a batch script'
[ "$(cat "$dir/batch.out")" = '0 of 1 on sluice-a' ] ||
    fail "one PE in a batch script: $(cat "$dir/batch.out" "$err")"
printf '#!/bin/sh\noshrun -n 2 %s sum\n' "$dir/pe" >"$dir/batch"
at_head sbatch -W -N 1 -o "$dir/batch.out" "$dir/batch"
expect 0 'oshrun in a batch script'
[ "$(sort "$dir/batch.out" | xargs)" = '0 of 2 on sluice-a 1 of 2 on sluice-a' ] ||
    fail "oshrun in a batch script: $(cat "$dir/batch.out" "$err")"
begin=$(now)
at_head salloc -Q -N 2 oshrun -n 2 sh -c \
    '[ "$SLURM_PROCID" != 0 ] || exit 3; exec sleep 15'
[ $status -ne 0 ] && [ $(($(now) - begin)) -lt 12000 ] ||
    fail "a task that fails ends no job: $status: $(cat "$err")"

# Of several nodes oshrun takes the job's word, whatever its hosts may hold.
at_head salloc -Q -N 2 oshrun -n 3 hostname
expect 0 'oshrun of another program'
[ "$(grep '^sluice' "$out" | sort -u | xargs)" = 'sluice-a sluice-b' ] ||
    fail "oshrun of another program: $(cat "$out" "$err")"
A=3 at_head salloc -Q -N 2 oshrun --ppn 2 -n 4 -x V=word sh -c \
    'echo $V $A ${SHMEM_PPN-none}'
expect 0 'oshrun -x in a job'
[ "$(grep -c '^word 3 none$' "$out")" -eq 4 ] ||
    fail "oshrun -x in a job: $(cat "$out" "$err")"

at_head srun --mpi=pmix -N 2 -n 4 "$dir/pe" sum
expect 0 'four PEs of two nodes'
placed 'four PEs of two nodes'
at_head srun --mpi=pmix -N 2 -n 4 "$dir/pe" status
expect 7 'a PE that returns 7'
at_head srun --mpi=pmix -N 2 -n 4 "$dir/pe" global
expect 5 'shmem_global_exit of 5'
at_head srun --mpi=pmix -K -N 2 -n 4 "$dir/pe" killed
[ $status -ne 0 ] || fail 'a PE that is killed: status 0'
at_head salloc -Q -N 2 -n 4 oshrun -n 4 "$dir/pe" sum
expect 0 'oshrun in a job'
placed 'oshrun in a job'
finish 'slurm: one node, two nodes, statuses, settings, oshrun in a job'
