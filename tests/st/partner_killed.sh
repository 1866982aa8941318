#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: whatever a PE is at with a message when its partner is killed,
# the job ends within 2 s and one line names the PE that died.
# Light: jobs start one by one
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
#include <shmemx_st.h>
static char out[300000], in[300000];

int main(int argc, char **argv)
{
    const char *word = argv[1];
    shmemx_req_t r[2], more = NULL, match;
    shmemx_stream_t s;
    shmemx_queue_t q;
    int me, other, flag = 0, rc;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    other = !me;
    rc = shmemx_stream_create(&s) || shmemx_queue_create(s, NULL, 0, &q) ||
         shmemx_send_init(out, sizeof out, other, 1, &r[0]) ||
         shmemx_recv_init(in, sizeof in, other, 1, &r[1]) ||
         shmemx_matchall(2, r);
    if (rc)
        return printf("%d\n", rc);
    shmem_barrier_all();
    if (me) {
        usleep(30000);          /* until the other is where it waits */
        raise(SIGKILL);
    }
    CASE(recv) {
        shmemx_enqueue_startall(q, 1, &r[1]);
        shmemx_enqueue_wait(q);
        shmemx_stream_sync(s);
    }
    CASE(send) {
        shmemx_enqueue_startall(q, 1, &r[0]);
        shmemx_enqueue_wait(q);
        shmemx_stream_sync(s);
    }
    CASE(host) {
        shmemx_enqueue_startall(q, 2, r);
        shmemx_req_wait(r[1]);
    }
    CASE(once) {
        shmemx_enqueue_send(q, out, sizeof out, 1, 1, NULL);
        shmemx_enqueue_recv(q, in, sizeof in, 1, 1, NULL);
        shmemx_enqueue_start(q);
        shmemx_queue_wait(q);
    }
    CASE(match) {
        shmemx_send_init(out, 8, 1, 2, &more);
        shmemx_match(more);
    }
    CASE(imatch) {
        shmemx_send_init(out, 8, 1, 2, &more);
        shmemx_imatch(more, &match);
        while (!flag)
            shmemx_req_test(match, &flag);
    }
    sleep(20);                  /* the launcher ends it */
    return 0;
}
C

program rounds <<'C'
#include <shmemx_st.h>
#include <stdbool.h>
static char out[300000], in[300000];

static void *die(void *arg)
{
    (void)arg;
    usleep(20000 + (useconds_t)getpid() % 64 * 1000);
    kill(getpid(), SIGKILL);
    return NULL;
}

/* PE 0 sends, receives or both, as the word says, until PE 1 is killed. */
int main(int argc, char **argv)
{
    const char *word = argv[1];
    size_t bytes = (size_t)atol(argv[2]);
    bool ready = argc > 3, both = !strcmp(word, "both");
    bool sends, receives;
    shmemx_req_t r[2];
    shmemx_stream_t s;
    shmemx_queue_t q;
    pthread_t t;
    int me, n = 0;

    shmem_init();
    me = shmem_my_pe();
    sends = both || !strcmp(word, me ? "receive" : "send");
    receives = both || !sends;
    if (shmemx_stream_create(&s) || shmemx_queue_create(s, NULL, 0, &q))
        return 1;
    if (sends)
        (ready ? shmemx_rsend_init : shmemx_send_init)(out, bytes, !me, 1,
                                                       &r[n++]);
    if (receives)
        shmemx_recv_init(in, bytes, !me, 1, &r[n++]);
    if (shmemx_matchall(n, r))
        return 2;
    shmem_barrier_all();
    if (me)
        pthread_create(&t, NULL, die, NULL);
    for (long k = 0;; k++) {
        shmemx_enqueue_startall(q, n, r);
        shmemx_enqueue_waitall(q, n, r);
        if (k % 8 == 0)
            shmemx_stream_sync(s);
    }
}
C

# dies WORD PPN [PROGRAM ARGUMENT...]; what was on its way to the dead one in a
# round may be told of before the job has ended.
dies()
{
    word=$1 ppn=$2
    shift 2
    [ $# -gt 0 ] || set -- ./bad
    prog=$1
    shift
    try 2 --ppn "$ppn" "$prog" "$word" "$@"
    what="$prog $word $*, $ppn on a node"
    [ "$status" -eq 137 ] || fail "$what: exit status $status: $(cat "$err")"
    [ "$prog" = ./bad ] ||
        sed -i -e "/^sluice: PE 0 .* failed: .*, PE 1 .*\\[S-W-STREAM\\]\$/d" \
            -e "/^sluice: PE 0 .*: further lines of this kind are not printed/d" "$err"
    said "$what" "oshrun: PE 1 \\([^ ]+, pid [0-9]+\\) was killed by signal 9 \\(Killed\\); ending the other PE \\[S-E-PEDIED\\]"
    soon "$what"
}

for word in recv send host once match imatch; do
    beside dies "$word" 2
    beside dies "$word" 1
    together
done
# In the middle of rounds, by each way.
cxi_dies()
{
    SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH=$BUILD/obj/tests/fake/cxi
    export SHMEM_OFI_PROVIDER FI_PROVIDER_PATH
    dies "$@"
}
for word in send receive both; do
    for bytes in 8 300000; do
        beside dies "$word" 2 ./rounds "$bytes"
        beside dies "$word" 1 ./rounds "$bytes"
        beside dies "$word" 1 ./rounds "$bytes" ready
        beside cxi_dies "$word" 1 ./rounds "$bytes"
        together
    done
done
finish 'partners that are gone'
