#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a wait of the host for a message, a partitioned message or a
# partitioned collective names a far partner that answers nothing, and SHMEM_TIMEOUT
# ends the job.
# Light: it waits for what is stopped
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
export SHMEM_DEVICE=software SHMEM_STALL=1 SHMEM_TIMEOUT=3

program bad <<'C'
#include <shmemx_pcoll.h>
static double a[8], b[8];

/* One end each: PE 0 sends, or it receives. */
static void ends(int sends, int parts, shmemx_req_t *r)
{
    int other = !shmem_my_pe();

    if (!parts && sends)
        shmemx_send_init(a, 8, other, 3, r);
    else if (!parts)
        shmemx_recv_init(b, 8, other, 3, r);
    else if (sends)
        shmemx_psend_init(a, 8, 8, other, 3, r);
    else
        shmemx_precv_init(b, 8, 8, other, 3, r);
    shmemx_match(*r);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    shmemx_stream_t s;
    shmemx_queue_t q;
    shmemx_req_t r;
    int me;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    shmemx_stream_create(&s);
    shmemx_queue_create(s, NULL, 0, &q);
    if (!strcmp(word, "psend"))
        ends(!me, 1, &r);
    else if (!strcmp(word, "precv"))
        ends(me, 1, &r);
    else if (!strcmp(word, "sum"))
        shmemx_pallreduce_init(SHMEM_TEAM_WORLD, b, a, 8, 1, SHMEMX_DOUBLE,
                               SHMEMX_SUM, &r);
    else
        ends(me, 0, &r);
    shmem_barrier_all();
    if (me) {
        usleep(300000);
        raise(SIGSTOP);
    }
    if (!strcmp(word, "req") || !strcmp(word, "queue"))
        shmemx_enqueue_startall(q, 1, &r);
    else
        shmemx_req_start(r);
    usleep(600000);
    if (!strcmp(word, "psend") || !strcmp(word, "sum"))
        shmemx_pready_range(r, 0, 7);
    return strcmp(word, "queue") ? shmemx_req_wait(r) : shmemx_queue_wait(q);
}
C

# lost WORD CALL WHAT
lost()
{
    try 2 --ppn 1 ./bad "$1"
    ended 1 "$1"
    grep -qE "PE 0 \([^ ]+\): $2 waits for [0-9]+ s for $3; silent is PE 1 \(host [^ ]+, asked [0-9]+ s ago, no answer\) \[S-W-STALL\]\$" "$err" ||
        fail "$1: no wait for '$3': $(cat "$err")"
    grep -qE 'PE 0 \([^ ]+\): no answer from PE 1 \(host [^ ]+\) in 3 s \(SHMEM_TIMEOUT\): .*\[S-E-NET\]' "$err" ||
        fail "$1: no end: $(cat "$err")"
}

beside lost psend shmemx_req_wait 'a partitioned send to PE 1, tag 3: .*'
beside lost precv shmemx_req_wait '8 of 8 transport partitions from PE 1, tag 3, .*'
beside lost sum shmemx_req_wait 'a request of shmemx_pallreduce_init: .*'
beside lost req shmemx_req_wait 'a message from PE 1, tag 3, .*'
beside lost queue shmemx_queue_wait 'a message from PE 1, tag 3, .*'
together
finish 'a stopped partner'
