/* SPDX-License-Identifier: BSD-3-Clause */
/* pcoll_sched.h - schedules of collectives.
 *
 * A schedule is a list of actions of one member: a piece of a buffer goes to a
 * member, or arrives from one, or is copied or combined here.  The k-th message
 * that a member sends to another is the k-th that this one receives from it.
 * Two executors run schedules: partitions (pcoll_run.c), and the stream of a
 * collective request (msg_coll.c). */
#ifndef MSG_PCOLL_PCOLL_SCHED_H
#define MSG_PCOLL_PCOLL_SCHED_H

#include "base/handle.h"
#include "core/core.h"
#include "gtl/gtl.h"
#include "shmemx_pcoll.h"

enum { PCOLL_BUFFERS = 3 };

enum pcoll_kind { PCOLL_SEND, PCOLL_RECV, PCOLL_LOCAL };
struct pcoll_action {
    enum pcoll_kind kind;
    bool reduces, stays;
    bool more;                  /* RECV: the next one combines with the same */
    int member;                 /* SEND, RECV */
    shmemx_piece_t from;        /* SEND, LOCAL */
    shmemx_piece_t in, with;    /* RECV, LOCAL */
    /* Of a request. */
    int link, message;          /* SEND, RECV */
    bool acks;                  /* RECV: its sender waits for that */
    int send;                   /* SEND, or acks: which of the request's */
    bool after_sends;           /* it writes what the partition has sent */
    int n_here;                 /* RECV that reduces, LOCAL: so many sends of
                                 * its result follow it, all to mapped memory */
    char *to;                   /* SEND: that memory, of the first partition */
    char *at;                   /* what is combined, of the first partition,
                                 * and how far the next one is */
    size_t stride;
};

struct pcoll_sched {
    struct handle handle;
    shmem_team_t team;
    int n_pes, me;
    bool blocks;
    bool usual;                 /* of the library: a member's last receive
                                 * depends on the others' reading its pieces */
    int pieces[PCOLL_BUFFERS];
    int n, room;
    struct pcoll_action *actions;
};

/* ---- pcoll_sched.c ---- */
extern hidden struct handle_table pcoll_scheds;
/* 0, or -EINVAL or -ENOMEM, logged. */
int pcoll_sched_step(const char *call, struct pcoll_sched *s,
                     const shmemx_step_t *step);
int pcoll_sched_create(const char *call, const struct pcoll_sched *like,
                       struct shmemx_sched **out);
int pcoll_sched_free(const char *call, struct shmemx_sched *sched);
struct pcoll_sched *pcoll_sched_find(const char *call,
                                     struct shmemx_sched *sched);
void pcoll_sched_close(void);

/* ---- pcoll_usual.c: the schedules of the usual collectives ---- */
enum pcoll_usual {
    PCOLL_ALLREDUCE, PCOLL_REDUCE, PCOLL_REDUCE_SCATTER, PCOLL_INSCAN,
    PCOLL_EXSCAN, PCOLL_BROADCAST, PCOLL_ALLGATHER, PCOLL_GATHER, PCOLL_SCATTER,
    PCOLL_ALLTOALL, PCOLL_BARRIER
};
struct pcoll_args {
    const char *call;
    struct core_team *team;
    void *dest;
    const void *source;
    int partitions, root;
    bool reduces;               /* op counts */
    bool on_stream;             /* no member reads another's source */
    bool moves;                 /* a schedule of the program's that combines
                                 * nothing: type need not be the others' */
    size_t nelems, size;        /* size: bytes of an element */
    enum gtl_type type;
    enum gtl_reduction op;
};
/* s is empty, of that team.  0 or -ENOMEM, logged; the caller frees actions. */
int pcoll_sched_usual(struct pcoll_sched *s, enum pcoll_usual what,
                      const struct pcoll_args *a);

#endif
