#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a kernel's wrong use of a receive is named by a PE that has no other
# request and no trigger, and shmem_finalize names messages that have not ended.
# Light: short jobs, which end early
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
export SHMEM_DEVICE=software

program bad <<'C'
#include <shmemx_part.h>
static long a[8], b[8];
static shmemx_prequest_t in;
static const char *word;

static void kernel(const shmemx_item_t *it, void *arg)
{
    (void)it;
    (void)arg;
    if (!strcmp(word, "waits"))
        shmemx_dev_parrived_wait(&in, 2);
    CASE(ready) shmemx_dev_pready(&in, 3);
}

int main(int argc, char **argv)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_req_t r;
    int me;

    (void)argc;
    word = argv[1];
    shmem_init();
    me = shmem_my_pe();
    if (me == 0)
        shmemx_psend_init(a, 8, 8, 1, 5, &r);
    else
        shmemx_precv_init(b, 8, 8, 0, 5, &r);
    shmemx_match(r);
    if (!strcmp(word, "ends")) {
        shmemx_req_start(r);
        if (me == 0)
            shmemx_pready_range(r, 0, 6);
        shmem_barrier_all();
    } else if (me == 1) {
        shmemx_stream_t s;

        shmemx_prequest_create(r, NULL, 0, &in);
        shmemx_stream_create(&s);
        shmemx_stream_launch(s, &grid, kernel, NULL);
        shmemx_stream_sync(s);
    }
    shmem_finalize();
    return 0;
}
C

# wrong WORD PPN LINE
wrong()
{
    try 2 --ppn "$2" ./bad "$1"
    ended 1 "$1, --ppn $2"
    grep -qxE "sluice: PE 1 \([^ ]+\): $3 \[S-E-ARG\]" "$err" ||
        fail "$1, --ppn $2: no '$3': $(cat "$err")"
}

# unended PPN
unended()
{
    try 2 --ppn "$1" ./bad ends
    ended 0 "ends, --ppn $1"
    grep -qE 'PE 0 \([^ ]+\): shmem_finalize: 1 partitioned message was started and has not ended, .*PE 1, tag 5.*: it is never done; shmemx_req_wait\(\) comes before \[S-W-STREAM\]' "$err" &&
        grep -qE 'PE 1 \([^ ]+\): shmem_finalize: 1 partitioned message was started and has not ended, .*PE 0, tag 5.*: it is never done;' "$err" ||
        fail "ends, --ppn $1: $(cat "$err")"
}

for ppn in 2 1; do
    beside wrong waits $ppn 'shmemx_dev_parrived: partition 2, in a kernel of this PE: the request is not started'
    beside wrong ready $ppn 'shmemx_dev_pready: partition 3, in a kernel of this PE: the request receives'
    beside unended $ppn
done
together
finish 'a PE with one end'
