/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a libfabric provider does without the library: PE 0 of
 * two measures, PE 1 answers and turns its completion queue.  Writes are
 * delivery-complete, as a quiet wants them.
 *
 *   ofi_raw [--tsv] [-p PROVIDER] [-i ITERATIONS] [-c]
 *       -p  as fi_getinfo names them, default tcp;ofi_rxm
 *       -i  of the small operations per round, default 500
 *       -c  small writes without FI_INJECT */
#define _GNU_SOURCE 1
#include "bench.h"

#include <pmix.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIPE = 64, WINDOW = 8, LARGE = 1 << 20, PATIENCE_S = 20,
       EXCHANGE = 1 << 30 };    /* balls from here on are of exchanges() */

/* Both sides have one, registered; the far side is written at offsets. */
struct memory {
    _Alignas(128) volatile uint64_t ball;
    _Alignas(128) volatile uint64_t stop;
    _Alignas(128) uint64_t counter;
    _Alignas(128) uint64_t word;
    _Alignas(128) uint64_t result;
    _Alignas(4096) char block[WINDOW][LARGE];
};
#define AT(member) offsetof(struct memory, member)

/* What the other side must know. */
struct blob {
    char name[256];
    size_t name_len;
    uint64_t key, base;
};

static struct {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr;
    struct memory *mem;
    void *desc;
    fi_addr_t peer;
    struct blob blob;               /* the peer's */
} ofi;

static const char *provider = "tcp;ofi_rxm";
static bool tsv;
static int iterations = 500, inject = 1;
static pmix_proc_t self;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "ofi_raw: %s: %s: %s\n", provider, what, why);
    PMIx_Abort(1, "ofi_raw", NULL, 0);
    _exit(1);
}

static void check(const char *what, long rc)
{
    if (rc < 0)
        die(what, fi_strerror((int)-rc));
}

/* Ends the program when a loop that calls it lasts too long. */
static void patience(unsigned *turns, double *since)
{
    if (++*turns & 0xffff)
        return;
    if (*since <= 0)
        *since = bench_now_ns();
    else if (bench_now_ns() - *since > PATIENCE_S * 1e9)
        die("waiting", "no completion");
}

/* -------------------------------------------------------- completions ---- */

static int outstanding;

static void turn(void)
{
    struct fi_cq_entry entry[16];
    struct fi_cq_err_entry bad = { 0 };
    ssize_t n = fi_cq_read(ofi.cq, entry, 16);

    if (n > 0) {
        outstanding -= (int)n;
    } else if (n == -FI_EAVAIL) {
        fi_cq_readerr(ofi.cq, &bad, 0);
        die("fi_cq_readerr", fi_strerror(bad.err));
    } else if (n != -FI_EAGAIN) {
        check("fi_cq_read", (long)n);
    }
}

static void reap(int most)
{
    unsigned turns = 0;
    double since = 0;

    while (outstanding > most) {
        turn();
        patience(&turns, &since);
    }
}

/* Posts until the provider takes it. */
#define POST(what, call) do {                                               \
    long rc_;                                                               \
    unsigned turns_ = 0;                                                    \
    double since_ = 0;                                                      \
    while ((rc_ = (long)(call)) == -FI_EAGAIN) {                            \
        turn();                                                             \
        patience(&turns_, &since_);                                         \
    }                                                                       \
    check(what, rc_);                                                       \
    outstanding++;                                                          \
} while (0)

static void post_write(size_t to, void *from, size_t size)
{
    struct iovec local = { from, size };
    struct fi_rma_iov remote = { ofi.blob.base + to, size, ofi.blob.key };
    struct fi_msg_rma msg = {
        .msg_iov = &local, .desc = &ofi.desc, .iov_count = 1,
        .addr = ofi.peer, .rma_iov = &remote, .rma_iov_count = 1,
    };
    uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;

    if (inject && size <= ofi.info->tx_attr->inject_size)
        flags |= FI_INJECT;
    POST("fi_writemsg", fi_writemsg(ofi.ep, &msg, flags));
}

static void post_read(void *to, size_t from, size_t size)
{
    POST("fi_read", fi_read(ofi.ep, to, size, ofi.desc, ofi.peer,
                            ofi.blob.base + from, ofi.blob.key, NULL));
}

/* Asks for no completion at all: the answer is one. */
static void throw_ball(uint64_t value)
{
    POST("fi_inject_write",
         fi_inject_write(ofi.ep, &value, sizeof value, ofi.peer,
                         ofi.blob.base + AT(ball), ofi.blob.key));
    outstanding--;
}

/* --------------------------------------------------------------- loops ---- */

static void writes(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        post_write(AT(block), &ofi.mem->word, 8);
        reap(0);
    }
}

static void reads(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        post_read(&ofi.mem->word, AT(block), 8);
        reap(0);
    }
}

static void fetch_adds(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        ofi.mem->word = 1;
        POST("fi_fetch_atomic",
             fi_fetch_atomic(ofi.ep, &ofi.mem->word, 1, ofi.desc,
                             &ofi.mem->result, ofi.desc, ofi.peer,
                             ofi.blob.base + AT(counter), ofi.blob.key,
                             FI_UINT64, FI_SUM, NULL));
        reap(0);
    }
}

static void pipe_writes(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        post_write(AT(block) + (size_t)(i % PIPE) * 8, &ofi.mem->word, 8);
        if (i % PIPE == PIPE - 1)
            reap(0);
    }
    reap(0);
}

static void large_writes(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        post_write(AT(block) + (size_t)(i % WINDOW) * LARGE,
                   ofi.mem->block[i % WINDOW], LARGE);
        if (i % WINDOW == WINDOW - 1)
            reap(0);
    }
    reap(0);
}

static void large_reads(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        post_read(ofi.mem->block[i % WINDOW],
                  AT(block) + (size_t)(i % WINDOW) * LARGE, LARGE);
        if (i % WINDOW == WINDOW - 1)
            reap(0);
    }
    reap(0);
}

/* An iteration is a pass in one direction. */
static void passes(void *arg, int iters)
{
    static uint64_t ball;

    (void)arg;
    for (int i = 0; i < iters; i += 2) {
        unsigned turns = 0;
        double since = 0;

        throw_ball(++ball);
        while (ofi.mem->ball != ball) {
            turn();
            patience(&turns, &since);
        }
    }
}

/* What two PEs do in a barrier: each throws a ball, and waits for the other's.
 * PE 1 is ahead by one, which the first ball starts. */
static void exchanges(void *arg, int iters)
{
    static uint64_t round = EXCHANGE;

    (void)arg;
    throw_ball(++round);
    for (int i = 0; i < iters; i++) {
        unsigned turns = 0;
        double since = 0;

        throw_ball(++round);
        while (ofi.mem->ball < round) {
            turn();
            patience(&turns, &since);
        }
    }
}

/* PE 1: turns the queue, and returns each ball; of an exchange it throws the
 * next one. */
static void answer(void)
{
    uint64_t last = 0, ball;

    while (!ofi.mem->stop) {
        turn();
        ball = ofi.mem->ball;
        if (ball >= EXCHANGE && last < EXCHANGE)
            last = EXCHANGE + 1;
        for (; ball > EXCHANGE && last <= ball; last++)
            throw_ball(last + 1);
        if (ball < EXCHANGE && ball != last) {
            last = ball;
            throw_ball(last);
        }
    }
}

static void measure(void)
{
    const struct {
        const char *name;
        bench_loop *loop;
        int iters;
    } rows[] = {
        { "8 B put + quiet", writes, iterations },
        { "8 B get", reads, iterations },
        { "8 B fetch-add", fetch_adds, iterations },
        { "8 B put, 64 to a quiet", pipe_writes, 8 * PIPE },
        { "8 B one way, polled", passes, 2 * iterations },
        { "1 MiB put, 8 to a quiet", large_writes, 4 * WINDOW },
        { "1 MiB get, 8 to a quiet", large_reads, 4 * WINDOW },
        { "barrier_all, 2 PEs", exchanges, iterations },
    };

    if (!tsv)
        printf("# %s %s, inject up to %zu B%s\n",
               ofi.info->fabric_attr->prov_name, ofi.info->domain_attr->name,
               ofi.info->tx_attr->inject_size, inject ? "" : ", not used");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench_row row = { .name = rows[i].name, .unit = "ns" };

        row.limit = bench_one(rows[i].loop, NULL, rows[i].iters);
        bench_print(&row);
    }
    ofi.mem->word = 1;
    post_write(AT(stop), &ofi.mem->word, 8);
    reap(0);
}

/* ------------------------------------------------------------ start-up ---- */

static void pmix_check(const char *what, pmix_status_t st)
{
    if (st != PMIX_SUCCESS)
        die(what, PMIx_Error_string(st));
}

static void fence(void)
{
    bool collect = true;
    pmix_info_t want;

    PMIX_INFO_LOAD(&want, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    pmix_check("PMIx_Fence", PMIx_Fence(NULL, 0, &want, 1));
}

static void exchange(const struct blob *mine)
{
    pmix_proc_t other = self;
    pmix_value_t v, *got = NULL;

    v.type = PMIX_BYTE_OBJECT;
    v.data.bo.bytes = (char *)mine;
    v.data.bo.size = sizeof *mine;
    pmix_check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "ofi_raw.blob", &v));
    pmix_check("PMIx_Commit", PMIx_Commit());
    fence();
    other.rank = 1 - self.rank;
    pmix_check("PMIx_Get", PMIx_Get(&other, "ofi_raw.blob", NULL, 0, &got));
    if (got->type != PMIX_BYTE_OBJECT || got->data.bo.size != sizeof *mine)
        die("PMIx_Get", "not the other side's blob");
    memcpy(&ofi.blob, got->data.bo.bytes, sizeof ofi.blob);
    PMIX_VALUE_RELEASE(got);
}

static void choose(void)
{
    struct fi_info *hints = fi_allocinfo();

    if (!hints)
        die("fi_allocinfo", "no memory");
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                                  FI_MR_PROV_KEY | FI_MR_VIRT_ADDR |
                                  FI_MR_LOCAL;
    check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints,
                                   &ofi.info));
    fi_freeinfo(hints);
}

static void open_endpoint(void)
{
    struct fi_av_attr av = { .type = FI_AV_TABLE, .count = 2 };
    struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT, .size = 4096 };

    check("fi_fabric", fi_fabric(ofi.info->fabric_attr, &ofi.fabric, NULL));
    check("fi_domain", fi_domain(ofi.fabric, ofi.info, &ofi.domain, NULL));
    check("fi_av_open", fi_av_open(ofi.domain, &av, &ofi.av, NULL));
    check("fi_cq_open", fi_cq_open(ofi.domain, &cq, &ofi.cq, NULL));
    check("fi_endpoint", fi_endpoint(ofi.domain, ofi.info, &ofi.ep, NULL));
    check("fi_ep_bind", fi_ep_bind(ofi.ep, &ofi.av->fid, 0));
    check("fi_ep_bind", fi_ep_bind(ofi.ep, &ofi.cq->fid,
                                   FI_TRANSMIT | FI_RECV));
    check("fi_enable", fi_enable(ofi.ep));
}

static void register_memory(struct blob *mine)
{
    int mode = ofi.info->domain_attr->mr_mode;

    ofi.mem = aligned_alloc(4096, sizeof *ofi.mem);
    if (!ofi.mem)
        die("aligned_alloc", "no memory");
    memset(ofi.mem, 0, sizeof *ofi.mem);
    check("fi_mr_reg", fi_mr_reg(ofi.domain, ofi.mem, sizeof *ofi.mem,
                                 FI_READ | FI_WRITE | FI_REMOTE_READ |
                                 FI_REMOTE_WRITE, 0, 1, 0, &ofi.mr, NULL));
    if (mode & FI_MR_ENDPOINT) {
        check("fi_mr_bind", fi_mr_bind(ofi.mr, &ofi.ep->fid, 0));
        check("fi_mr_enable", fi_mr_enable(ofi.mr));
    }
    ofi.desc = fi_mr_desc(ofi.mr);
    mine->key = fi_mr_key(ofi.mr);
    mine->base = mode & FI_MR_VIRT_ADDR ? (uintptr_t)ofi.mem : 0;
    mine->name_len = sizeof mine->name;
    check("fi_getname", fi_getname(&ofi.ep->fid, mine->name,
                                   &mine->name_len));
}

static void shut(void)
{
    fi_close(&ofi.ep->fid);
    fi_close(&ofi.mr->fid);
    fi_close(&ofi.cq->fid);
    fi_close(&ofi.av->fid);
    fi_close(&ofi.domain->fid);
    fi_close(&ofi.fabric->fid);
    fi_freeinfo(ofi.info);
    free(ofi.mem);
}

static int options(int argc, char **argv)
{
    int c, at = 1;

    bench_open(argc, argv);
    tsv = argc > 1 && !strcmp(argv[1], "--tsv");
    optind = at + tsv;
    while ((c = getopt(argc, argv, "p:i:c")) != -1) {
        switch (c) {
        case 'p': provider = optarg; break;
        case 'i': iterations = atoi(optarg); break;
        case 'c': inject = 0; break;
        default: return 2;
        }
    }
    return iterations > 0 && optind == argc ? 0 : 2;
}

int main(int argc, char **argv)
{
    struct blob mine = { 0 };
    pmix_status_t st;

    if (options(argc, argv)) {
        fprintf(stderr, "usage: ofi_raw [--tsv] [-p PROVIDER] "
                "[-i ITERATIONS] [-c]\n");
        return 2;
    }
    st = PMIx_Init(&self, NULL, 0);
    if (st != PMIX_SUCCESS) {
        fprintf(stderr, "ofi_raw: PMIx_Init: %s\n", PMIx_Error_string(st));
        return 1;
    }
    if (self.rank > 1)
        die("start", "2 PEs are wanted");
    choose();
    open_endpoint();
    register_memory(&mine);
    exchange(&mine);
    if (fi_av_insert(ofi.av, ofi.blob.name, 1, &ofi.peer, 0, NULL) != 1)
        die("fi_av_insert", "address refused");
    if (self.rank == 0)
        measure();
    else
        answer();
    fence();
    shut();
    PMIx_Finalize(NULL, 0);
    return 0;
}
