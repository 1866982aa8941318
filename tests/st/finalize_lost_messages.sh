#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_finalize counts messages that came and whose receives were
# not started, also of receives that were freed; SHMEM_CHECK tells of ready
# sends that came before their receives were started.
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
#include <shmemx_st.h>
int main(int argc, char **argv)
{
    const char *word = argv[1];
    long *x, value = 1;
    shmemx_req_t r[2];
    shmemx_stream_t s;
    shmemx_queue_t q;
    int me, rounds = 0;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    x = shmem_calloc(2, sizeof *x);
    if (shmemx_stream_create(&s) || shmemx_queue_create(s, NULL, 0, &q))
        return 1;
    for (int i = 0; i < 2; i++)
        if (me ? shmemx_recv_init(x + i, sizeof *x, 0, 7 + i, r + i)
               : strcmp(word, "ready") && strcmp(word, "hasty")
                     ? shmemx_send_init(&value, sizeof value, 1, 7 + i, r + i)
                     : shmemx_rsend_init(&value, sizeof value, 1, 7 + i, r + i))
            return 2;
    if (shmemx_matchall(2, r))
        return 3;
    if (!strcmp(word, "none"))
        rounds = 2;
    CASE(hasty) rounds = 3;
    CASE(ready) rounds = me ? 1 : 2;
    else
        rounds = !me;
    shmem_barrier_all();
    for (int k = 0; k < rounds; k++) {
        int n = strcmp(word, "one") ? 2 : 1;

        if (!strcmp(word, "hasty")) {
            shmemx_stream_sync(s);
            shmem_barrier_all();
            if (me)
                shmem_barrier_all();
        }
        if (shmemx_enqueue_startall(q, n, r) || shmemx_enqueue_waitall(q, n, r))
            return 4;
        if (!strcmp(word, "hasty") && !me) {
            shmemx_stream_sync(s);
            shmem_barrier_all();
        }
    }
    shmemx_stream_sync(s);
    shmem_barrier_all();
    for (int i = 0; i < 2 && !strcmp(word, "freed"); i++)
        shmemx_req_free(r + i);
    shmem_finalize();
    return 0;
}
C

lost=': what was sent is lost'
for where in '' '--ppn 1'; do
    # shellcheck disable=SC2086
    {
        finalize_says 1 one "1 message came whose receive was not started, from PE 0, tag 7$lost" $where
        finalize_says 1 freed "2 messages came whose receives were not started, one of them from PE 0, tag [78]$lost" $where
        finalize_says 1 ready "2 messages came whose receives were not started, one of them from PE 0, tag [78]$lost" $where
        try 2 $where ./bad none
        ended 0 none
        [ ! -s "$err" ] || fail "none: $(cat "$err")"
        try 2 $where ./bad hasty
        ended 0 hasty
        [ ! -s "$err" ] || fail "hasty: $(cat "$err")"
        export SHMEM_CHECK=1
        try 2 $where ./bad hasty
        unset SHMEM_CHECK
        ended 0 'hasty, checked'
        for tag in 7 8; do
            line="sluice: PE 1 ([^ ]*): shmemx_enqueue_startall: the message from PE 0, tag $tag, of shmemx_rsend_init came before its receive was started; its sender has to know of that start [[]S-W-STREAM[]]"
            [ "$(grep -cx "$line" "$err")" -eq 1 ] ||
                fail "hasty: not '$line' once but '$(cat "$err")'"
        done
    }
done
finish 'messages that nobody received are told of'
