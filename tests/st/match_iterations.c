/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a pair goes on for as many rounds as there is time for, T_LONG
 * seconds (0.5) of each way to send, or T_ROUNDS of small messages, while both
 * sides are late now and then, and no round is lost, doubled or mixed with
 * another.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 40 */
#include "msg.h"

enum { AHEAD = 500, LARGE = 100000 };

static shmemx_stream_t s;
static shmemx_queue_t q;
static struct msg_work sent[AHEAD], came[AHEAD];
static char out[LARGE], in[LARGE + 8];
static uint64_t ready, readies;
static int continues;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(void)
{
    const char *text = getenv("T_LONG");

    return text ? atof(text) : 0.5;
}

/* 0: as many as there is time for. */
static long most(size_t bytes)
{
    const char *text = getenv("T_ROUNDS");

    return text && bytes < LARGE ? atol(text) : 0;
}

static void late(void)
{
    int k = msg_below(400);

    if (k == 0)
        usleep((useconds_t)msg_below(300));
    if (k == 1 || k == 2)
        msg_delay(s, 150);
}

static void one_round(struct msg_work *a, struct msg_work *b,
                      shmemx_req_t r[2], bool is_ready)
{
    T_EQ(shmemx_stream_call(s, msg_do_fill, a), 0);
    T_EQ(shmemx_stream_call(s, msg_do_before, b), 0);
    late();
    if (is_ready) {
        T_EQ(shmemx_enqueue_startall(q, 1, &r[1]), 0);
        T_EQ(shmemx_signal_add_on_stream(&ready, 1, prev, s), 0);
        T_EQ(shmemx_signal_wait_until_on_stream(NULL, &ready, SHMEM_CMP_GE,
                                                ++readies, s), 0);
        late();
        T_EQ(shmemx_enqueue_startall(q, 1, &r[0]), 0);
    } else {
        T_EQ(shmemx_enqueue_startall(q, 2, r), 0);
    }
    T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
    T_EQ(shmemx_stream_call(s, msg_do_smear, a), 0);
    T_EQ(shmemx_stream_call(s, msg_do_check, b), 0);
}

static void rounds(const char *what, size_t bytes, bool is_ready)
{
    double start = now();
    int ahead = msg_times(AHEAD, AHEAD / 4);
    long n = 0;
    shmemx_req_t r[2];
    bool more;

    memset(in, MSG_REST, sizeof in);
    T_EQ((is_ready ? shmemx_rsend_init : shmemx_send_init)(out, bytes, next, 2,
                                                           &r[0]), 0);
    T_EQ(shmemx_recv_init(in, bytes + 8, prev, 2, &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    do {
        for (int i = 0; i < ahead; i++, n++) {
            sent[i] = (struct msg_work){ out, bytes, 0,
                                         msg_key(me, next, 2, (int)n) };
            came[i] = (struct msg_work){ in, bytes, 8,
                                         msg_key(prev, me, 2, (int)n) };
            one_round(&sent[i], &came[i], r, is_ready);
        }
        T_EQ(shmemx_stream_sync(s), 0);
        /* One answer: the time may be over between one PE and the next. */
        more = most(bytes) ? n < most(bytes) : now() < start + seconds();
        for (int pe = 0; !me && pe < n_pes; pe++)
            shmem_int_p(&continues, more, pe);
        shmem_barrier_all();
    } while (continues);
    if (!me)
        printf("%s: %ld rounds, %.1f s\n", what, n, now() - start);
    T_EQ(shmemx_req_free(&r[0]), 0);
    T_EQ(shmemx_req_free(&r[1]), 0);
    shmem_barrier_all();
}

T(small_ones) { rounds("small", 40, false); }
T(large_ones) { rounds("large", LARGE, false); }
T(ready_ones) { rounds("ready", 40, true); }
T(large_ready_ones) { rounds("large and ready", LARGE, true); }

int main(void)
{
    st_begin();
    s = st_make();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_RUN(small_ones);
    T_RUN(large_ones);
    T_RUN(ready_ones);
    T_RUN(large_ready_ones);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}
