/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the PEs of a node, and no other process, get the node's memory.
 * Timeout: 30 */
#include "unit.h"

#include "base/env.h"
#include "rt/rt.h"
#include "sm/sm_int.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { PES = 5, PAGE = 4096 };

static int local_pes[PES] = { 0, 2, 4, 6, 8 };
static struct sm_address blob;
static int listen_fd, memfd;
static char *memory;            /* of memfd, as the leader maps it */

static void open_leader(void)
{
    rt_job.local_pes = local_pes;
    rt_job.n_local = PES;
    rt_job.local = 0;
    memset(&blob, 0, sizeof blob);
    T_EQ(sm_socket_listen(&blob, &listen_fd), 0);
    memfd = memfd_create("node", MFD_CLOEXEC);
    T_EQ(ftruncate(memfd, PES * PAGE), 0);
    memory = mmap(NULL, PES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
                  0);
    T_NE(memory, MAP_FAILED);
}

static void close_leader(void)
{
    munmap(memory, PES * PAGE);
    close(memfd);
}

/* A member leaves its number in its page and ends with 0. */
static int member(int local)
{
    int fd = -1;
    char *at;

    rt_job.local = local;
    if (sm_socket_join(&blob, &fd))
        return 1;
    at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
              local * PAGE);
    if (at == MAP_FAILED)
        return 2;
    *at = (char)local;
    return blob.plan.data_size ? 3 : 0;
}

static pid_t start(int local)
{
    pid_t pid = fork();

    if (pid == 0) {
        alarm(15);
        close(listen_fd);
        _exit(member(local));
    }
    return pid;
}

static int status_of(pid_t pid)
{
    int status = -1;

    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void all_have_come(const pid_t *pid, int status)
{
    for (int i = 1; i < PES; i++) {
        T_EQ(status_of(pid[i]), status);
        T_EQ(memory[i * PAGE], i);
    }
}

T(every_member_maps_the_same_memory)
{
    pid_t pid[PES];
    const char *said;
    int rc;

    open_leader();
    for (int i = 1; i < PES; i++)
        pid[i] = start(i);
    unit_capture();
    rc = sm_socket_distribute(listen_fd, &blob, memfd);
    said = unit_captured();
    T_STR(said, "");
    T_EQ(rc, 0);
    all_have_come(pid, 0);
    close_leader();
}

T(another_layout_of_static_data_leaves_it_private)
{
    pid_t pid[PES];
    const char *said;
    int rc;

    open_leader();
    env.STATIC_DATA = true;
    T_EQ(heap_plan_make(1, 0, &blob.plan), 0);
    T_LT(0, blob.plan.data_size);
    for (int i = 1; i < PES; i++) {
        env.STATIC_DATA = i != 2;
        pid[i] = start(i);
    }
    unit_capture();
    rc = sm_socket_distribute(listen_fd, &blob, memfd);
    said = unit_captured();
    T_EQ(rc, 0);
    T_HAS(said, "programs whose static data differ: only heap memory is "
          "symmetric [S-W-DATA]\n");
    T_EQ(blob.plan.data_size, 0);
    all_have_come(pid, 0);      /* they dropped it too, or had ended with 3 */
    close_leader();
    open_leader();
    env.STATIC_DATA = true;
    T_EQ(heap_plan_make(1, 0, &blob.plan), 0);
    for (int i = 1; i < PES; i++)
        pid[i] = start(i);
    T_EQ(sm_socket_distribute(listen_fd, &blob, memfd), 0);
    T_LT(0, blob.plan.data_size);
    all_have_come(pid, 3 << 8);
    close_leader();
    env.STATIC_DATA = false;
}

/* ---- strangers ---- */

static int dial(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    size_t len = strlen(blob.name);

    memcpy(a.sun_path + 1, blob.name, len);
    if (connect(fd, (struct sockaddr *)&a, (socklen_t)(
                    offsetof(struct sockaddr_un, sun_path) + 1 + len)))
        return -1;
    return fd;
}

static int ready[2];            /* a pipe: the stranger has spoken */

/* Sends that and ends with 0 if nothing comes back. */
static int knock(const void *hello, size_t size)
{
    char answer[64], control[64];
    struct iovec iov = { answer, sizeof answer };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
        .msg_controllen = sizeof control
    };
    int fd = dial();

    if (fd < 0 || (size && send(fd, hello, size, MSG_NOSIGNAL) < 0) ||
        write(ready[1], "", 1) < 0)
        return 4;
    if (!size)
        return 0;               /* hangs up without a word */
    return recvmsg(fd, &m, 0) > 0 ? 5 : 0;
}

enum { STRANGERS = 9 };

static int strange(int kind)
{
    struct sm_hello h = { .local = 1, .data_fits = 1 };
    char bytes[sizeof h + 1] = "";

    memcpy(h.token, blob.token, sizeof h.token);
    if (kind == 0)
        h.token[15] ^= 1;
    else if (kind == 1)
        h.token[0] ^= 0x80;
    else if (kind == 2)
        h.local = 0;
    else if (kind == 3)
        h.local = PES;
    else if (kind == 4)
        h.local = -1;
    else if (kind == 7)
        h.data_fits = 2;
    memcpy(bytes, &h, sizeof h);
    return knock(bytes, kind == 5 ? sizeof h - 1 : kind == 6 ? 0 :
                     kind == 8 ? sizeof h + 1 : sizeof h);
}

/* Starts a stranger and returns when it has said its word. */
static pid_t let_knock(int kind, uid_t user)
{
    pid_t pid;
    char byte;

    T_EQ(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        alarm(15);
        close(listen_fd);
        _exit(user && setuid(user) ? 9 : strange(kind));
    }
    close(ready[1]);
    T_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

/* What the leader says of it; the members all come behind it. */
static const char *with_stranger(int kind, uid_t user)
{
    pid_t pid[PES], stranger;
    const char *said;
    int rc;

    open_leader();
    stranger = let_knock(kind, user);
    for (int i = 1; i < PES; i++)
        pid[i] = start(i);
    unit_capture();
    rc = sm_socket_distribute(listen_fd, &blob, memfd);
    said = unit_captured();
    T_EQ(rc, 0);
    T_EQ(status_of(stranger), 0);
    all_have_come(pid, 0);
    close_leader();
    return said;
}

T(strangers_are_turned_away)
{
    for (int kind = 0; kind < STRANGERS; kind++) {
        const char *said = with_stranger(kind, 0);

        T_EQ(unit_lines(said), 1);
        T_HAS(said, "refused a connection of pid ");
        T_HAS(said, "it does not know the job's token [S-W-NODE]\n");
    }
}

T(another_user_is_turned_away)
{
    if (geteuid())
        T_SKIP("only root can become another user");
    T_HAS(with_stranger(STRANGERS, 65534),  /* knows the token */
          "refused a connection of user 65534, pid ");
}

T(a_number_is_taken_once)
{
    pid_t first, second, pid[PES];

    /* Both know the token and are number 1; the first gets an answer. */
    open_leader();
    first = let_knock(STRANGERS, 0);
    second = let_knock(STRANGERS, 0);
    for (int i = 2; i < PES; i++)
        pid[i] = start(i);
    T_EQ(sm_socket_distribute(listen_fd, &blob, memfd), 0);
    T_EQ(status_of(first), 5 << 8);
    T_EQ(status_of(second), 0);
    for (int i = 2; i < PES; i++)
        T_EQ(status_of(pid[i]), 0);
    close_leader();
}

static void nothing(int sig)
{
    (void)sig;
}

/* A profiler's timer must not turn a member away: waiting for a message with
 * a time limit is never restarted after a signal. */
T(signals_turn_no_pe_away)
{
    struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
    struct sigaction act = { .sa_handler = nothing, .sa_flags = SA_RESTART };
    struct sm_hello h = { .local = 1, .data_fits = 1 };
    pid_t pid[PES], late, rescue;
    const char *said;
    int rc;

    open_leader();
    memcpy(h.token, blob.token, sizeof h.token);
    late = fork();
    if (late == 0) {            /* connects at once, speaks later */
        char answer[64];
        int fd = dial();

        alarm(15);
        close(listen_fd);
        usleep(60000);
        _exit(fd < 0 || send(fd, &h, sizeof h, MSG_NOSIGNAL) < 0 ||
              recv(fd, answer, sizeof answer, 0) <= 0);
    }
    usleep(20000);
    for (int i = 2; i < PES; i++)
        pid[i] = start(i);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    rescue = fork();
    if (rescue == 0) {          /* frees the leader should that be refused */
        sleep(3);
        _exit(member(1));
    }
    unit_capture();
    rc = sm_socket_distribute(listen_fd, &blob, memfd);
    said = unit_captured();
    setitimer(ITIMER_REAL, &never, NULL);
    kill(rescue, SIGKILL);
    status_of(rescue);
    T_STR(said, "");
    T_EQ(rc, 0);
    T_EQ(status_of(late), 0);
    for (int i = 2; i < PES; i++)
        T_EQ(status_of(pid[i]), 0);
    close_leader();
}

T(each_job_has_its_own_token_and_name)
{
    struct sm_address other = { 0 };
    int fd;

    open_leader();
    T_EQ(sm_socket_listen(&other, &fd), 0);
    T_NE(memcmp(blob.token, other.token, sizeof blob.token), 0);
    T_NE(strcmp(blob.name, other.name), 0);
    T_EQ(memchr(blob.name, '\0', sizeof blob.name) != NULL, true);
    close(fd);
    close(listen_fd);
    close_leader();
}

int main(void)
{
    T_RUN(every_member_maps_the_same_memory);
    T_RUN(another_layout_of_static_data_leaves_it_private);
    T_RUN(strangers_are_turned_away);
    T_RUN(another_user_is_turned_away);
    T_RUN(a_number_is_taken_once);
    T_RUN(signals_turn_no_pe_away);
    T_RUN(each_job_has_its_own_token_and_name);
    return T_DONE();
}
