/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_int.h - the bootstrap of a node's shared memory: how its descriptors get
 * from the PE that makes them to the others. */
#ifndef SM_SM_INT_H
#define SM_SM_INT_H

#include "heap/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The leader publishes it through the launcher: only the job can read it, so
 * knowing the token proves membership. */
struct sm_address {
    char name[32];              /* abstract socket, without its leading 0 */
    uint8_t token[16];
    struct heap_plan plan;
};

/* Member -> leader, then leader -> member with the memfd attached. */
struct sm_hello {
    uint8_t token[16];          /* of the address */
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

/* Does this hello of size bytes come from a PE of the node? */
bool sm_socket_hello_ok(const struct sm_hello *h, size_t size,
                      const struct sm_address *address, int n_local);
/* The descriptor that a reply of size bytes brings, or -EPROTO. */
int sm_socket_reply_fd(struct msghdr *m, size_t size);

/* Leader, before the fence: fills the address and listens. */
int sm_socket_listen(struct sm_address *address, int *out_fd);
/* Leader, after the fence: gives memfd to every other PE of the node.  Drops
 * static data from the plan if a PE's layout differs.  Closes listen_fd. */
int sm_socket_distribute(int listen_fd, struct sm_address *address, int memfd);
/* The others: fetch memfd from the leader; may drop data from the plan. */
int sm_socket_join(struct sm_address *address, int *out_memfd);

/* ---- sm_socket.c: a local socket in the abstract name space, and a secret
 * token that its clients must know ---- */
enum { SM_NAME = 32, SM_TOKEN = 16 };
int sm_socket_bind(int type, char name[SM_NAME], uint8_t token[SM_TOKEN],
                 int *out);
socklen_t sm_socket_sockaddr(const char *name, struct sockaddr_un *out);
/* Attaches a descriptor to a message, and takes the one that came: -EPROTO. */
union sm_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};
void sm_socket_attach_fd(struct msghdr *m, union sm_control *control, int fd);
int sm_socket_received_fd(struct msghdr *m);

/* ---- sm_exchange.c: each PE of a node passes a descriptor to others ---- */
struct sm_exchange_address {
    char name[SM_NAME];
    uint8_t token[SM_TOKEN];
    uint32_t has_fd;            /* 1: this PE has one */
};
/* Finds the address of a PE of the node. */
typedef const struct sm_exchange_address *
sm_exchange_address_of(int local, void *addresses);
/* Before a barrier of the node, after which all addresses can be read: fills
 * this PE's name and token.  -errno, logged. */
int sm_exchange_open(struct sm_exchange_address *mine);
/* After that barrier, on all PEs of the node.  fd: this PE's, or -1.  Returns
 * the descriptors received, by PE of the node, -1 where none came;
 * sm_exchange_close_fds() closes them, sm_exchange_close() as well. */
const int *sm_exchange_all(sm_exchange_address_of *of, void *addresses, int fd);
void sm_exchange_close_fds(void);
void sm_exchange_close(void);

/* ---- sm_launcher.c: the same, where the launcher passes descriptors ---- */
/* All PEs of the job make one of these calls after the fence; see
 * sm_socket_distribute() and sm_socket_join(). */
int sm_launcher_distribute(struct sm_address *address, const int fds[2]);
int sm_launcher_join(struct sm_address *address, int fds[2]);

/* ---- sm.c: files of memory for a node ---- */
/* A sealed file of size bytes.  huge_page: in reserved pages of that size, all
 * of them set apart; -ENOMEM, not logged: there are too few. */
int sm_memfd_make(size_t size, size_t huge_page, int *out);
/* Is it such a file? */
int sm_memfd_check(int fd, size_t size);

#endif
