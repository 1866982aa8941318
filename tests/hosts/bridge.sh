#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a bridge with the same address on each host, as container engines
# make one, carries no PE's data unless SHMEM_OFI_DOMAIN names it; then the line
# about the peer that does not answer names the variable and the interfaces.
# Light: it waits for hosts
# Timeout: 90
set -u
. "$(dirname "$0")/hosts.inc"
hosts up 2 || exit
unset SHMEM_OFI_DOMAIN SHMEM_OFI_FABRIC SHMEM_NIC_MAP
for host in a b; do
    # shellcheck disable=SC2016
    hosts exec $host sh -c 'ip link add docker9 type bridge &&
        ip link add p9 type veth peer name q9 &&
        ip link set p9 master docker9 && ip link set p9 up &&
        ip link set q9 up && ip link set docker9 up &&
        ip addr add 172.19.9.1/16 dev docker9' >"$out" 2>&1 ||
        { echo "SKIP: no bridge here: $(cat "$out")"; exit 77; }
done
HOSTS_TIMEOUT=60 hosts run -n 4 -x SHMEM_OFI_PROVIDER='tcp;ofi_rxm' \
    -x SHMEM_TIMEOUT=10 -x SHMEM_LOG=info:rt,ofi \
    "$BUILD/obj/tests/pe/signal" >"$out" 2>&1 </dev/null
status=$?
[ $status -eq 0 ] || fail "status $status: $(grep S-E "$out" | head -n 3)"
grep -q 'docker9 is left out: it is a bridge; SHMEM_OFI_DOMAIN names what to use' \
    "$out" || fail "docker9 is not named: $(head -n 20 "$out")"
HOSTS_TIMEOUT=60 hosts run -n 2 -x SHMEM_OFI_PROVIDER='tcp;ofi_rxm' \
    -x SHMEM_TIMEOUT=3 -x SHMEM_STALL=1 -x SHMEM_NIC_MAP=docker9 \
    "$BUILD/obj/tests/pe/signal" >"$out" 2>&1 </dev/null
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] &&
    grep -Eq 'on docker9; SHMEM_OFI_DOMAIN chooses one of .*(eth0, docker9|docker9, eth0).* \[S-E-NET\]' "$out" ||
    fail "by docker9 alone: status $status: $(cat "$out" | head -n 8)"
HOSTS_TIMEOUT=60 hosts run -n 2 -x SHMEM_OFI_PROVIDER='tcp;ofi_rxm' \
    -x SHMEM_TIMEOUT=3 -x SHMEM_OFI_DOMAIN=lo \
    "$BUILD/obj/tests/pe/signal" >"$out" 2>&1 </dev/null
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] &&
    grep -q 'SHMEM_OFI_DOMAIN is lo, and lo reaches no other host than .*\[S-W-NET\]' "$out" ||
    fail "by lo alone: status $status: $(head -n 8 "$out")"
finish
