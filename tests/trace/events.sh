#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a trace has the calls, transfers, waits, steps of streams,
# messages, triggers and partitions of all PEs, with arrows from what was stored
# to what saw it, near and far; it is JSON that Chrome and Perfetto read.
# Timeout: 120
. "$(dirname "$0")/trace.inc"

program traced <<'C'
#include <shmemx_part.h>
#include <shmemx_st.h>
#include <shmemx_trig.h>
static long word;
static int me, next;

static void calls(void)
{
    long *a = shmem_calloc(64, sizeof *a), *b = a + 32;
    uint64_t *sig = shmem_calloc(1, sizeof *sig);
    shmem_ctx_t ctx;

    shmem_ctx_create(0, &ctx);
    for (long i = 1; i < 4; i++) {
        shmem_long_p(&word, i, next);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, i);
        shmem_ctx_long_p(ctx, a, i, next);
        shmem_long_put_signal(b, a, 16, sig, (uint64_t)i, SHMEM_SIGNAL_SET,
                              next);
        shmem_signal_wait_until(sig, SHMEM_CMP_GE, (uint64_t)i);
        (void)shmem_long_g(a, next);
        shmem_long_atomic_add(a + 16, 1, 0);
        (void)shmem_long_atomic_fetch_add(a + 17, 1, 0);
        shmem_quiet();
        shmem_barrier_all();
    }
    while (!shmem_long_test(&word, SHMEM_CMP_EQ, 3))
        ;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, b, a, 4);
    shmem_ctx_destroy(ctx);
    shmem_free(sig);
    shmem_free(a);
}

static void streams(void)
{
    long *a = shmem_space_calloc(SHMEM_SPACE_GPU, 64, sizeof *a);
    uint64_t *sig = shmem_space_calloc(SHMEM_SPACE_GPU, 1, sizeof *sig);
    shmemx_stream_t s;

    shmemx_stream_create(&s);
    for (uint64_t i = 1; i < 4; i++) {
        shmemx_long_put_signal_on_stream(a, a + 32, 32, sig, i,
                                         SHMEM_SIGNAL_SET, next, s);
        shmemx_signal_wait_until_on_stream(NULL, sig, SHMEM_CMP_GE, i, s);
    }
    shmemx_stream_sync(s);
    shmemx_stream_destroy(s);
    shmem_barrier_all();
}

static void messages(void)
{
    long *a = shmem_calloc(64, sizeof *a);
    shmemx_req_t r[2], p[2];
    shmemx_trig_t t;
    int flag = 0;

    shmemx_send_init(a, 64, next, 5, &r[0]);
    shmemx_recv_init(a + 16, 64, next, 5, &r[1]);
    shmemx_psend_init(a + 32, 4, 8, next, 6, &p[0]);
    shmemx_precv_init(a + 40, 4, 8, next, 6, &p[1]);
    shmemx_matchall(2, r);
    shmemx_matchall(2, p);
    shmemx_req_startall(2, p);
    for (int i = 0; i < 4; i++)
        shmemx_pready(p[0], 3 - i);
    while (!flag)
        shmemx_parrived(p[1], 2, &flag);
    shmemx_req_wait(p[0]);
    shmemx_req_wait(p[1]);
    shmemx_queue_t q;
    shmemx_stream_t s;
    shmemx_stream_create(&s);
    shmemx_queue_create(s, NULL, 0, &q);
    shmemx_enqueue_startall(q, 2, r);
    shmemx_enqueue_waitall(q, 2, r);
    shmemx_stream_sync(s);
    shmemx_queue_destroy(q);
    shmemx_stream_destroy(s);
    shmemx_trig_create(SHMEM_CTX_DEFAULT, 8, NULL, 0, &t);
    shmemx_trig_put(t, 3, 2, a + 48, a, 8, next);
    shmemx_trig_hit(t, 3, 1);
    shmemx_trig_hit(t, 3, 1);
    shmemx_trig_wait(t, 3, 1);
    shmemx_trig_free(&t);
    for (int i = 0; i < 2; i++) {
        shmemx_req_free(&r[i]);
        shmemx_req_free(&p[i]);
    }
    shmem_barrier_all();
    shmem_free(a);
}

int main(int argc, char **argv)
{
    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    next = (me + 1) % shmem_n_pes();
    if (!strcmp(argv[1], "calls"))
        calls();
    else if (!strcmp(argv[1], "streams"))
        streams();
    else
        messages();
    shmem_finalize();
    return 0;
}
C

# arrows FROM TO: one from an event of that name on a PE to one on another.
arrow()
{
    holds "an arrow from $1 to $2" "
        [\$e[] | select(.name == \"$1\" and (.ph == \"X\" or .ph == \"i\"))] as \$from
        | [\$e[] | select(.name == \"$2\" and (.ph == \"X\" or .ph == \"i\"))] as \$to
        | (\$e | map(select(.ph == \"f\"))
           | map({ key: (.id | tostring), value: . }) | from_entries) as \$f
        | any(\$e[] | select(.ph == \"s\"); . as \$s | \$f[.id | tostring] as \$g
        | any(\$from[]; .pid == \$s.pid and .ts == \$s.ts)
          and any(\$to[]; .pid == \$g.pid and .pid != \$s.pid
                  and .ts <= \$g.ts + 0.001
                  and .ts + (.dur // 0) + 0.001 >= \$g.ts))"
}

for ppn in 2 1; do
    run_traced 2 calls --ppn $ppn
    well_formed
    for call in shmem_init shmem_finalize shmem_calloc shmem_barrier_all \
        shmem_ctx_create shmem_long_sum_reduce shmem_free; do
        holds "$call on both" "[\$e[] | select(.name == \"$call\" and
            .cat == \"call\" and .args.unfinished != true) | .pid] | unique == [0, 1]"
    done
    has shmem_long_p '.cat == "transfer" and .args.pe == 1 - .pid and .args.bytes == 8'
    has shmem_ctx_long_p '.args.pe == 1 - .pid'
    has shmem_long_g '.args.pe == 1 - .pid'
    has shmem_long_atomic_fetch_add '.args.pe == 0'
    has shmem_long_put_signal '.args["data bytes"] == 128'
    has shmem_quiet
    holds 'a test that holds, once' \
        '[$e[] | select(.name == "shmem_long_test")] | length == 2'
    holds 'three puts of each' \
        '[$e[] | select(.name == "shmem_long_p")] | length == 6'
    arrow shmem_long_p shmem_long_wait_until
    arrow shmem_long_put_signal shmem_signal_wait_until

    run_traced 2 streams --ppn $ppn
    well_formed
    has shmemx_long_put_signal_on_stream '.cat == "call"'
    has wait '.cat == "stream"'
    has thread_name '.args.name == "sluice-stream"'
    if [ $ppn = 2 ]; then
        arrow write wait
    else
        arrow shmemx_long_put_signal_on_stream wait
    fi

    run_traced 2 messages --ppn $ppn
    well_formed
    has 'RTS sent' '.cat == "message" and .args.tag == 5'
    has 'RTR sent' '.args.tag == 5 and .args.pe == 1 - .pid'
    holds 'the protocol' 'any($e[]; .args.tag == 5 and (.name | startswith("matched: ")))'
    has 'send started' '.args.tag == 5 and .args.start == 1'
    has 'receive started' '.args.tag == 5 and .args.start == 1'
    has 'matched: partitioned' '.args.tag == 6'
    holds 'each partition' '[$e[] | select(.name == "partition ready" and .pid == 0)
        | .args.partition] == [3, 2, 1, 0]'
    has 'partition arrived' '.args.partition == 2 and .args.tag == 6'
    has 'transport partition sent' '.args.tag == 6'
    has 'operation posted' '.cat == "trigger" and .args.pe == 1 - .pid and .args.tag == 3 and .args.threshold == 2'
    holds 'two hits' '[$e[] | select(.name == "hit" and .pid == 0)] | length == 2'
    has 'operation released' '.args.tag == 3'
    has 'operation completed' '.args.tag == 3'
done
finish 'calls, streams, messages, triggers and partitions in a trace'
