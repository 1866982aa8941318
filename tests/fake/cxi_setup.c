/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: the stand-in for CXI offers what that provider offers, and
 * opens, binds and enables things in its order only.  Run by cxi.sh.
 */
#include "fabric.h"

#include <poll.h>
#include <sys/resource.h>

static const struct want plain;
static char memory[4096];

/* What getinfo answers to hints that the function has changed. */
static int query(void (*change)(struct fi_info *))
{
    struct fi_info *h = fabric_hints(&plain), *info = NULL;
    int rc;

    change(h);
    rc = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &info);
    fi_freeinfo(h);
    if (!rc)
        fi_freeinfo(info);
    return rc;
}

#define ASKS(name, statement) \
    static void name(struct fi_info *h) { statement; }

ASKS(nothing, (void)h)
ASKS(endpoint_alone, h->domain_attr->mr_mode = FI_MR_ENDPOINT)
ASKS(waw, h->tx_attr->msg_order = FI_ORDER_WAW | FI_ORDER_RMA_RAR)
ASKS(manual, h->domain_attr->data_progress = FI_PROGRESS_MANUAL)
ASKS(connections, h->ep_attr->type = FI_EP_MSG)
ASKS(no_endpoint_keys, h->domain_attr->mr_mode = FI_MR_ALLOCATED)
ASKS(virtual_alone, h->domain_attr->mr_mode = FI_MR_VIRT_ADDR)
ASKS(not_allocated, h->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_LOCAL)
ASKS(automatic, h->domain_attr->data_progress = FI_PROGRESS_AUTO)
ASKS(control, h->domain_attr->control_progress = FI_PROGRESS_AUTO)
ASKS(raw, h->tx_attr->msg_order = FI_ORDER_RMA_RAW)
ASKS(war, h->tx_attr->msg_order = FI_ORDER_WAR)
ASKS(vectors, h->tx_attr->iov_limit = 2)
ASKS(remote_vectors, h->tx_attr->rma_iov_limit = 2)
ASKS(too_deep, h->tx_attr->size = 16385)
ASKS(too_long, h->ep_attr->max_msg_size = 1ull << 32)
ASKS(inject, h->tx_attr->inject_size = 193)
ASKS(other_nic, h->domain_attr->name = strdup("cxi7"))

T(hints_that_it_serves_and_hints_that_it_does_not)
{
    T_EQ(query(nothing), 0);
    T_EQ(query(endpoint_alone), 0);
    T_EQ(query(waw), 0);
    T_EQ(query(manual), 0);
    T_EQ(query(connections), -FI_ENODATA);
    T_EQ(query(no_endpoint_keys), -FI_ENODATA);
    T_EQ(query(virtual_alone), -FI_ENODATA);
    T_EQ(query(not_allocated), -FI_ENODATA);
    T_EQ(query(automatic), -FI_ENODATA);
    T_EQ(query(control), -FI_ENODATA);
    T_EQ(query(raw), -FI_ENODATA);
    T_EQ(query(war), -FI_ENODATA);
    T_EQ(query(vectors), -FI_ENODATA);
    T_EQ(query(remote_vectors), -FI_ENODATA);
    T_EQ(query(too_deep), -FI_ENODATA);
    T_EQ(query(too_long), -FI_ENODATA);
    T_EQ(query(inject), -FI_ENODATA);
    T_EQ(query(other_nic), -FI_ENODATA);
}

/* The answer to hints with these memory modes; the caller frees it. */
static struct fi_info *offers(uint64_t mr_mode)
{
    struct want want = { .mr_mode = mr_mode };
    struct fi_info *h = fabric_hints(&want), *info = NULL;

    fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &info);
    fi_freeinfo(h);
    return info;
}

T(what_it_says_of_itself)
{
    struct fi_info *info = offers(0);

    T_STR(info->fabric_attr->prov_name, "cxi");
    T_STR(info->domain_attr->name, "cxi0");
    T_EQ(info->ep_attr->type, FI_EP_RDM);
    T_EQ(info->addr_format, FI_ADDR_CXI);
    T_EQ(info->ep_attr->max_msg_size, (1ull << 32) - 1);
    T_EQ(info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
    T_EQ(info->domain_attr->control_progress, FI_PROGRESS_MANUAL);
    T_EQ(info->tx_attr->iov_limit, 1);
    T_EQ(info->tx_attr->rma_iov_limit, 1);
    T_EQ(info->tx_attr->size, 1024);
    fi_freeinfo(info);
}

T(provider_keys_come_first_and_addresses_are_offsets)
{
    const int both = FI_MR_ENDPOINT | FI_MR_ALLOCATED;
    struct fi_info *info = offers(FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                                  FI_MR_PROV_KEY | FI_MR_VIRT_ADDR |
                                  FI_MR_LOCAL | FI_MR_HMEM);

    T_EQ(info->domain_attr->mr_mode, both | FI_MR_PROV_KEY);
    T_EQ(info->domain_attr->mr_key_size, 8);
    T_TRUE(info->next != NULL);
    T_EQ(info->next->domain_attr->mr_mode, both);
    T_EQ(info->next->domain_attr->mr_key_size, 4);
    fi_freeinfo(info);
    info = offers(FI_MR_ENDPOINT);
    T_EQ(info->domain_attr->mr_mode, both);
    T_TRUE(info->next == NULL);
    fi_freeinfo(info);
}

T(as_many_nics_as_set)
{
    struct fi_info *info;

    setenv("FAKE_CXI_NICS", "2", 1);
    info = offers(0);
    unsetenv("FAKE_CXI_NICS");
    T_TRUE(info->next && !info->next->next);
    T_STR(info->domain_attr->name, "cxi0");
    T_STR(info->next->domain_attr->name, "cxi1");
    fi_freeinfo(info);
}

T(no_domain_without_a_virtual_network)
{
    struct fi_info *info = offers(0);
    struct fid_fabric *fabric;
    struct fid_domain *domain;

    T_EQ(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
    setenv("FAKE_CXI_NO_VNI", "1", 1);
    T_EQ(fi_domain(fabric, info, &domain, NULL), -FI_ENOSYS);
    unsetenv("FAKE_CXI_NO_VNI");
    T_EQ(fi_close(&fabric->fid), 0);
    fi_freeinfo(info);
}

T(an_endpoint_wants_a_transmit_queue_even_with_counters)
{
    struct node n = { 0 };
    struct fi_av_attr av_attr = { .type = FI_AV_MAP };
    struct fid_av *av;
    struct fid_cntr *cntr;
    struct fid_cq *cq;
    struct fid_ep *ep;

    fabric_open(&n, &plain);
    T_EQ(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
    T_EQ(fi_enable(ep), -FI_ENOAV);
    T_EQ(fi_av_open(n.domain, &av_attr, &av, NULL), 0);
    T_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
    T_EQ(fi_cntr_open(n.domain, NULL, &cntr, NULL), 0);
    T_EQ(fi_ep_bind(ep, &cntr->fid, FI_WRITE), 0);
    T_EQ(fi_enable(ep), -FI_ENOCQ);
    T_EQ(fi_cq_open(n.domain, NULL, &cq, NULL), 0);
    T_EQ(fi_ep_bind(ep, &cq->fid, FI_RECV), 0);
    T_EQ(fi_enable(ep), -FI_ENOCQ);
    T_EQ(fi_close(&cq->fid), -FI_EBUSY);
    T_EQ(fi_close(&cntr->fid), -FI_EBUSY);
    T_EQ(fi_close(&n.domain->fid), -FI_EBUSY);
    T_EQ(fi_close(&ep->fid), 0);
    T_EQ(fi_close(&cq->fid), 0);
    T_EQ(fi_close(&cntr->fid), 0);
    T_EQ(fi_close(&av->fid), 0);
    fabric_close(&n);
}

T(a_region_is_registered_bound_and_enabled_in_this_order)
{
    struct node n = { 0 };
    struct fid_ep *late;
    struct fid_mr *mr;

    fabric_open(&n, &plain);
    fabric_endpoint(&n, &plain);
    T_EQ(fi_endpoint(n.domain, n.info, &late, NULL), 0);
    T_EQ(fi_mr_reg(n.domain, memory, 8, FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL),
         0);
    setenv("FAKE_CXI_SOFT", "1", 1);
    T_EQ(fi_mr_enable(mr), -FI_EINVAL);
    T_EQ(fi_mr_bind(mr, &late->fid, 0), -FI_EINVAL);
    unsetenv("FAKE_CXI_SOFT");
    T_EQ(fi_mr_bind(mr, &n.ep->fid, 0), 0);
    T_EQ(fi_mr_bind(mr, &n.ep->fid, 0), -FI_EINVAL);
    T_EQ(fi_mr_enable(mr), 0);
    T_EQ(fi_close(&n.ep->fid), -FI_EBUSY);
    T_EQ(fi_close(&mr->fid), 0);
    T_EQ(fi_close(&late->fid), 0);
    fabric_close(&n);
}

T(a_broken_rule_is_loud)
{
    struct rlimit none = { 0, 0 };
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        struct node n = { 0 };
        struct fid_mr *mr;

        setrlimit(RLIMIT_CORE, &none);
        fabric_open(&n, &plain);
        fabric_endpoint(&n, &plain);
        fi_mr_reg(n.domain, memory, 8, FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL);
        fi_mr_enable(mr);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    T_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static int reg(struct node *n, uint64_t key, struct fid_mr **out)
{
    return fi_mr_reg(n->domain, memory, 8, FI_REMOTE_WRITE, 0, key, 0, out,
                     NULL);
}

T(client_keys_are_unique_and_of_32_bits)
{
    struct node n = { 0 };
    struct fid_mr *mr, *other;

    fabric_open(&n, &plain);
    T_EQ(reg(&n, 1ull << 32, &mr), -FI_EKEYREJECTED);
    T_EQ(reg(&n, UINT32_MAX, &mr), 0);
    T_EQ(fi_mr_key(mr), UINT32_MAX);
    T_EQ(reg(&n, UINT32_MAX, &other), -FI_ENOKEY);
    T_EQ(fi_close(&mr->fid), 0);
    T_EQ(reg(&n, UINT32_MAX, &mr), 0);
    T_EQ(fi_close(&mr->fid), 0);
    fabric_close(&n);
}

T(provider_keys_are_known_after_enable_and_long)
{
    struct want want = { .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                                    FI_MR_PROV_KEY };
    struct node n = { 0 };
    struct fid_mr *mr, *again;

    fabric_open(&n, &want);
    fabric_endpoint(&n, &want);
    T_EQ(reg(&n, 5, &mr), 0);
    T_EQ(reg(&n, 5, &again), 0);        /* what is requested does not matter */
    T_EQ(fi_mr_key(mr), FI_KEY_NOTAVAIL);
    T_EQ(fi_mr_bind(mr, &n.ep->fid, 0), 0);
    T_EQ(fi_mr_key(mr), FI_KEY_NOTAVAIL);
    T_EQ(fi_mr_enable(mr), 0);
    T_NE(fi_mr_key(mr), FI_KEY_NOTAVAIL);
    T_LT(UINT32_MAX, fi_mr_key(mr));
    T_EQ(fi_close(&mr->fid), 0);
    T_EQ(fi_close(&again->fid), 0);
    fabric_close(&n);
}

/* Writes to itself with the key, with a part of it, with a wrong one. */
T(provider_keys_are_good_whole_only)
{
    struct want want = { .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                                    FI_MR_PROV_KEY };
    struct node n = { 0 };
    struct fid_mr *mr;
    char name[NAME_MAX_BYTES], byte = 3;
    uint64_t keys[2];
    size_t size = sizeof name;
    fi_addr_t self;
    int err;

    fabric_open(&n, &want);
    fabric_endpoint(&n, &want);
    mr = fabric_region(&n, memory, sizeof memory, 0);
    T_EQ(fi_getname(&n.ep->fid, name, &size), 0);
    self = fabric_peer(&n, name);
    T_EQ(fi_write(n.ep, &byte, 1, NULL, self, 0, fi_mr_key(mr), NULL), 0);
    fabric_wait(n.txcq, &err);
    T_EQ(err, 0);
    for (unsigned turns = 0; !*(volatile char *)memory; )
        if (!fabric_patience(&turns))
            break;
    T_EQ(*(volatile char *)memory, 3);
    keys[0] = (uint32_t)fi_mr_key(mr);
    keys[1] = fi_mr_key(mr) ^ 1ull << 60;
    for (int i = 0; i < 2; i++) {
        T_EQ(fi_write(n.ep, &byte, 1, NULL, self, 0, keys[i], NULL), 0);
        fabric_wait(n.txcq, &err);
        T_EQ(err, FI_EIO);
    }
    T_EQ(fi_close(&mr->fid), 0);
    fabric_close(&n);
}

/* A key says where a region begins, not how long it is. */
T(regions_that_begin_alike_have_one_key)
{
    struct want want = { .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                                    FI_MR_PROV_KEY };
    static _Alignas(64) char bytes[4096];
    struct node n = { 0 };
    struct fid_mr *few, *all, *other;
    char name[NAME_MAX_BYTES], byte = 5;
    size_t size = sizeof name;
    fi_addr_t self;
    int err;

    fabric_open(&n, &want);
    fabric_endpoint(&n, &want);
    few = fabric_region(&n, bytes, 64, 0);
    all = fabric_region(&n, bytes, sizeof bytes, 0);
    other = fabric_region(&n, bytes + 64, 64, 0);
    T_EQ(fi_mr_key(few), fi_mr_key(all));
    T_EQ(fi_mr_key(few) + 64, fi_mr_key(other));
    T_EQ(fi_getname(&n.ep->fid, name, &size), 0);
    self = fabric_peer(&n, name);
    for (int off = 0; off < (int)sizeof bytes; off += 1024) {
        T_EQ(fi_write(n.ep, &byte, 1, NULL, self, (uint64_t)off,
                      fi_mr_key(few), NULL), 0);
        fabric_wait(n.txcq, &err);
        T_EQ(err, 0);
    }
    T_EQ(fi_write(n.ep, &byte, 1, NULL, self, sizeof bytes, fi_mr_key(all),
                  NULL), 0);
    fabric_wait(n.txcq, &err);
    T_EQ(err, FI_EIO);
    T_EQ(fi_close(&other->fid), 0);
    T_EQ(fi_close(&few->fid), 0);
    T_EQ(fi_close(&all->fid), 0);
    fabric_close(&n);
}

T(counters_wait_by_spinning_only_and_have_48_and_7_bits)
{
    static const enum fi_wait_obj can[] = { FI_WAIT_NONE, FI_WAIT_UNSPEC,
        FI_WAIT_YIELD }, cannot[] = { FI_WAIT_FD, FI_WAIT_MUTEX_COND,
        FI_WAIT_SET };
    struct fi_cntr_attr attr = { 0 };
    struct node n = { 0 };
    struct fid_cntr *cntr;

    fabric_open(&n, &plain);
    for (int i = 0; i < 3; i++) {
        attr.wait_obj = can[i];
        T_EQ(fi_cntr_open(n.domain, &attr, &cntr, NULL), 0);
        T_EQ(fi_cntr_wait(cntr, 1ull << 48, 0), -FI_EINVAL);
        T_EQ(fi_cntr_wait(cntr, 1, 1), i ? -FI_ETIMEDOUT : -FI_EINVAL);
        T_EQ(fi_cntr_add(cntr, (1ull << 48) - 1), 0);
        T_EQ(fi_cntr_read(cntr), (1ull << 48) - 1);
        T_EQ(fi_cntr_set(cntr, 1ull << 48), -FI_EINVAL);
        T_EQ(fi_cntr_adderr(cntr, 128), -FI_EINVAL);
        T_EQ(fi_close(&cntr->fid), 0);
        attr.wait_obj = cannot[i];
        T_EQ(fi_cntr_open(n.domain, &attr, &cntr, NULL), -FI_ENOSYS);
    }
    fabric_close(&n);
}

static bool readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) == 1;
}

T(a_queue_has_a_descriptor_that_needs_trywait)
{
    static const enum fi_wait_obj cannot[] = { FI_WAIT_SET,
        FI_WAIT_MUTEX_COND, FI_WAIT_YIELD };
    struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };
    struct fi_cq_entry entry;
    struct node n = { 0 };
    struct fid_cq *cq;
    int fd;

    fabric_open(&n, &plain);
    for (int i = 0; i < 3; i++) {
        attr.wait_obj = cannot[i];
        T_EQ(fi_cq_open(n.domain, &attr, &cq, NULL), -FI_ENOSYS);
    }
    attr.wait_obj = FI_WAIT_NONE;
    T_EQ(fi_cq_open(n.domain, &attr, &cq, NULL), 0);
    T_EQ(fi_control(&cq->fid, FI_GETWAIT, &fd), -FI_ENODATA);
    T_EQ(fi_cq_sread(cq, &entry, 1, NULL, 0), -FI_EINVAL);
    T_EQ(fi_trywait(n.fabric, (struct fid *[]){ &cq->fid }, 1), -FI_EINVAL);
    T_EQ(fi_close(&cq->fid), 0);
    attr.wait_obj = FI_WAIT_FD;
    setenv("FAKE_CXI_NO_FD", "1", 1);
    T_EQ(fi_cq_open(n.domain, &attr, &cq, NULL), -FI_ENOSYS);
    unsetenv("FAKE_CXI_NO_FD");
    T_EQ(fi_cq_open(n.domain, &attr, &cq, NULL), 0);
    T_EQ(fi_control(&cq->fid, FI_GETWAIT, &fd), 0);
    T_TRUE(!readable(fd));
    T_EQ(fi_cq_sread(cq, &entry, 1, NULL, 1), -FI_EAGAIN);
    T_EQ(fi_close(&cq->fid), 0);
    fabric_close(&n);
}

/* It stays readable when the entry is read, and until fi_trywait. */
T(a_descriptor_signals_an_entry)
{
    struct want want = { .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                                    FI_MR_PROV_KEY };
    struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };
    char name[NAME_MAX_BYTES], byte = 3;
    size_t size = sizeof name;
    struct fi_cq_entry entry;
    struct node n = { 0 };
    struct fid_mr *mr;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int fd;

    fabric_open(&n, &want);
    fabric_endpoint(&n, &want);
    mr = fabric_region(&n, memory, sizeof memory, 0);
    T_EQ(fi_cq_open(n.domain, &attr, &cq, NULL), 0);
    T_EQ(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
    T_EQ(fi_ep_bind(ep, &n.av->fid, 0), 0);
    T_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
    T_EQ(fi_enable(ep), 0);
    T_EQ(fi_control(&cq->fid, FI_GETWAIT, &fd), 0);
    T_EQ(fi_getname(&n.ep->fid, name, &size), 0);
    T_EQ(fi_trywait(n.fabric, (struct fid *[]){ &cq->fid }, 1), 0);
    T_EQ(fi_write(ep, &byte, 1, NULL, fabric_peer(&n, name), 0, fi_mr_key(mr),
                  NULL), 0);
    for (unsigned turns = 0; !readable(fd) && fabric_patience(&turns); )
        ;
    T_TRUE(readable(fd));
    T_EQ(fi_trywait(n.fabric, (struct fid *[]){ &cq->fid }, 1), -FI_EAGAIN);
    T_EQ(fi_cq_sread(cq, &entry, 1, NULL, -1), 1);
    T_TRUE(readable(fd));
    T_EQ(fi_trywait(n.fabric, (struct fid *[]){ &cq->fid }, 1), 0);
    T_TRUE(!readable(fd));
    T_EQ(fi_close(&ep->fid), 0);
    T_EQ(fi_close(&cq->fid), 0);
    T_EQ(fi_close(&mr->fid), 0);
    fabric_close(&n);
}

static int can(struct node *n, enum fi_datatype type, enum fi_op op,
               uint64_t flags)
{
    struct fi_atomic_attr attr = { 0 };
    int rc = fi_query_atomic(n->domain, type, op, &attr, flags);

    return rc ? rc : (int)attr.count;
}

T(the_table_of_atomics)
{
    struct node n = { 0 };

    fabric_open(&n, &plain);
    T_EQ(can(&n, FI_INT64, FI_SUM, 0), 1);
    T_EQ(can(&n, FI_FLOAT, FI_MAX, FI_FETCH_ATOMIC), 1);
    T_EQ(can(&n, FI_DOUBLE_COMPLEX, FI_SUM, 0), 1);
    T_EQ(can(&n, FI_DOUBLE, FI_CSWAP_LE, FI_COMPARE_ATOMIC), 1);
    T_EQ(can(&n, FI_UINT8, FI_MSWAP, FI_COMPARE_ATOMIC), 1);
    T_EQ(can(&n, FI_UINT64, FI_ATOMIC_READ, FI_FETCH_ATOMIC), 1);
    T_EQ(can(&n, FI_UINT64, FI_ATOMIC_READ, 0), -FI_EOPNOTSUPP);
    T_EQ(can(&n, FI_INT64, FI_PROD, 0), -FI_EOPNOTSUPP);
    T_EQ(can(&n, FI_LONG_DOUBLE, FI_SUM, 0), -FI_EOPNOTSUPP);
    T_EQ(can(&n, FI_FLOAT_COMPLEX, FI_MIN, 0), -FI_EOPNOTSUPP);
    T_EQ(can(&n, FI_DOUBLE, FI_BXOR, 0), -FI_EOPNOTSUPP);
    T_EQ(can(&n, FI_FLOAT, FI_MSWAP, FI_COMPARE_ATOMIC), -FI_EOPNOTSUPP);
    T_EQ(can(&n, FI_INT64, FI_CSWAP, 0), -FI_EOPNOTSUPP);
    fabric_close(&n);
}

T(extensions_by_their_names)
{
    struct node n = { 0 };
    void *ops;

    fabric_open(&n, &plain);
    T_EQ(fi_open_ops(&n.domain->fid, "dom_ops_v4", 0, &ops, NULL), 0);
    T_EQ(fi_open_ops(&n.domain->fid, "dom_ops_v6", 0, &ops, NULL), 0);
    T_EQ(fi_open_ops(&n.domain->fid, "dom_ops_v0", 0, &ops, NULL),
         -FI_EINVAL);
    T_EQ(fi_control(&n.domain->fid, FI_QUEUE_WORK, NULL), -FI_EINVAL);
    T_EQ(fi_control(&n.domain->fid, FI_CANCEL_WORK, NULL), -FI_EINVAL);
    fabric_close(&n);
}

int main(void)
{
    T_RUN(a_broken_rule_is_loud);       /* forks, so before any thread */
    T_RUN(hints_that_it_serves_and_hints_that_it_does_not);
    T_RUN(what_it_says_of_itself);
    T_RUN(provider_keys_come_first_and_addresses_are_offsets);
    T_RUN(as_many_nics_as_set);
    T_RUN(no_domain_without_a_virtual_network);
    T_RUN(an_endpoint_wants_a_transmit_queue_even_with_counters);
    T_RUN(a_region_is_registered_bound_and_enabled_in_this_order);
    T_RUN(client_keys_are_unique_and_of_32_bits);
    T_RUN(provider_keys_are_known_after_enable_and_long);
    T_RUN(provider_keys_are_good_whole_only);
    T_RUN(regions_that_begin_alike_have_one_key);
    T_RUN(counters_wait_by_spinning_only_and_have_48_and_7_bits);
    T_RUN(a_queue_has_a_descriptor_that_needs_trywait);
    T_RUN(a_descriptor_signals_an_entry);
    T_RUN(the_table_of_atomics);
    T_RUN(extensions_by_their_names);
    return T_DONE();
}
