/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_int.h - the meeting of a node's PEs, apart from what they map. */
#ifndef SM_SM_INT_H
#define SM_SM_INT_H

#include "heap/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* What the leader publishes through the launcher: only the job can read it,
 * so knowing the token proves membership. */
struct sm_card {
    char name[32];              /* abstract socket, without its leading 0 */
    uint8_t token[16];
    struct heap_plan plan;
};

/* Member -> leader, then leader -> member with the memfd attached. */
struct sm_hello {
    uint8_t token[16];          /* of the card */
    int32_t local;
    int32_t data_fits;          /* 0 or 1 */
};
struct sm_reply {
    int32_t share_data;         /* 0 or 1 */
};

/* Has static data a file of its own, the second one? */
static inline bool sm_two_files(const struct heap_plan *plan)
{
    return plan->huge_page && plan->data_size;
}

/* Does a member of this node speak?  size is how much was received. */
bool sm_meet_hello_ok(const struct sm_hello *h, size_t size,
                      const struct sm_card *card, int n_local);
/* The descriptor that a reply of size bytes brings, or -EPROTO. */
int sm_meet_reply_fd(struct msghdr *m, size_t size);

/* Leader, before the fence: fills the card and listens. */
int sm_meet_listen(struct sm_card *card, int *out_fd);
/* Leader, after the fence: gives memfd to every other PE of the node.  Drops
 * static data from the plan if a PE's layout differs.  Closes listen_fd. */
int sm_meet_serve(int listen_fd, struct sm_card *card, int memfd);
/* The others: fetch memfd from the leader; may drop data from the plan. */
int sm_meet_join(struct sm_card *card, int *out_memfd);

/* ---- sm_share.c: the same, where the launcher passes descriptors ---- */
/* All PEs of the job make one of these calls after the fence; see
 * sm_meet_serve() and sm_meet_join(). */
int sm_share_serve(struct sm_card *card, const int fds[2]);
int sm_share_join(struct sm_card *card, int fds[2]);

/* ---- sm.c: files of memory for a node ---- */
/* Sealed, with room for size bytes.  huge_page: in reserved pages of that size,
 * all of them set apart; -ENOMEM, not logged: there are too few. */
int sm_memfd_make(size_t size, size_t huge_page, int *out);
/* Is it such a file? */
int sm_memfd_check(int fd, size_t size);

#endif
