#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: memory of a message's, a put's or a reduction's buffer that is
# given back before its request is reported in one line, and no other memory is.
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
#include <shmemx_st.h>
enum { SIZE = 100000 };

static shmemx_stream_t s;
static shmemx_queue_t q;

static void must(int rc)
{
    if (!rc)
        return;
    printf("%d\n", rc);
    shmem_global_exit(3);
}

/* What is sent and received there, once. */
static void go_once(char *buf)
{
    must(shmemx_enqueue_recv(q, buf, 8, 0, 1, NULL));
    must(shmemx_enqueue_send(q, buf + 8, 8, 0, 1, NULL));
    must(shmemx_enqueue_start(q));
    must(shmemx_queue_wait(q));
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    shmem_space_config_t config = { .size = 2 << 20 };
    shmem_space_t space;
    shmemx_req_t r[2];
    char *buf, *beside;

    (void)argc;
    shmem_init();
    must(shmemx_stream_create(&s));
    must(shmemx_queue_create(s, NULL, 0, &q));
    buf = shmem_malloc(SIZE);
    beside = shmem_malloc(SIZE);
    if (!strcmp(word, "device")) {
        beside = shmem_space_malloc(SHMEM_SPACE_DEVICE, SIZE);
        must(shmemx_send_init(beside, SIZE, 0, 7, &r[0]));
        shmem_space_free(SHMEM_SPACE_DEVICE, beside);
    }
    CASE(send) {
        must(shmemx_send_init(buf + SIZE - 1, 1, 0, 7, &r[0]));
        shmem_free(beside);
        shmem_free(buf);
    }
    CASE(ready) {
        must(shmemx_rsend_init(buf, 8, 0, 7, &r[0]));
        shmem_free(buf);
    }
    CASE(matched) {
        must(shmemx_recv_init(buf + 50, 1000, 0, 7, &r[0]));
        must(shmemx_send_init(beside, 1000, 0, 7, &r[1]));
        must(shmemx_matchall(2, r));
        must(shmemx_req_free(&r[1]));
        shmem_free(beside);
        shmem_free(buf);
    }
    CASE(started) {
        must(shmemx_recv_init(buf, 8, 0, 7, &r[0]));
        must(shmemx_send_init(&q, 8, 0, 7, &r[1]));
        must(shmemx_matchall(2, r));
        shmem_free(buf);
        if (shmemx_enqueue_startall(q, 2, r) != -EINVAL)
            must(1);
    }
    CASE(both) {
        must(shmemx_recv_init(buf, 8, 0, 7, &r[0]));
        must(shmemx_send_init(buf + 8, 8, 0, 7, &r[1]));
        must(shmemx_matchall(2, r));
        must(shmemx_enqueue_startall(q, 2, r));
        must(shmemx_enqueue_waitall(q, 2, r));
        shmem_free(buf);
        must(shmemx_queue_wait(q));
    }
    CASE(moves) {
        must(shmemx_recv_init(buf + 10, 8, 0, 7, &r[0]));
        shmem_realloc(buf, 2 * SIZE);
    }
    CASE(shrinks) {
        must(shmemx_recv_init(buf + SIZE / 2, 8, 0, 7, &r[0]));
        shmem_realloc(buf, SIZE / 4);
    }
    CASE(space) {
        must(shmem_space_create(&config, &space, NULL));
        must(shmemx_recv_init(shmem_space_malloc(space, 8), 8, 0, 7, &r[0]));
        must(shmem_space_destroy(space));
    }
    CASE(once) {
        must(shmemx_enqueue_recv(q, buf, 8, 0, 7, NULL));
        must(shmemx_enqueue_start(q));
        shmem_free(buf);
        must(shmemx_enqueue_send(q, &q, 8, 0, 7, NULL));
        must(shmemx_enqueue_start(q));
        must(shmemx_queue_wait(q));
    }
    CASE(coming) {              /* matched, and the sender's stream waits */
        static uint64_t go;
        shmemx_stream_t other;
        shmemx_queue_t sends;

        must(shmemx_stream_create(&other));
        must(shmemx_queue_create(other, NULL, 0, &sends));
        must(shmemx_uint64_wait_until_on_stream(&go, SHMEM_CMP_GE, 1, other));
        must(shmemx_enqueue_send(sends, beside, SIZE, 0, 7, NULL));
        must(shmemx_enqueue_start(sends));
        must(shmemx_enqueue_recv(q, buf, SIZE, 0, 7, NULL));
        must(shmemx_enqueue_start(q));
        usleep(200000);
        shmem_free(buf);
        shmem_uint64_p(&go, 1, 0);
        must(shmemx_queue_wait(q));
        must(shmemx_queue_wait(sends));
    }
    CASE(source) {
        must(shmemx_put_init(beside, buf + SIZE - 8, 8, 0, &r[0]));
        shmem_free(buf);
    }
    CASE(dest) {
        must(shmemx_put_init(buf, &q, 8, 0, &r[0]));
        must(shmemx_put_init(beside, &q, 8, 0, &r[1]));
        must(shmemx_enqueue_startall(q, 1, r));
        must(shmemx_queue_wait(q));
        shmem_free(buf);
        must(shmemx_req_free(&r[1]));
        must(shmemx_req_free(&r[0]));
        shmem_free(beside);
    }
    CASE(signal) {
        must(shmemx_put_signal_init(beside, &q, 8, (uint64_t *)buf, 1,
                                    SHMEM_SIGNAL_SET, 0, &r[0]));
        shmem_free(buf);
    }
    CASE(sums) {
        must(shmemx_allreduce_init(SHMEM_TEAM_WORLD, beside, buf, SIZE / 8,
                                   SHMEMX_INT64, SHMEMX_SUM, &r[0]));
        shmem_free(buf);
    }
    CASE(total) {
        must(shmemx_allreduce_init(SHMEM_TEAM_WORLD, buf, beside, SIZE / 8,
                                   SHMEMX_INT64, SHMEMX_SUM, &r[0]));
        shmem_free(buf);
    }
    CASE(silent) {              /* over, broken, freed, kept, empty, private */
        go_once(buf);
        must(shmemx_recv_init(buf, 8, 0, 7, &r[0]));
        must(shmemx_send_init(buf, 9, 0, 7, &r[1]));
        if (shmemx_matchall(2, r) != -EMSGSIZE)
            must(1);
        must(shmemx_send_init(buf, 8, 0, 2, &r[0]));
        must(shmemx_recv_init(buf, 8, 0, 3, &r[1]));
        must(shmemx_req_free(&r[0]));
        must(shmemx_req_free(&r[1]));
        must(shmemx_recv_init(beside, 8, 0, 8, &r[0]));
        must(shmemx_recv_init(buf + 8, 0, 0, 8, &r[0]));
        must(shmemx_send_init(&q, 8, 0, 5, &r[0]));
        must(shmemx_put_init(beside, buf, 0, 0, &r[0]));
        must(shmemx_put_init(buf, beside, 8, 0, &r[0]));
        must(shmemx_req_free(&r[0]));
        must(shmemx_allreduce_init(SHMEM_TEAM_WORLD, buf, buf, SIZE / 8,
                                   SHMEMX_INT64, SHMEMX_SUM, &r[0]));
        must(shmemx_req_free(&r[0]));
        if (shmem_realloc(beside, SIZE / 2) != beside)
            must(2);
        shmem_free(buf);
    }
    shmem_finalize();
    return 0;
}
C

# prints WORD CALL BYTES WHOSE
prints()
{
    try 0 "$bad" "$1"
    ended 0 "$1"
    said "$1" "sluice: PE 0 \\([^ ]+\\): $2: $3 bytes at 0x[0-9a-f]+ are in use: $4; they are freed all the same: free requests or reset triggers before their buffers \\[S-W-FREE\\]"
}

prints send shmem_free 100000 'a send to PE 0, tag 7'
prints ready shmem_free 100000 'a ready send to PE 0, tag 7'
prints matched shmem_free 100000 'a receive from PE 0, tag 7'
prints both shmem_free 100000 'a (send to|receive from) PE 0, tag 7 and 1 more'
prints moves shmem_realloc 100000 'a receive from PE 0, tag 7'
prints shrinks shmem_realloc 75000 'a receive from PE 0, tag 7'
prints space shmem_space_destroy 2097152 'a receive from PE 0, tag 7'
prints once shmem_free 100000 'a receive from PE 0, tag 7'
prints coming shmem_free 100000 'a receive from PE 0, tag 7'
prints source shmem_free 100000 'a request of a put to PE 0'
prints dest shmem_free 100000 'a request of a put to PE 0'
prints signal shmem_free 100000 'a request of a put to PE 0'
prints sums shmem_free 100000 "a reduction's request"
prints total shmem_free 100000 "a reduction's request"
prints device shmem_free 100000 'a send to PE 0, tag 7'

try 0 "$bad" started
ended 0 started
sed -n 2p "$err" | grep -qE 'shmemx_enqueue_startall: request 0 \(receive from PE 0, tag 7\): its buffer was freed: not enqueued \[S-W-FREE\]' ||
    fail "started: $(cat "$err")"

try 0 "$bad" silent
ended 0 silent
[ "$(grep -c . "$err")" -eq "$(grep -c 'S-W-SIZE' "$err")" ] ||
    fail "silent: $(head -n 5 "$err")"
finish 'memory of requests'
