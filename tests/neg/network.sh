#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what fails between nodes ends the job with one line that names
# the provider and the cause, or goes on with right data: no room for
# operations, no further endpoints.
set -u
. "$(dirname "$0")/neg.inc"

program far <<'C'
enum { N = 300 };
static long words[N];
int main(void)
{
    shmem_ctx_t ctx[20];
    int me, next, wrong = 0;

    shmem_init();
    me = shmem_my_pe();
    next = (me + 1) % shmem_n_pes();
    for (int i = 0; i < 20; i++)
        if (shmem_ctx_create(0, &ctx[i]))
            wrong++;
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        shmem_ctx_long_atomic_add(ctx[i % 20], &words[i], i + me, next);
    for (int i = 0; i < 20; i++)
        shmem_ctx_destroy(ctx[i]);
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        wrong += words[i] != i + (me + shmem_n_pes() - 1) % shmem_n_pes();
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        words[i] = shmem_long_g(&words[i], next) + i;
    if (wrong)
        printf("%d wrong\n", wrong);
    shmem_finalize();
    return wrong != 0;
}
C

# ends FAULT REGEX: on each of two PEs.
ends()
{
    try 2 --ppn 1 env "SHMEM_FAULT=$1:1" ./far
    ended 1 "$1"
    said "$1" "sluice: PE [01] \\([^ ]+\\): $2 \\[S-E-[A-Z]+\\]$others"
}
# goes FAULT: the data are right.
goes()
{
    try 2 --ppn 1 env "SHMEM_FAULT=$1" ./far
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$1: status $status: $(head -n 5 "$out" "$err")"
}
others='( .*)?'
none='PEs are on several nodes and no libfabric provider joins them: provider [^ ]+ on [a-z0-9]+'
advice='; SHMEM_LOG=info:ofi says what each lacks, SHMEM_OFI_PROVIDER names one'
by='\(after SHMEM_FAULT made ofi\.[a-z]+ fail\)'

ends ofi.test "$none: a put, a get or an atomic to itself: Input/output error$advice $by"
ends ofi.mr "$none does not register a segment of [^:]*: Cannot allocate memory; is the limit of locked memory too low \\(ulimit -l\\), or SHMEM_SYMMETRIC_SIZE too large\\?$advice $by"
# Each names the other.
try 2 --ppn 1 env SHMEM_FAULT=ofi.av:1 ./far
ended 1 ofi.av
grep -vE "fi_av_insert, PE [01] \(host [^ ]+\): [^:]*: its address is not accepted; provider .* $by \[S-E-NET\]\$" "$err" &&
    fail "ofi.av: $(cat "$err")"
# The progress thread's turns are rare: an error that it finds is of no call.
ends ofi.turn:1:1,ofi.cq "shmem_init: completion queue: Input/output error; provider .* $by"
goes ofi.again:0.5:7

# The first endpoint is needed; of the others, as many as there are.
try 2 --ppn 1 env SHMEM_OFI_ENDPOINTS=1 ./far
[ $status -eq 0 ] || fail "one endpoint: status $status: $(cat "$err")"
try 2 --ppn 1 env SHMEM_FAULT=ofi.ep:0.5:3 ./far
case $status in
    0) grep -q 'opens no more than [0-9]* endpoints .* contexts share them from here on .*\[S-W-CTX\]' "$err" ||
        fail "ofi.ep: no word of shared endpoints: $(cat "$err")" ;;
    *) grep -q 'no libfabric provider joins them' "$err" ||
        fail "ofi.ep: $(cat "$err")" ;;
esac

advice='; SHMEM_LOG=info:ofi says what each lacks, correct or unset the SHMEM_OFI_ variables'
try 2 --ppn 1 env SHMEM_OFI_PROVIDER=nonsense ./far
ended 1 'an unknown provider'
said 'an unknown provider' "sluice: PE [01] .*no libfabric provider joins them: SHMEM_OFI_PROVIDER is nonsense; libfabric [0-9.]* offers no provider of that name .*, but .*tcp.*$advice \\[S-E-NET\\]$others"
try 2 --ppn 1 env SHMEM_OFI_DOMAIN=nowhere0 SHMEM_OFI_PROVIDER="tcp;ofi_rxm" ./far
ended 1 'an unknown interface'
said 'an unknown interface' "sluice: PE [01] .*joins them: SHMEM_OFI_PROVIDER is tcp;ofi_rxm, SHMEM_OFI_DOMAIN is nowhere0; NICs here: .*lo.*$advice \\[S-E-NET\\]$others"
try 2 --ppn 1 env SHMEM_OFI_DOMAIN=lo,eth99 SHMEM_OFI_PROVIDER="tcp;ofi_rxm" ./far
[ $status -eq 0 ] || fail "one of two interfaces: status $status"
all_said 'one of two interfaces' 'sluice: PE [01] .*SHMEM_OFI_DOMAIN names eth99, which is no NIC of provider tcp;ofi_rxm on .*; it has .*lo.* \[S-W-NET\]'
try 2 --ppn 1 env -u SHMEM_OFI_PROVIDER FI_PROVIDER=nonsense ./far
ended 1 'FI_PROVIDER'
said 'FI_PROVIDER' "sluice: PE [01] .*no libfabric provider joins them.*; FI_PROVIDER is nonsense, which hides all others; .* \\[S-E-NET\\]$others"
# Two ports for two PEs, of which each takes more.
if unshare -n true 2>/dev/null; then
    unshare -n sh -c 'ip link set lo up &&
        echo "40000 40001" >/proc/sys/net/ipv4/ip_local_port_range &&
        exec "$@"' sh timeout 60 "$bin/oshrun" -n 2 --ppn 1 \
            env SHMEM_OFI_PROVIDER='tcp;ofi_rxm' ./far >"$out" 2>"$err" &&
        fail 'two ports: it starts'
    grep -qE '(Address already in use|Cannot assign requested address); are all ports in use that net.ipv4.ip_local_port_range, ' "$err" ||
        fail "two ports: $(cat "$err")"
fi
# Present in libfabric, with no NIC.
try 2 --ppn 1 env SHMEM_OFI_PROVIDER=verbs ./far
ended 1 'a provider without a NIC'
grep -qE 'SHMEM_OFI_PROVIDER is verbs; libfabric [0-9.]* (has this provider, which finds no NIC that it can use|offers no provider of that name)' "$err" ||
    fail "a provider without a NIC: $(cat "$err")"


# Between PEs of one machine nothing but lo serves.
mapped='sluice: PE 0 \([^ ]+\): SHMEM_NIC_MAP'
try 2 --ppn 1 env SHMEM_NIC_MAP=eth0 ./far
ended 1 'a NIC that is not there'
said 'a NIC that is not there' "sluice: PE [01] \\([^ ]+\\): SHMEM_NIC_MAP, character 1: \"eth0\" names a NIC that is not there; NICs here: lo alone, which joins the nodes that --ppn makes of one machine \\(SHMEM_OFI_DOMAIN names another\\); want .* \\[S-E-ENV\\]$others"
# PEs are counted on their node.
try 2 --ppn 1 env SHMEM_NIC_MAP=0:lo,1:lo ./far
[ $status -eq 0 ] || fail "a NIC for PE 1 of a node: status $status"
said 'a NIC for PE 1 of a node' "$mapped names PE 1, but the PEs of this node are 0 to 0 there: they are counted from 0 on each node \[S-W-ENV\]"
try 2 --ppn 1 env SHMEM_NIC_MAP=0-63:lo ./far
[ $status -eq 0 ] && [ ! -s "$err" ] || fail "0-63:lo: $(cat "$err")"

# What the provider shm keeps for a PE that is killed.
program killed <<'C'
int main(void)
{
    shmem_init();
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        kill(getpid(), SIGKILL);
    shmem_barrier_all();
    return 0;
}
C
try 3 --ppn 1 env SHMEM_OFI_PROVIDER=shm ./killed
[ $status -eq 137 ] || fail "a PE killed on shm: status $status: $(cat "$err")"
[ "$(grep -c pid "$out")" -eq 3 ] || fail "a PE killed on shm: $(cat "$out")"
while read -r _ pid; do
    for left in "/dev/shm/$pid:"*; do
        [ ! -e "$left" ] || fail "a PE killed on shm leaves $left"
    done
done <"$out"
finish 'what fails between nodes is told in a line, or mended'
