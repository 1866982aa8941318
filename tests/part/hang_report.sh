#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: at SIGUSR2 a PE that waits for a partitioned message or collective,
# or for a trigger, names partitions, partner and tag, near and far.
# Light: PEs wait until they are asked
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
export SHMEM_DEVICE=software SHMEM_TIMEOUT=0 SHMEM_STALL=0

program stuck <<'C'
#include <shmemx_pcoll.h>
static long a[64], b[64];
static uint64_t sig;

int main(int argc, char **argv)
{
    const char *word = argv[1];
    shmemx_req_t ends[2], sum;
    shmemx_trig_t trig;
    char ready[32];
    int me, other;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    other = 1 - me;
    snprintf(ready, sizeof ready, "%s.%d", word, me);
    fclose(fopen(ready, "w"));
    if (!strcmp(word, "message")) {
        shmemx_psend_init(a, 8, 8, other, 7, &ends[0]);
        shmemx_precv_init(b, 8, 8, other, 7, &ends[1]);
        shmemx_matchall(2, ends);
        shmemx_req_startall(2, ends);
        shmemx_pready(ends[0], 3);
        shmemx_req_wait(ends[1]);
    } else if (!strcmp(word, "collective")) {
        shmemx_pallreduce_init(SHMEM_TEAM_WORLD, b, a, 4, 4, SHMEMX_INT64,
                               SHMEMX_SUM, &sum);
        shmemx_req_start(sum);
        shmemx_pready(sum, 2);
        shmemx_req_wait(sum);
    } else {
        shmemx_trig_create(SHMEM_CTX_DEFAULT, 4, NULL, 0, &trig);
        shmemx_trig_put(trig, 2, 5, b, a, 8, other);
        shmemx_trig_hit(trig, 2, 3);
        if (!strcmp(word, "signal"))
            shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
        shmemx_trig_wait(trig, 2, 1);
    }
    return 1;
}
C

# asked WORD PPN REGEX: what PE 0 says, once it waits.
asked()
{
    rm -f "$1".[01]
    "$bin/oshrun" -n 2 --ppn "$2" ./stuck "$1" >"$out" 2>"$err" </dev/null &
    job=$!
    until [ -e "$1.0" ] && [ -e "$1.1" ] || ! kill -0 $job 2>/dev/null; do
        sleep 0.1
    done
    until grep -qE "PE 0 \([^ ]+\): in $3" "$err" ||
        [ $((tries = ${tries:-0} + 1)) -gt 20 ]; do
        sleep 1
        kill -USR2 $job
    done
    kill -TERM $job
    wait $job 2>/dev/null
    grep -qE "PE 0 \([^ ]+\): in $3" "$err" ||
        fail "$1, --ppn $2: no '$3': $(head -n 4 "$err")"
}

for ppn in 2 1; do
    beside asked message $ppn 'shmemx_req_wait for [0-9]+ s, waiting for 7 of 8 transport partitions from PE 1, tag 7, the first of them number 0'
    beside asked collective $ppn 'shmemx_req_wait for [0-9]+ s, waiting for a request of shmemx_pallreduce_init: 3 of 4 partitions have not arrived, and number 0, .* is not ready'
    beside asked trigger $ppn 'shmemx_trig_wait for [0-9]+ s, waiting for .*; tag 2 of a trigger: 3 hits so far, the next operation wants 5'
    beside asked signal $ppn 'shmem_signal_wait_until for [0-9]+ s, waiting for 0 to be == 1 at .*; 1 operation of triggers not done: tag 2 of a trigger: 3 hits so far, the next operation wants 5'
    together
done
finish 'partitions and tags in the hang report'
