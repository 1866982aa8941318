#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: between nodes, over provider tcp, the progress thread of a PE that
# computes sleeps until a message comes; without descriptors it polls.
# SHMEM_STATS counts the sleeps; no time is judged.
# Light: two short jobs
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

cat >computes.c <<'C'
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long word = 7, done;

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        sleep(1);
        if (shmem_long_g(&word, 1) != 7)
            return 3;
        shmem_long_p(&done, 1, 1);
        shmem_quiet();
    } else {
        while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))       /* no call */
            usleep(1000);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C
"$bin/oshcc" -O1 -Wall computes.c -o computes || exit 1

# sleeps HOW EVENTS: those of PE 1, after one that says how it progresses.
sleeps()
{
    SHMEM_OFI_EVENTS=$2 SHMEM_STATS=1 SHMEM_LOG=info:ofi \
        SHMEM_OFI_PROVIDER='tcp;ofi_rxm' try 2 --ppn 1 ./computes
    [ $status -eq 0 ] || fail "SHMEM_OFI_EVENTS=$2: status $status"
    grep -q "progress by $1" "$err" ||
        fail "no progress by $1: $(head -n 3 "$err")"
    n=$(sed -n 's/.*PE 1 .*progress thread: \([0-9]*\) sleeps/\1/p' "$err")
    [ -n "$n" ] || fail "no number of sleeps: $(head -n 3 "$err")"
}

sleeps events 1
few=$n
sleeps 'polling at intervals' 0
echo "a second of computing: $few sleeps on sockets, $n in place of them"
[ $((3 * few)) -lt "$n" ] || fail "$few sleeps, $n where it polls"
finish 'sleeps on sockets'
