/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: while one thread of a PE waits in a fence, what another one asks
 * oshrun is answered, and each gets the answer to its own.  A descriptor for
 * which a PE has no room is reported with the limit. */
#include "unit.h"

#include "base/env.h"
#include "rt/rt.h"
#include "rt/rt_wire.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static sem_t fence_came;
static const char value[] = "what PE 1 has published";

static void reply(int session, enum rt_wire_type type, const char *text)
{
    struct rt_wire m = { .type = type, .value = text,
                         .value_size = text ? sizeof value : 0 };

    T_EQ(rt_wire_send(session, 0, &m, -1), 0);
}

static void pause_ms(void)
{
    usleep(100000);
}

/* As oshrun, whose other PE is late in the fence. */
static void *answer(void *arg)
{
    struct rt_wire_packet packet;
    struct rt_wire m;
    int session, fd;

    T_EQ(rt_wire_receive(*(int *)arg, 0, &packet, &m, &session), 0);
    T_EQ(m.type, RT_HELLO);
    reply(session, RT_ANSWER, NULL);
    while (rt_wire_receive(session, 0, &packet, &m, &fd) == 0) {
        if (m.type == RT_FENCE) {
            pause_ms();              /* the thread waits */
            sem_post(&fence_came);
        } else if (m.type == RT_GET) {
            pause_ms();              /* both wait */
            reply(session, RT_ANSWER, value);
            pause_ms();
            reply(session, RT_FENCED, NULL);
        } else if (m.type == RT_TAKE) {
            m = (struct rt_wire){ .type = RT_ANSWER };
            T_EQ(rt_wire_send(session, 0, &m, *(int *)arg), 0);
        }
    }
    close(session);
    return NULL;
}

static void *connect_all(void *arg)
{
    *(int *)arg = rt_fence();
    return NULL;
}

static void invite(int fd)
{
    struct stat st;
    char text[64];

    T_EQ(fstat(fd, &st), 0);
    snprintf(text, sizeof text, "%d:%llu", fd, (unsigned long long)st.st_ino);
    setenv(RT_JOB_CHANNEL, text, 1);
    setenv(RT_JOB_NAME, "job", 1);
    setenv(RT_JOB_PE, "0", 1);
    setenv(RT_JOB_PES, "2", 1);
    setenv(RT_JOB_LOCAL, "0-1", 1);
}

T(a_thread_asks_while_another_one_is_in_a_fence)
{
    pthread_t server, other;
    int ends[2], connected = -1;
    char got[sizeof value] = "";

    T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    sem_init(&fence_came, 0, 0);
    invite(ends[1]);
    T_EQ(pthread_create(&server, NULL, answer, &ends[0]), 0);
    T_EQ(rt_open(), 0);
    T_EQ(pthread_create(&other, NULL, connect_all, &connected), 0);
    sem_wait(&fence_came);
    T_EQ(rt_get(1, "ofi", got, sizeof got), 0);
    T_STR(got, value);
    pthread_join(other, NULL);
    T_EQ(connected, 0);
    rt_close();
    pthread_join(server, NULL);
    close(ends[0]);
    close(ends[1]);
}

T(a_descriptor_without_room_is_reported_with_the_limit)
{
    int ends[2], taken = -1, rc;
    struct rlimit was, none;
    pthread_t server;
    const char *said;

    T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    invite(ends[1]);
    T_EQ(pthread_create(&server, NULL, answer, &ends[0]), 0);
    T_EQ(rt_open(), 0);
    T_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = 0;
    unit_capture();
    T_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    rc = rt_take(1, &taken);
    T_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
    said = unit_captured();
    T_EQ(rc, -EMFILE);
    T_EQ(taken, -1);
    T_EQ(unit_lines(said), 1);
    T_HAS(said, "taking the memory that PE 1 shares: all descriptors that this "
          "process may have are open: raise the limit (ulimit -n) [S-E-PMI]\n");
    T_EQ(rt_take(1, &taken), 0);
    close(taken);
    rt_close();
    pthread_join(server, NULL);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    env_load();
    T_RUN(a_thread_asks_while_another_one_is_in_a_fence);
    T_RUN(a_descriptor_without_room_is_reported_with_the_limit);
    return T_DONE();
}
