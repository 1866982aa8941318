/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: does the provider shm end a write to one process while another
 * one, to which a write is under way, is stopped?  Skipped where it does not:
 * up to libfabric 1.17 an endpoint sees its writes end in the order in which
 * they were posted, to any PE.  st/providers.sh asks this. */
#include "fabric.h"

#include <signal.h>

enum { PEERS = 2, LONG = 64 << 10, SHORT = 4096, PATIENCE_MS = 1500 };

/* In memory that all share. */
static struct shared {
    struct {
        char name[256];
        size_t len;
        uint64_t key, base;
        atomic_bool there;
    } of[PEERS];
    atomic_bool stop;
    char there[PEERS][LONG];
} *all;

static void open_node(struct node *n)
{
    const struct want want = {
        .provider = "shm", .caps = FI_RMA | FI_MSG,
        .mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY
    };

    fabric_open(n, &want);
    fabric_endpoint(n, &want);
}

/* Receives messages until it is to end. */
static void progress(int i)
{
    struct fi_cq_msg_entry entry;
    struct node n = { 0 };
    struct fid_mr *mr;

    open_node(&n);
    all->of[i].len = sizeof all->of[i].name;
    T_EQ(fi_getname(&n.ep->fid, all->of[i].name, &all->of[i].len), 0);
    T_EQ(fi_mr_reg(n.domain, all->there[i], LONG, FI_REMOTE_WRITE, 0,
                   (uint64_t)i + 1, 0, &mr, NULL), 0);
    all->of[i].key = fi_mr_key(mr);
    if (n.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
        all->of[i].base = (uintptr_t)all->there[i];
    atomic_store(&all->of[i].there, true);
    while (!atomic_load(&all->stop)) {
        fi_cq_read(n.rxcq, &entry, 1);
        fi_cq_read(n.txcq, &entry, 1);
        usleep(100);
    }
    fi_close(&mr->fid);
    fabric_close(&n);
    _exit(T_DONE());
}

static void write_to(struct node *n, const fi_addr_t *peer, int i,
                     const char *from, size_t len)
{
    struct iovec iov = { (void *)from, len };
    struct fi_rma_iov remote = { all->of[i].base, len, all->of[i].key };
    struct fi_msg_rma m = {
        .msg_iov = &iov, .iov_count = 1, .addr = peer[i], .rma_iov = &remote,
        .rma_iov_count = 1, .context = (void *)&peer[i]
    };
    unsigned turns = 0;
    long rc;

    do {
        struct fi_cq_msg_entry entry;

        rc = fi_writemsg(n->ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE);
        if (rc)
            fi_cq_read(n->rxcq, &entry, 1);
    } while (rc == -FI_EAGAIN && fabric_patience(&turns));
    T_EQ(rc, 0);
}

/* The context of the next write that has ended, or NULL: none for so long. */
static void *ended(struct node *n)
{
    struct fi_cq_msg_entry entry = { 0 };

    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        if (fi_cq_read(n->txcq, &entry, 1) == 1)
            return entry.op_context;
        usleep(1000);
    }
    return NULL;
}

T(a_stopped_peer_holds_up_no_write_to_another)
{
    static char from[LONG];
    fi_addr_t peer[PEERS];
    struct node n = { 0 };
    pid_t pids[PEERS];
    bool held;

    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T_TRUE(all != MAP_FAILED);
    for (int i = 0; i < PEERS; i++)
        if (!(pids[i] = fork()))
            progress(i);
    open_node(&n);
    for (int i = 0; i < PEERS; i++) {
        for (unsigned t = 0; !atomic_load(&all->of[i].there); )
            T_TRUE(fabric_patience(&t));
        peer[i] = fabric_peer(&n, all->of[i].name);
        write_to(&n, peer, i, from, SHORT);
        T_TRUE(ended(&n) == &peer[i]);
    }
    kill(pids[0], SIGSTOP);
    usleep(20000);
    write_to(&n, peer, 0, from, LONG);
    write_to(&n, peer, 1, from, SHORT);
    held = ended(&n) != &peer[1];
    kill(pids[0], SIGCONT);
    for (int i = 0; i < 1 + held; i++)
        T_TRUE(ended(&n) != NULL);
    atomic_store(&all->stop, true);
    for (int i = 0; i < PEERS; i++) {
        int status;

        T_EQ(waitpid(pids[i], &status, 0), pids[i]);
        T_EQ(status, 0);
    }
    fabric_close(&n);
    if (held)
        T_SKIP("shm holds up all writes behind one to a stopped process");
}

int main(void)
{
    T_RUN(a_stopped_peer_holds_up_no_write_to_another);
    return T_DONE();
}
