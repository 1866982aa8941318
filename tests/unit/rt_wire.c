/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages between oshrun and its PEs arrive whole or are refused,
 * and the variables that describe its job to a PE are read whole or refused. */
#include "unit.h"

#include "rt/rt_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct rt_wire_packet packet;

/* The message as a packet, then rt_wire_parse() of that. */
static int there_and_back(const struct rt_wire *m, struct rt_wire *out)
{
    int size = rt_wire_format(m, &packet);

    return size < 0 ? size : rt_wire_parse(&packet, (size_t)size, out);
}

T(a_message_comes_out_as_it_went_in)
{
    struct rt_wire m = { .type = RT_PUT, .key = "node", .value = "0123456789",
                         .value_size = 10 }, out;

    T_EQ(there_and_back(&m, &out), 0);
    T_EQ(out.type, RT_PUT);
    T_STR(out.key, "node");
    T_EQ(out.value_size, 10);
    T_EQ(memcmp(out.value, "0123456789", 10), 0);
    m = (struct rt_wire){ .type = RT_ANSWER, .status = -EBUSY, .pe = 4711 };
    T_EQ(there_and_back(&m, &out), 0);
    T_EQ(out.status, -EBUSY);
    T_EQ(out.pe, 4711);
    m = (struct rt_wire){ .type = RT_ABORT, .status = -1 };
    T_EQ(there_and_back(&m, &out), 0);
    T_EQ(out.status, -1);
}

T(a_key_or_a_value_that_is_too_long_is_refused)
{
    static char much[RT_WIRE_VALUE + 1];
    struct rt_wire m = { .type = RT_PUT, .key = "k", .value = much,
                         .value_size = RT_WIRE_VALUE }, out;

    T_EQ(there_and_back(&m, &out), 0);
    m.value_size++;
    T_EQ(there_and_back(&m, &out), -EMSGSIZE);
    memset(m.key, 'k', sizeof m.key);
    m.value_size = 0;
    T_EQ(there_and_back(&m, &out), -EMSGSIZE);
    m.key[RT_WIRE_KEY] = '\0';
    T_EQ(there_and_back(&m, &out), 0);
}

/* A head with these fields and as many bytes as it says. */
static int head(uint32_t type, int pe, int status, uint32_t key, uint32_t value)
{
    struct rt_wire out;

    memset(&packet, 'x', sizeof packet);
    packet.head = (struct rt_wire_head){ RT_WIRE_MAGIC, type, pe, status, key,
                                         value };
    return rt_wire_parse(&packet, sizeof packet.head + key + value, &out);
}

T(what_does_not_belong_to_its_type_is_refused)
{
    T_EQ(head(RT_FENCE, 0, 0, 0, 0), 0);
    T_EQ(head(RT_FENCE, 1, 0, 0, 0), -EPROTO);
    T_EQ(head(RT_FENCE, 0, 1, 0, 0), -EPROTO);
    T_EQ(head(RT_FENCE, 0, 0, 1, 0), -EPROTO);
    T_EQ(head(RT_FENCE, 0, 0, 0, 1), -EPROTO);
    T_EQ(head(RT_GET, 3, 0, 4, 0), 0);
    T_EQ(head(RT_GET, -1, 0, 4, 0), -EPROTO);
    T_EQ(head(RT_GET, 3, 0, 0, 0), -EPROTO);
    T_EQ(head(0, 0, 0, 0, 0), -EPROTO);
    T_EQ(head(RT_WIRE_TYPES, 0, 0, 0, 0), -EPROTO);
    T_EQ(head(RT_PUT, 0, 0, RT_WIRE_KEY + 1, 0), -EPROTO);
}

T(a_packet_of_another_length_or_magic_is_refused)
{
    struct rt_wire out;

    T_EQ(head(RT_PUT, 0, 0, 4, 8), 0);
    for (size_t n = 0; n < sizeof packet.head + 20; n++)
        T_EQ(rt_wire_parse(&packet, n, &out),
             n == sizeof packet.head + 12 ? 0 : -EPROTO);
    packet.head.magic++;
    T_EQ(rt_wire_parse(&packet, sizeof packet.head + 12, &out),
         -EPROTONOSUPPORT);
    packet.head.magic = 0;
    T_EQ(rt_wire_parse(&packet, sizeof packet.head + 12, &out), -EPROTO);
    packet.head.magic = RT_WIRE_MAGIC;
    packet.body[1] = '\0';
    T_EQ(rt_wire_parse(&packet, sizeof packet.head + 12, &out), -EPROTO);
}

static int ends[2];

static void open_pair(void)
{
    T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

T(a_descriptor_arrives_with_its_message)
{
    struct rt_wire m = { .type = RT_SHARE, .status = 3 }, out;
    struct stat a, b;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), got;

    open_pair();
    T_EQ(rt_wire_send(ends[0], 0, &m, fd), 0);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), 0);
    T_EQ(out.status, 3);
    T_EQ(fstat(fd, &a), 0);
    T_EQ(fstat(got, &b), 0);
    T_EQ(a.st_rdev, b.st_rdev);
    T_EQ(fcntl(got, F_GETFD), FD_CLOEXEC);
    close(got);
    T_EQ(rt_wire_send(ends[0], 0, &m, -1), 0);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), 0);
    T_EQ(got, -1);
    T_EQ(rt_wire_receive(ends[1], MSG_DONTWAIT, &packet, &out, &got), -EAGAIN);
    close(fd);
    close(ends[0]);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), -ECONNRESET);
    close(ends[1]);
}

/* Other than a message of another sender, which is -EPROTO. */
T(a_descriptor_without_room_is_reported)
{
    struct rt_wire m = { .type = RT_ANSWER }, out;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), got;
    struct rlimit was, l;

    open_pair();
    T_EQ(rt_wire_send(ends[0], 0, &m, fd), 0);
    T_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
    l = was;
    l.rlim_cur = 0;             /* no further one */
    T_EQ(setrlimit(RLIMIT_NOFILE, &l), 0);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), -EMFILE);
    T_EQ(got, -1);
    T_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
    T_EQ(rt_wire_send(ends[0], 0, &m, fd), 0);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), 0);
    close(got);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

T(what_was_sent_before_the_end_is_read_though_the_answers_were_not)
{
    struct rt_wire m = { .type = RT_ABORT, .status = 7 }, out;
    struct rt_wire reply = { .type = RT_ANSWER };
    int got;

    open_pair();
    T_EQ(rt_wire_send(ends[1], 0, &reply, -1), 0);
    T_EQ(rt_wire_send(ends[0], 0, &m, -1), 0);
    close(ends[0]);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), 0);
    T_EQ(out.status, 7);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), -ECONNRESET);
    close(ends[1]);
}

T(what_is_no_message_is_refused_and_what_came_with_it_is_reported)
{
    static char much[sizeof packet + 1];
    struct rt_wire out;
    int got;

    open_pair();
    T_EQ(send(ends[0], "hello", 5, 0), 5);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), -EPROTO);
    T_EQ(send(ends[0], much, sizeof much, 0), (long)sizeof much);
    T_EQ(rt_wire_receive(ends[1], 0, &packet, &out, &got), -EPROTO);
    close(ends[0]);
    close(ends[1]);
}

/* "pe/n first-last fd:inode", or the variable that is bad. */
static const char *invited(const char *pe, const char *pes, const char *local,
                        const char *channel)
{
    static char text[128];
    struct rt_invitation in;
    const char *bad = rt_invitation_parse(pe, pes, local, channel, &in);

    if (bad)
        return bad;
    snprintf(text, sizeof text, "%d/%d %d-%d %d:%llu", in.pe, in.n_pes,
             in.first, in.last, in.fd, (unsigned long long)in.inode);
    return text;
}

static int ends[2];

static void *await(void *type)
{
    static struct rt_wire_packet room[RT_WIRE_TYPES];
    struct rt_wire out;
    int fd;

    T_EQ(rt_wire_await(ends[0], *(enum rt_wire_type *)type), 0);
    T_EQ(rt_wire_receive(ends[0], 0, &room[*(enum rt_wire_type *)type], &out,
                         &fd), 0);
    T_EQ(out.type, *(enum rt_wire_type *)type);
    return NULL;
}

/* The system wakes the thread that has waited longest, and no other. */
T(of_two_threads_that_wait_each_gets_its_message)
{
    enum rt_wire_type types[2] = { RT_FENCED, RT_ANSWER };
    pthread_t threads[2];

    T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        T_EQ(pthread_create(&threads[i], NULL, await, &types[i]), 0);
        usleep(50000);
    }
    for (int i = 1; i >= 0; i--) {
        T_EQ(rt_wire_send(ends[1], 0, &(struct rt_wire){ .type = types[i] },
                          -1), 0);
        T_EQ(pthread_join(threads[i], NULL), 0);
    }
    close(ends[0]);
    close(ends[1]);
}

T(variables_are_read)
{
    T_STR(invited("1", "4", "0-3", "32:4711"), "1/4 0-3 32:4711");
    T_STR(invited("0", "1", "0-0", "3:18446744073709551615"),
          "0/1 0-0 3:18446744073709551615");
    T_STR(invited("5", "8", "4-7", "9:1"), "5/8 4-7 9:1");
}

T(a_bad_variable_is_named)
{
    T_STR(invited("4", "4", "0-3", "32:1"), "SLUICE_JOB_PE");
    T_STR(invited(NULL, "4", "0-3", "32:1"), "SLUICE_JOB_PE");
    T_STR(invited("", "4", "0-3", "32:1"), "SLUICE_JOB_PE");
    T_STR(invited("5", "1", "0-0", "32:1"), "SLUICE_JOB_PE");
    T_STR(invited("0", "0", "0-0", "32:1"), "SLUICE_JOB_PES");
    T_STR(invited("0", "-1", "0-0", "32:1"), "SLUICE_JOB_PES");
    T_STR(invited("0", "2147483648", "0-0", "32:1"), "SLUICE_JOB_PES");
    T_STR(invited("3", "4", "0-2", "32:1"), "SLUICE_JOB_LOCAL");
    T_STR(invited("0", "4", "1-3", "32:1"), "SLUICE_JOB_LOCAL");
    T_STR(invited("0", "4", "0-4", "32:1"), "SLUICE_JOB_LOCAL");
    T_STR(invited("0", "4", "0", "32:1"), "SLUICE_JOB_LOCAL");
    T_STR(invited("0", "1", "0-0", NULL), "SLUICE_JOB_CHANNEL");
    T_STR(invited("0", "1", "0-0", "2:1"), "SLUICE_JOB_CHANNEL");
    T_STR(invited("0", "1", "0-0", "32"), "SLUICE_JOB_CHANNEL");
    T_STR(invited("0", "1", "0-0", "32:18446744073709551616"),
          "SLUICE_JOB_CHANNEL");
    T_STR(invited("0", "1", "0-0", "32:1 "), "SLUICE_JOB_CHANNEL");
}

int main(void)
{
    T_RUN(a_message_comes_out_as_it_went_in);
    T_RUN(a_key_or_a_value_that_is_too_long_is_refused);
    T_RUN(what_does_not_belong_to_its_type_is_refused);
    T_RUN(a_packet_of_another_length_or_magic_is_refused);
    T_RUN(a_descriptor_arrives_with_its_message);
    T_RUN(a_descriptor_without_room_is_reported);
    T_RUN(what_was_sent_before_the_end_is_read_though_the_answers_were_not);
    T_RUN(what_is_no_message_is_refused_and_what_came_with_it_is_reported);
    T_RUN(of_two_threads_that_wait_each_gets_its_message);
    T_RUN(variables_are_read);
    T_RUN(a_bad_variable_is_named);
    return T_DONE();
}
