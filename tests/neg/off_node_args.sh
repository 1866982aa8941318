#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE outside the job, an address that is not symmetric and an
# odd one are refused with the same words where the other PE is on another
# node, and no PE is left waiting.
set -u
. "$(dirname "$0")/neg.inc"
need_checks
SHMEM_PPN=1
export SHMEM_PPN

cases <<'C'
    ALONE
    CASE(putmem) shmem_putmem(a, b, 8, n);
    CASE(get_nbi) shmem_long_get_nbi(b, a, 1, -1);
    CASE(fetch_add) shmem_long_atomic_fetch_add(a, 1, n);
    CASE(put_stack) shmem_putmem(b, a, 8, other);
    CASE(get_stack) shmem_getmem(a, b, 8, other);
    CASE(iput_stack) shmem_long_iput(b, a, 1, 1, 2, other);
    CASE(signal_stack) shmem_putmem_signal(a, b, 8, (uint64_t *)b, 1,
                                           SHMEM_SIGNAL_SET, other);
    CASE(add_stack) shmem_long_atomic_add(b, 1, other);
    CASE(add_odd) shmem_long_atomic_add((long *)(void *)((char *)a + 4), 1,
                                        other);
    CASE(signal_op) shmem_putmem_signal(a, b, 8, &sig, 1, 77, other);
    CASE(null_source) shmem_putmem(a, NULL, 8, other);
    CASE(null_dest) shmem_getmem(NULL, a, 8, other);
C

# both WORD REGEX: in the same words near and far.
both()
{
    try 2 ./bad "$1"
    ended 1 "$1"
    said "$1" "sluice: PE 1 \\([^ ]+\\): $2"
    soon "$1"
    sed 's/0x[0-9a-f]*/ADDRESS/' "$err" >far
    SHMEM_PPN=0 try 2 ./bad "$1"
    sed 's/0x[0-9a-f]*/ADDRESS/' "$err" | cmp -s - far ||
        fail "$1: near '$(cat "$err")', far '$(cat far)'"
}

no='0x[0-9a-f]+ is not a symmetric address: .* \[S-E-ADDR\]'
both putmem 'shmem_putmem: PE 2 is outside 0\.\.1 \[S-E-PE\]'
both get_nbi 'shmem_long_get_nbi: PE -1 is outside 0\.\.1 \[S-E-PE\]'
both fetch_add 'shmem_long_atomic_fetch_add: PE 2 is outside 0\.\.1 \[S-E-PE\]'
both put_stack "shmem_putmem: dest $no"
both get_stack "shmem_getmem: source $no"
both iput_stack "shmem_long_iput: dest $no"
both signal_stack "shmem_putmem_signal: sig_addr $no"
both add_stack "shmem_long_atomic_add: dest $no"
both add_odd 'shmem_long_atomic_add: .*'
both signal_op 'shmem_putmem_signal: .*'
both null_source 'shmem_putmem: .*'
both null_dest 'shmem_getmem: .*'
finish 'errors towards other nodes are those within one'
