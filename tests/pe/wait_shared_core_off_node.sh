#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: nodes that SHMEM_PPN makes share the cores of their machine: two
# PEs of two nodes on one core know that, and yield with each look but the first
# in place of looking for a time.  SHMEM_STATS counts; no time is judged.
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

cat >turns.c <<'C'
#include <shmem.h>

enum { TURNS = 200 };
static uint64_t ball;

int main(void)
{
    shmem_init();
    for (uint64_t n = 1; n <= TURNS; n++) {
        if (shmem_my_pe() == 1)
            shmem_uint64_wait_until(&ball, SHMEM_CMP_GE, n);
        shmem_uint64_p(&ball, n, 1 - shmem_my_pe());
        if (shmem_my_pe() == 0)
            shmem_uint64_wait_until(&ball, SHMEM_CMP_GE, n);
    }
    shmem_finalize();
    return 0;
}
C
"$BUILD/bin/oshcc" -o turns turns.c || exit 1
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
SHMEM_STATS=1 SHMEM_LOG=info:core taskset -c "$cpu" "$BUILD/bin/oshrun" -n 2 \
    --ppn 1 --bind-to none ./turns >out 2>&1
status=$?
cat out
[ $status -eq 0 ] || exit 1
grep -q "2 PEs on 1 cores of the machine" out || {
    echo "the PEs do not know that they share a core"; exit 1; }
# Each look is followed by a yield or by a sleep, but where something came.
awk '/waits: / {
    for (i = 1; i < NF; i++) {
        if ($(i + 1) ~ /^polls/) looks = $i
        if ($(i + 1) ~ /^yields/) yields = $i
        if ($(i + 1) ~ /^sleeps/) sleeps = $i
    }
    n++
    if (looks > 3 * (yields + sleeps) + 100) {
        print "PE looks " looks " times, yields " yields; bad = 1
    }
} END { exit bad || n != 2 }' out
