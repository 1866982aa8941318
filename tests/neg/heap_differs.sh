#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs that were given different SHMEM_SYMMETRIC_SIZEs are told so,
# in one line, with two PEs and both sizes, within a node and between nodes.
set -u
. "$(dirname "$0")/neg.inc"

program ok <<'C'
int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
C
cat >some <<'SH'
#!/bin/sh
case $SLUICE_JOB_PE in
    [$1]) exec env SHMEM_SYMMETRIC_SIZE="$2" ./ok ;;
    *) exec ./ok ;;
esac
SH
chmod +x some
unset SHMEM_SYMMETRIC_SIZE

advice=': give all PEs the same \(mpirun passes it on with -x\) \[S-E-HEAP\]'
# differ LAUNCH PES SIZE PE REGEX OTHERS: those PEs are given that size.
differ()
{
    # shellcheck disable=SC2086
    try 4 $1 ./some "$2" "$3"
    ended 1 "$*"
    said "$*" "sluice: PE $4 \\([^ ]+\\): SHMEM_SYMMETRIC_SIZE is $5$advice$6"
}
# fit LAUNCH PES SIZE
fit()
{
    # shellcheck disable=SC2086
    try 4 $1 ./some "$2" "$3"
    [ $status -eq 0 ] && [ ! -s "$err" ] ||
        fail "$*: status $status: $(cat "$err")"
}
auto='unset \(([0-9.]+ [MG]iB)\)'
for launch in '' '--ppn 2' '--ppn 1'; do
    differ "$launch" 2 4m 2 "4.0 MiB here and $auto on PE 0" ''
    differ "$launch" 0 4m '[123]' 'unset here and 4.0 MiB on PE 0' "$others"
    differ "$launch" 123 4m '[123]' "4.0 MiB here and $auto on PE 0" "$others"
    fit "$launch" 0123 4m
done
export SHMEM_SYMMETRIC_SIZE=4m
differ '--ppn 2' 1 8m 1 '8.0 MiB here and 4.0 MiB on PE 0' ''
differ '--ppn 2' 2 4194305 2 '4194305 bytes here and 4194304 bytes on PE 0' ''
fit '--ppn 2' 12 4096k

# Two builds, whose static data has one size: between nodes an address of one is
# another variable of the other.
program other <<'C'
static long first, second;

int main(void)
{
    shmem_init();
    shmem_long_p(&second, 1, 0);
    shmem_finalize();
    return (int)first;
}
C
cat >two <<'SH'
#!/bin/sh
case $SLUICE_JOB_PE in
    0 | 1) exec ./ok ;;
    *) exec ./other ;;
esac
SH
chmod +x two
for launch in '--ppn 2' '--ppn 1'; do
    # shellcheck disable=SC2086
    try 4 $launch ./two
    ended 1 "two programs, $launch"
    grep -qE '^sluice: PE [23] .*: this node runs another program, or another build of it, than PE 0, .* or set SHMEM_STATIC_DATA=0 \[S-E-DATA\]' "$err" ||
        fail "two programs, $launch: $(cat "$err")"
done

finish 'heaps that differ are told of'
