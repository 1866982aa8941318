#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a wait for a message that lasts names its PE and tag, and what
# that PE has sent with a tag that nobody receives.
# Light: it waits until it is reported
# Timeout: 30
set -u
. "$(dirname "$0")/../neg/neg.inc"

program tags <<'C'
#include <shmemx_st.h>
static char out[3], in[3];
static int rc;

/* Until a PE has printed a line with this text. */
static void printed(const char *text)
{
    static char all[1 << 16];

    for (int i = 0; i < 2000; i++) {
        FILE *f = fopen("lines", "r");

        all[f ? fread(all, 1, sizeof all - 1, f) : 0] = '\0';
        if (f)
            fclose(f);
        if (strstr(all, text))
            return;
        usleep(10000);
    }
}

/* Of PE 0's receives that for tag 7 comes late. */
static void match(int me)
{
    shmemx_req_t r[3], all;

    if (me) {                           /* what was freed is not missed */
        for (int tag = 100; tag < 140; tag++) {
            rc |= shmemx_send_init(&out[2], 1, 0, tag, &r[2]);
            rc |= shmemx_req_free(&r[2]);
        }
        rc |= shmemx_send_init(&out[2], 1, 0, 7, &r[2]);
        rc |= shmemx_imatchall(1, &r[2], &all);
        printed("there is no shmemx_recv_init");
        rc |= shmemx_recv_init(&in[0], 1, 0, 5, &r[0]);
        rc |= shmemx_send_init(&out[1], 1, 0, 6, &r[1]);
        rc |= shmemx_matchall(2, r);
        rc |= shmemx_req_wait(all) | shmemx_req_free(&all);
    } else {
        rc |= shmemx_send_init(&out[0], 1, 1, 5, &r[0]);
        rc |= shmemx_recv_init(&in[1], 1, 1, 6, &r[1]);
        rc |= shmemx_matchall(2, r);
        rc |= shmemx_recv_init(&in[2], 1, 1, 7, &r[2]);
        rc |= shmemx_matchall(1, &r[2]);
    }
    for (int i = 0; i < 3; i++)
        rc |= shmemx_req_free(&r[i]);
}

/* Tag 6 is received where 5 was sent, until there is another receive. */
static void once(int me, shmemx_queue_t q, shmemx_queue_t other)
{
    rc |= shmemx_enqueue_send(q, &out[0], 1, !me, 5, NULL);
    rc |= shmemx_enqueue_recv(q, &in[0], 1, !me, 6, NULL);
    rc |= shmemx_enqueue_start(q) | shmemx_enqueue_wait(q);
    printed("there is no shmemx_enqueue_recv");
    rc |= shmemx_enqueue_send(other, &out[1], 1, !me, 6, NULL);
    rc |= shmemx_enqueue_recv(other, &in[1], 1, !me, 5, NULL);
    rc |= shmemx_enqueue_start(other) | shmemx_enqueue_wait(other);
    rc |= shmemx_queue_wait(other) | shmemx_queue_wait(q);
}

int main(void)
{
    shmemx_stream_t s[2];
    shmemx_queue_t q[2];

    shmem_init();
    for (int i = 0; i < 2; i++) {
        rc |= shmemx_stream_create(&s[i]);
        rc |= shmemx_queue_create(s[i], NULL, 0, &q[i]);
    }
    match(shmem_my_pe());
    shmem_barrier_all();
    once(shmem_my_pe(), q[0], q[1]);
    shmem_finalize();
    return rc != 0;
}
C

# reported WHAT PE, of any PE
reported()
{
    grep -qE "^sluice: PE [01] \\([^ ]+\\): $1" "$err" ||
        fail "no '$1' in: $(cat "$err")"
}

for nodes in '' '--ppn 1'; do
    rm -f lines
    # shellcheck disable=SC2086
    SHMEM_STALL=1 SHMEM_STALL_FILE=lines SHMEM_DEVICE=software try 2 $nodes ./tags
    ended 0 "tags $nodes"
    reported 'shmemx_matchall waits for [12] s for the receive of request 0, tag 5, and 1 more \(PE 1 sends tag 7, for which there is no shmemx_recv_init here\); to be matched by PE 1 '
    reported 'stream 0x[0-9a-f]+: shmemx_enqueue_wait waits for [12] s for PE ([01]) to take a message, tag 5 \(PE \1 sends tag 5, for which there is no shmemx_enqueue_recv here\); to be raised by PE '
done
finish 'tags that do not meet'
