/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stream whose first operation is on a far PE that this one has
 * never talked to, and that answers nothing, holds no other stream up, and no
 * message: PE 5 is stopped meanwhile.  What is waited for is done when it is
 * back; where it does not come back, the job ends.  On GPUs, the progress
 * thread does it all: see stopped_peer_first_contact_gpu.sh.
 * PEs: 6
 * Launch: --ppn 1
 * Env: SHMEM_STALL=0
 * Timeout: 60 */
#include "st.h"

#include <signal.h>
#include <unistd.h>

/* Neither is a partner of the other in a barrier. */
enum { ACTOR = 2, OFF_NODE = 5 };

static long words[6], pid, was, got[2], one = 42;
static uint64_t sig, sig2;
static bool stays;

/* From PE to PE: the actor must not talk to it. */
static pid_t pid_of_off_node(void)
{
    pid = getpid();
    shmem_barrier_all();
    for (int to = OFF_NODE - 1; to >= ACTOR; to--) {
        if (me == to + 1)
            shmem_long_p(&pid, pid, to);
        shmem_barrier_all();
    }
    return (pid_t)pid;
}

/* Each on a stream of its own. */
static void put(shmemx_stream_t s)
{
    T_EQ(shmemx_long_put_on_stream(&words[0], &one, 1, OFF_NODE, s), 0);
}

static void set_signal(shmemx_stream_t s)
{
    T_EQ(shmemx_signal_set_on_stream(&sig, 42, OFF_NODE, s), 0);
}

static void add(shmemx_stream_t s)
{
    T_EQ(shmemx_long_atomic_fetch_add_on_stream(&was, &words[1], 42, OFF_NODE,
                                                      s),
         0);
}

static void get(shmemx_stream_t s)
{
    T_EQ(shmemx_long_iget_on_stream(got, &words[2], 1, 2, 2, OFF_NODE, s), 0);
}

static void put_signal(shmemx_stream_t s)
{
    T_EQ(shmemx_long_put_signal_on_stream(&words[5], &one, 1, &sig2, 42,
                                          SHMEM_SIGNAL_ADD, OFF_NODE, s), 0);
}

static void (*const gives[])(shmemx_stream_t s) = {
    put, set_signal, add, get, put_signal
};
enum { GIVES = sizeof gives / sizeof *gives };

/* Nothing of PE 5's is needed for that. */
static void use(shmemx_stream_t s)
{
    static long back;

    back = 0;
    T_EQ(shmemx_long_put_on_stream(&words[3], &one, 1, 1, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_long_get_on_stream(&back, &words[3], 1, 1, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_TRUE(st_ends(s));
    T_EQ(back, 42);
}

/* stays: PE 5 does not come back, which ends the job. */
static void holds_nothing_up(pid_t off_node)
{
    shmemx_stream_t s[GIVES], other = st_make();

    use(other);
    T_EQ(kill(off_node, SIGSTOP), 0);
    usleep(20000);
    for (int i = 0; i < GIVES; i++) {
        s[i] = st_make();
        gives[i](s[i]);
        T_EQ(shmemx_quiet_on_stream(s[i]), 0);
        use(other);
    }
    for (int i = 0; i < GIVES; i++)
        T_EQ(shmemx_stream_query(s[i]), -EAGAIN);
    T_TRUE(stays || !kill(off_node, SIGCONT));
    for (int i = 0; i < GIVES; i++) {
        T_EQ(shmemx_stream_sync(s[i]), 0);
        T_EQ(shmemx_stream_destroy(s[i]), 0);
    }
    T_EQ(shmemx_stream_destroy(other), 0);
    T_EQ(got[0] + got[1], 7 + 9);
}

T(a_stranger_holds_no_other_stream_up)
{
    pid_t off_node = pid_of_off_node();

    words[2] = 7;
    words[4] = 9;
    shmem_barrier_all();
    if (me == ACTOR)
        holds_nothing_up(off_node);
    shmem_barrier_all();
    if (me == OFF_NODE) {
        T_EQ(words[0], 42);
        T_EQ(words[1], 42);
        T_EQ(words[5], 42);
        T_EQ(sig, 42);
        T_EQ(sig2, 42);
    }
}

int main(int argc, char **argv)
{
    stays = argc > 1 && !strcmp(argv[1], "stays");
    alarm(50);                  /* for a wait for the stopped PE */
    st_begin();
    T_RUN(a_stranger_holds_no_other_stream_up);
    return st_end();
}
