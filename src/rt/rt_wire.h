/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_wire.h - the messages between oshrun and its PEs, and the variables that
 * describe its job to a PE.
 *
 * oshrun makes a socket pair for each PE.  The PE inherits one end, its
 * channel, and keeps it across exec.  A process that starts the library makes
 * a further pair, its session, and sends one end of it over the channel with
 * HELLO; all else goes over the session, which no other process has.  Both
 * sockets keep the borders of messages.  After HELLO, PUT, GET, SHARE, TAKE
 * and MISSING the PE waits for one ANSWER, and after FENCE for FENCED; one
 * thread may do so while another one waits in the fence.  ABORT and BYE have
 * no answer.  Both ends run on one machine, so numbers are in its own byte
 * order. */
#ifndef RT_RT_WIRE_H
#define RT_RT_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum rt_wire_type {
    RT_HELLO = 1,               /* with a descriptor: the session */
    RT_PUT,                     /* key, value */
    RT_GET,                     /* key of PE pe; answer: value */
    RT_FENCE,                   /* MET comes when all PEs have sent theirs */
    RT_SHARE,                   /* with a descriptor, for status PEs to take */
    RT_TAKE,                    /* answer: the descriptor that PE pe shares */
    RT_ABORT,                   /* end the job with this status */
    RT_BYE,                     /* shmem_finalize: the session ends */
    RT_ANSWER,                  /* status: 0 or a negative errno */
    RT_FENCED,                  /* the answer to a fence; -EXDEV: the PEs were
                                 * in different ones */
    RT_MISSING,                 /* answer: as text, which PEs the fence lacks;
                                 * -EALREADY: none, or another PE reports it */
    RT_WIRE_TYPES
};

enum {
    RT_WIRE_MAGIC = 0x534c5532, /* "SLU" and the version of all this */
    RT_WIRE_KEY = 32,           /* most bytes of a key ... */
    RT_WIRE_VALUE = 16384       /* ... and of a value */
};

struct rt_wire_head {
    uint32_t magic, type;
    int32_t pe, status;
    uint32_t key_size, value_size;
};

struct rt_wire_packet {
    struct rt_wire_head head;
    char body[RT_WIRE_KEY + RT_WIRE_VALUE];
};

/* A message as it is used; value lies in the packet. */
struct rt_wire {
    enum rt_wire_type type;
    int pe, status;
    char key[RT_WIRE_KEY + 1];
    const void *value;
    size_t value_size;
};

/* Reads a packet of size bytes.  -EPROTO: it is no message;
 * -EPROTONOSUPPORT: one of another version of Sluice. */
int rt_wire_parse(const void *packet, size_t size, struct rt_wire *out);
/* Writes the message; returns its size, or -EMSGSIZE. */
int rt_wire_format(const struct rt_wire *m, struct rt_wire_packet *out);

/* Sends it, with a descriptor unless fd is negative.  flags are those of
 * sendmsg().  0 or -errno. */
int rt_wire_send(int sock, int flags, const struct rt_wire *m, int fd);
/* Receives one; *fd is the descriptor that came with it, for the caller to
 * close, or -1.  flags are those of recvmsg().  -EAGAIN: there is none;
 * -ECONNRESET: the other end has closed; -EMFILE: see fd_left_out(); others:
 * see rt_wire_parse().  packet holds the value. */
int rt_wire_receive(int sock, int flags, struct rt_wire_packet *packet,
                    struct rt_wire *out, int *fd);
/* Waits until the next message is of that type, and leaves it there; what
 * comes before it, an answer or RT_FENCED, is for another thread to take.
 * -EPROTO: the next is something else; other errors are those of
 * rt_wire_receive(). */
int rt_wire_await(int sock, enum rt_wire_type type);
/* The descriptor among the control data of a message, or -1. */
int rt_wire_fd(struct msghdr *m);

/* Descriptors that oshrun opens for a job: libpmix, its pipes and some spare
 * ones; and for each PE two pipes, its channel, its session and what the PE
 * shares.  A PMIx client has a further one. */
enum { RT_FILES_BASE = 64, RT_FILES_PER_PE = 5 };

/* The variables that oshrun sets for each process of a PE. */
#define RT_JOB_NAME "SLUICE_JOB"        /* unset: oshrun did not start it */
#define RT_JOB_PE "SLUICE_JOB_PE"
#define RT_JOB_PES "SLUICE_JOB_PES"
#define RT_JOB_LOCAL "SLUICE_JOB_LOCAL"     /* first-last of this node */
#define RT_JOB_CPUS "SLUICE_JOB_CPUS"       /* how many all its PEs may use */
#define RT_JOB_CHANNEL "SLUICE_JOB_CHANNEL" /* descriptor:inode */

struct rt_invitation {
    int pe, n_pes, first, last, fd;
    uint64_t inode;
};

/* Reads the values of these variables, NULL for one that is not set.  Returns
 * the name of the first bad one, or NULL. */
const char *rt_invitation_parse(const char *pe, const char *pes,
                                const char *local, const char *channel,
                                struct rt_invitation *out);

#endif
