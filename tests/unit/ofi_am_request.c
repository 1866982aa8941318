/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: another thread can cancel an outstanding AM request only when
 * all fields that complete it are written, and the cancelled request counts. */
#include "../../src/ofi/am/ofi_am.c"

#include "unit.h"

#include <pthread.h>
#include <sched.h>

enum { PE = 1, ROUNDS = 20000 };

/* A provider that takes each message; no reply comes. */
static ssize_t inject(struct fid_ep *ep, const void *buf, size_t len,
                      fi_addr_t addr)
{
    (void)ep, (void)buf, (void)len, (void)addr;
    return 0;
}

static struct fi_ops_msg msg = { .inject = inject };
static struct fid_ep provider = { .msg = &msg };
static struct ofi_ep ep = { .ep = &provider, .fd = -1 };
static struct xport_ctx net = { .ep = &ep };
static struct ofi_peer peers[PE + 1];

static uint64_t ended(void)
{
    return __atomic_load_n(&net.done, __ATOMIC_ACQUIRE);
}

static void send(struct request *a)
{
    struct ofi_am_head h = { .kind = OFI_AM_AMO, .size = 8 };

    send_request(&net, a, &h, NULL, NULL);
}

/* What the last user left in it must not be taken for its own. */
T(a_request_that_is_filled_is_left_alone)
{
    uint64_t before = 1, now = 1, done = ended();
    struct request *a = alloc_request(&net, PE), *b;

    a->left = &before;
    a->size = 8;
    send(a);
    ofi_am_cancel(&net, PE, NULL);
    T_EQ(before, 0);
    T_EQ(ended(), done + 1);

    b = alloc_request(&net, PE);
    T_EQ(b, a);
    ofi_am_cancel(&net, PE, NULL);
    ofi_am_cancel(&net, -1, NULL);
    T_EQ(before, 0);
    T_EQ(ended(), done + 1);
    b->left = &now;
    send(b);
    ofi_am_cancel(&net, PE, NULL);
    T_EQ(now, 0);
    T_EQ(ended(), done + 2);
    T_EQ(net.issued, net.done);
}

static bool over;

static void *give_up_all(void *arg)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        ofi_am_cancel(&net, PE, NULL);
        sched_yield();
    }
    return arg;
}

/* Requests with and without a word that is counted down take turns. */
T(a_request_is_given_up_while_others_are_made)
{
    pthread_t thread;
    uint64_t word;

    T_EQ(pthread_create(&thread, NULL, give_up_all, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct request *a = alloc_request(&net, PE);

        __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
        a->left = i % 2 ? &word : NULL;
        a->size = 8;
        a->dest = NULL;
        send(a);
        while (ended() != net.issued)
            sched_yield();
        while (i % 2 && __atomic_load_n(&word, __ATOMIC_ACQUIRE) == 1)
            sched_yield();
        if (!T_EQ(__atomic_load_n(&word, __ATOMIC_ACQUIRE), 1 - i % 2))
            break;
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    T_EQ(pthread_join(thread, NULL), 0);
}

int main(void)
{
    ofi.inject_msg = 4096;
    ofi.peers = peers;
    peers[PE].token = 1;        /* its card was looked up */
    if (ofi_am_open())
        return 1;
    T_RUN(a_request_that_is_filled_is_left_alone);
    T_RUN(a_request_is_given_up_while_others_are_made);
    ofi_am_close();
    return T_DONE();
}
