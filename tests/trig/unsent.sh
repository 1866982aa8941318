#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: operations of a trigger that have had their hits, and cannot be
# sent while their PE is stopped, are named at the end of the library's use.
# Light: shmem_finalize waits for ten seconds
set -u
. "$(dirname "$0")/../neg/neg.inc"
export SHMEM_DEVICE=software SHMEM_STALL=0

program bad <<'C'
#include "await_state.h"
#include <shmemx_trig.h>
enum { OPS = 200, BYTES = 1 << 20 };
static char a[BYTES], b[BYTES];
static long pid;

int main(void)
{
    shmemx_trig_t t;

    shmem_init();
    if (shmem_my_pe()) {
        shmem_long_p(&pid, getpid(), 0);
        printf("%d\n", (int)getpid());
        fflush(stdout);
        shmem_barrier_all();
        raise(SIGSTOP);
        shmem_finalize();
        return 0;
    }
    shmem_barrier_all();
    await_state(pid, 'T');
    if (shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, NULL, 0, &t))
        return 3;
    for (int i = 0; i < OPS; i++)
        if (shmemx_trig_put(t, 0, 1, a, b, BYTES, 1))
            return 3;
    shmemx_trig_hit(t, 0, 1);
    shmem_finalize();
    return 0;
}
C

"$bin/oshrun" -n 2 --ppn 1 ./bad >"$out" 2>"$err" </dev/null &
job=$!
until [ -s "$err" ] || ! kill -0 $job 2>/dev/null; do
    sleep 0.1
done
kill -CONT "$(cat "$out")"
wait $job || fail "status $?"
[ "$(wc -l <"$err")" -eq 1 ] && grep -qE 'PE 0 .*: shmem_finalize: [0-9]+ operations of triggers have had their hits and could not be sent, one of them shmemx_trig_put, PE 1, tag 0: they are never done \[S-W-STREAM\]$' "$err" ||
    fail "$(head -n 5 "$err")"
finish 'operations that cannot be sent are named'
