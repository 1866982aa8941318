#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a network that pins what is registered gets the heap as far as
# blocks reach: an untouched one is not pinned, blocks far into it are reached,
# and where no more may be locked, shmem_malloc gives NULL on all PEs.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
unset FAKE_CXI_PINNED
SHMEM_OFI_PROVIDER=cxi FAKE_CXI_LOG=1
export SHMEM_OFI_PROVIDER FAKE_CXI_LOG
mib=1048576
pe=$BUILD/obj/tests/pe

# run SIZE PES PPN COMMAND...
run()
{
    size=$1 n=$2 ppn=$3
    shift 3
    SHMEM_SYMMETRIC_SIZE=$size "$BUILD/bin/oshrun" -n "$n" --ppn "$ppn" \
        "$@" >out 2>&1 || {
        cat out
        return 1
    }
}

# pinned LEAST MOST: by each PE that ran, in MiB.
pinned()
{
    sed -n 's/.* at most \([0-9]*\) bytes pinned$/\1/p' out >bytes
    [ -s bytes ] || { echo 'no PE says what was pinned'; return 1; }
    while read -r n; do
        if [ "$n" -lt $(($1 * mib)) ] || [ "$n" -gt $(($2 * mib)) ]; then
            echo "$n bytes were pinned, not $1 to $2 MiB"
            return 1
        fi
    done <bytes
}

# A sixteenth is the library's own; copies and messages take some MiB more.
check run 96m 2 1 "$pe/init"
check pinned 6 40
few=$(sort -n bytes | tail -n 1)
check run 1g 2 1 "$pe/init"
check pinned 64 $((few / mib + 76))

check run 96m 2 1 "$pe/heap_grow"
check pinned 96 140
check run 96m 4 2 "$pe/heap_grow"
check pinned 96 140

FAKE_CXI_PINNED=$((few + 4 * mib))
export FAKE_CXI_PINNED
check run 96m 2 1 "$pe/heap_grow" limited
check pinned 6 60
check grep -q 'provider cxi on .* does not register .* MiB of the symmetric heap: .*(ulimit -l)? With the smaller regions before it, .* MiB count against that \[S-W-HEAP\]' out

# Room for the block, but not for what is registered at a time.
FAKE_CXI_PINNED=$((few + 6 * mib))
check run 96m 2 1 "$pe/heap_grow" limited
check pinned $((few / mib)) $((few / mib + 7))
finish out
