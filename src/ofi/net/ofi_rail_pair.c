/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rails of a peer those of this PE talk to.  Each PE that has several
 * publishes a rail_addr for each; another one with several looks them up when
 * it first has something large for that PE. */
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_sockets.h"
#include "base/clock.h"
#include "ofi/net/ofi_local.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDR_MOST = 64, KEY_NAME = 32 };

struct rail_addr {
    uint32_t net;               /* the network's name, hashed */
    uint64_t key[OFI_RAIL_SEGS];
    uint8_t addr_len, addr[ADDR_MOST];
};

enum { PACKED_MOST = OFI_RAILS * sizeof(struct rail_addr) };

/* ---- as it is published: members one behind the other ---- */

static uint8_t *pack(const struct rail_addr *c, uint8_t *out)
{
    memcpy(out, &c->net, sizeof c->net);
    out += sizeof c->net;
    memcpy(out, c->key, sizeof c->key);
    out += sizeof c->key;
    *out++ = c->addr_len;
    memcpy(out, c->addr, c->addr_len);
    return out + c->addr_len;
}

/* What follows it, or NULL: there is not as much. */
static const uint8_t *unpack(const uint8_t *in, const uint8_t *end,
                             struct rail_addr *c)
{
    if ((size_t)(end - in) <= sizeof c->net + sizeof c->key)
        return NULL;
    memcpy(&c->net, in, sizeof c->net);
    in += sizeof c->net;
    memcpy(c->key, in, sizeof c->key);
    in += sizeof c->key;
    c->addr_len = *in++;
    if (c->addr_len > sizeof c->addr || end - in < c->addr_len)
        return NULL;
    memcpy(c->addr, in, c->addr_len);
    return in + c->addr_len;
}

/* By PE; NULL: not looked up yet.  Atomic, written under ofi_lock. */
static struct ofi_pair **peers;
static int growths;             /* of the heap, whose keys all can look up */
static int n_probes;             /* atomic: questions that have not ended */

/* ---- this PE's ---- */

/* FNV-1a. */
static uint32_t hash(const char *text)
{
    uint32_t h = 0x811c9dc5;

    for (; text && *text; text++)
        h = (h ^ (uint8_t)*text) * 0x01000193;
    return h;
}

static struct fid_mr *region(int rail, int seg)
{
    return rail ? ofi_rails[rail - 1].mr[seg] : ofi.mr[seg];
}

static uint64_t key_of(int rail, int seg)
{
    struct fid_mr *mr = region(rail, seg);

    return mr ? fi_mr_key(mr) : 0;
}

static struct fi_info *info_of(int rail)
{
    return rail ? ofi_rails[rail - 1].info : ofi.info;
}

static const char *name_of(int rail)
{
    return info_of(rail)->domain_attr->name;
}

static int fill_addr(int rail, struct rail_addr *c)
{
    struct ofi_ep *e = rail ? ofi_rails[rail - 1].ep : ofi.eps[0];
    size_t len = sizeof c->addr;
    int rc = fi_getname(&e->ep->fid, c->addr, &len);

    rc = rc || len <= sizeof c->addr ? rc : -FI_ETOOSMALL;
    if (rc) {
        log_error(ERR_NET, "fi_getname on %s: %s", name_of(rail),
                  ofi_strerror(rc));
        return rc;
    }
    c->addr_len = (uint8_t)len;
    c->net = hash(info_of(rail)->fabric_attr->name);
    for (int s = 0; s < OFI_RAIL_SEGS; s++)
        c->key[s] = key_of(rail, s);
    return 0;
}

int ofi_rail_publish(void)
{
    uint8_t bytes[PACKED_MOST], *end = bytes;
    struct rail_addr c;
    int rc = 0;

    if (!ofi_n_rails)
        return 0;
    for (int i = 0; i <= ofi_n_rails && !rc; i++) {
        rc = fill_addr(i, &c);
        if (!rc)
            end = pack(&c, end);
    }
    return rc ? rc : rt_put("ofi-rails", bytes, (size_t)(end - bytes));
}

/* The first rail reads into it to try a pair; the others have their own. */
static uint64_t scratch;
static struct fid_mr *scratch_mr;

int ofi_rail_peers_open(void)
{
    int rc = 0;

    peers = calloc((size_t)rt_job.n_pes, sizeof *peers);
    if (!peers)
        rc = -ENOMEM;
    else if (ofi.local_keys)
        rc = ofi_local_register(&scratch, sizeof scratch, FI_READ,
                                &scratch_mr);
    if (rc)
        log_error(ERR_LIMIT, "no memory for the rails of %d peers: %s",
                  rt_job.n_pes, ofi_strerror(rc));
    return rc;
}

void ofi_rail_peers_close(void)
{
    if (scratch_mr)
        fi_close(&scratch_mr->fid);
    scratch_mr = NULL;
    n_probes = 0;
    growths = 0;
    for (int pe = 0; peers && pe < rt_job.n_pes; pe++)
        free(peers[pe]);
    free(peers);
    peers = NULL;
}

/* ---- pairs ---- */

/* Of n rails here and m there: those on a network of the same name, then the
 * rest by number, until all of one side have one.  with: -1 for none. */
static void pair_up(const struct rail_addr *addrs, int m, int *with)
{
    int n = 1 + ofi_n_rails, left = n < m ? n : m;
    bool used[OFI_RAILS] = { false };

    for (int i = 0; i < n; i++)
        with[i] = -1;
    for (int same = 1; same >= 0; same--)
        for (int i = 0; i < n; i++) {
            uint32_t net = hash(info_of(i)->fabric_attr->name);

            for (int j = 0; j < m && with[i] < 0 && left; j++) {
                if (used[j] || (same && addrs[j].net != net))
                    continue;
                with[i] = j;
                used[j] = true;
                left--;
            }
        }
}

/* A pair that both ends know is not looked up twice. */
static void insert(int rail, int pe, const struct rail_addr *c,
                   struct ofi_pair *p)
{
    struct fid_av *av = rail ? ofi_rails[rail - 1].av : ofi.av;
    int n = 1;

    p->state = OFI_PAIR_NEW;
    memcpy(p->key, c->key, sizeof p->key);
    if (!rail && !p->with) {
        p->addr = ofi.peers[pe].addr;
        p->state = OFI_PAIR_READY;
        return;
    }
    ofi_sockets_note(c->addr, c->addr_len);
    n = fault_hit(FAULT_OFI_AV) ? 0
        : fi_av_insert(av, c->addr, 1, &p->addr, 0, NULL);
    if (n == 1)
        return;
    p->state = OFI_PAIR_BAD;
    log_info(LOG_OFI, "%s does not take the address of rail %d of PE %d",
             name_of(rail), p->with, pe);
}

static void keys_name(int growth, char name[KEY_NAME])
{
    snprintf(name, KEY_NAME, "ofi-rails-%d", growth);
}

/* The newest keys of the host's segment. */
static int newer_keys(int pe, struct ofi_pair *p, int growth)
{
    int m = p->theirs, rc;
    uint64_t keys[OFI_RAILS];
    char name[KEY_NAME];

    if (m < 2)
        return 0;
    keys_name(growth, name);
    rc = rt_get(pe, name, keys, (size_t)m * sizeof *keys);
    for (int i = 0; i <= ofi_n_rails && !rc; i++)
        if (p[i].state != OFI_PAIR_NONE)
            /* relaxed: all keys of a segment serve what they did. */
            __atomic_store_n(&p[i].key[HEAP_HOST], keys[p[i].with],
                             __ATOMIC_RELAXED);
    return rc;
}

static int get_addrs(int pe, int m, struct rail_addr *out)
{
    uint8_t bytes[PACKED_MOST];
    const uint8_t *at = bytes;
    size_t len;
    int rc = rt_get_some(pe, "ofi-rails", bytes, sizeof bytes, &len);

    if (rc)
        return rc;
    for (int i = 0; i < m && at; i++)
        at = unpack(at, bytes + len, &out[i]);
    return at ? 0 : -EPROTO;
}

static struct ofi_pair *look_up(int pe, int m)
{
    struct rail_addr addrs[OFI_RAILS];
    struct ofi_pair *p = calloc((size_t)(1 + ofi_n_rails), sizeof *p);
    int with[OFI_RAILS];

    if (!p)
        ofi_fatal("start-up", pe, -ENOMEM, "no memory for its rails");
    p->theirs = m;
    if (m < 2)
        return p;
    if (get_addrs(pe, m, addrs))
        ofi_fatal("start-up", pe, -ENOENT, "it published no rails");
    pair_up(addrs, m, with);
    for (int i = 0; i <= ofi_n_rails; i++) {
        if (with[i] < 0)
            continue;
        p[i].with = with[i];
        insert(i, pe, &addrs[with[i]], &p[i]);
    }
    return p;
}

static struct ofi_pair *open_pairs(int pe)
{
    struct ofi_pair *p;
    int m;

    ofi_peer(pe);               /* its address is used, too */
    lock_acquire(&ofi_lock);
    p = peers[pe];
    if (!p) {
        m = ofi_peer_rails(pe);
        p = look_up(pe, m < OFI_RAILS ? m : OFI_RAILS);
        if (growths && newer_keys(pe, p, growths))
            ofi_fatal("growing the heap", pe, -ENOENT, "it published no key");
        /* release: a thread that sees the pairs may use them. */
        __atomic_store_n(&peers[pe], p, __ATOMIC_RELEASE);
    }
    lock_release(&ofi_lock);
    return p;
}

struct ofi_pair *ofi_rail_pairs(int pe)
{
    struct ofi_pair *p = __atomic_load_n(&peers[pe], __ATOMIC_ACQUIRE);

    return likely(p != NULL) ? p : open_pairs(pe);
}

/* ---- growth ---- */

int ofi_rail_publish_keys(int growth)
{
    uint64_t keys[OFI_RAILS];
    char name[KEY_NAME];

    for (int i = 0; i <= ofi_n_rails; i++)
        keys[i] = key_of(i, HEAP_HOST);
    keys_name(growth, name);
    return rt_put(name, keys, (size_t)(1 + ofi_n_rails) * sizeof *keys);
}

int ofi_rail_fetch_keys(int growth)
{
    int rc = 0;

    lock_acquire(&ofi_lock);
    growths = growth;
    for (int pe = 0; pe < rt_job.n_pes && !rc; pe++)
        if (peers[pe])
            rc = newer_keys(pe, peers[pe], growth);
    lock_release(&ofi_lock);
    return rc;
}

/* ---- is there a way? ---- */

struct probe {
    struct ofi_op op;
    struct ofi_pair *pair;
    int rail;
};

static struct ofi_ep *ep_of(int rail)
{
    return rail ? ofi_rails[rail - 1].ep : ofi.eps[0];
}

/* All read the same word, whose value does not matter. */
static long post(const struct probe *q, int pe)
{
    struct ofi_rail *r = q->rail ? &ofi_rails[q->rail - 1] : NULL;
    struct fid_mr *mr = r ? r->scratch_mr : scratch_mr;

    return fi_read(ep_of(q->rail)->ep, r ? &r->scratch : &scratch,
                   sizeof scratch, mr ? fi_mr_desc(mr) : NULL, q->pair->addr,
                   ofi_peer(pe)->base[HEAP_HOST], q->pair->key[HEAP_HOST],
                   (void *)&q->op);
}

static void warn_unreachable(const struct ofi_op *op, int err)
{
    const struct probe *q = (const struct probe *)op;
    char host[64];

    log_warn(ERR_NET, "SHMEM_OFI_RAILS: %s does not reach PE %d (host %s): %s; "
             "what is large goes there without that NIC", name_of(q->rail),
             op->pe, rt_host(op->pe, host, sizeof host) ? host : "unknown",
             err == FI_EAGAIN ? "no connection in a second"
                              : ofi_strerror(-err));
}

/* The provider makes a connection first, and says no more than that there is
 * none: it is asked more and more seldom, and a line comes after a second. */
static void back_off(const struct probe *q)
{
    const uint64_t line_ns = 1000000000, least_ns = 50000;
    struct ofi_pair *p = q->pair;
    uint64_t now = clock_ns();

    if (!p->since_ns)
        p->since_ns = now;
    if (now - p->since_ns >= line_ns && !p->warned) {
        p->warned = true;
        warn_unreachable(&q->op, FI_EAGAIN);
    }
    __atomic_store_n(&p->next_ns, now + least_ns + (now - p->since_ns) / 4,
                     __ATOMIC_RELAXED);
}

static void free_probe(struct probe *q)
{
    free(q);
    __atomic_fetch_sub(&n_probes, 1, __ATOMIC_RELAXED);
}

static void probe_done(struct ofi_op *op)
{
    struct probe *q = (struct probe *)op;

    /* relaxed: the address and the keys were there before it was asked. */
    __atomic_store_n(&q->pair->state, OFI_PAIR_READY, __ATOMIC_RELAXED);
    free_probe(q);
}

static void probe_failed(struct ofi_op *op)
{
    struct probe *q = (struct probe *)op;

    __atomic_store_n(&q->pair->state, OFI_PAIR_BAD, __ATOMIC_RELAXED);
    free_probe(q);
}

static bool probe_error_reported(struct ofi_op *op, int err, char *text,
                                 size_t size)
{
    (void)text;
    (void)size;
    warn_unreachable(op, err);
    return true;
}

static const struct ofi_op_type probe_type = {
    .done = probe_done, .failed = probe_failed,
    .error_reported = probe_error_reported
};

void ofi_rail_probe(int rail, int pe, struct ofi_pair *p)
{
    int state = OFI_PAIR_NEW;
    struct probe *q;
    long rc;

    if (clock_ns() < __atomic_load_n(&p->next_ns, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&p->state, &state, OFI_PAIR_PROBING, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    q = malloc(sizeof *q);
    if (!q) {
        __atomic_store_n(&p->state, OFI_PAIR_NEW, __ATOMIC_RELEASE);
        return;
    }
    *q = (struct probe){
        .op = { .type = &probe_type, .pe = pe }, .pair = p, .rail = rail
    };
    __atomic_fetch_add(&n_probes, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ep_of(rail)->in_flight, 1, __ATOMIC_RELAXED);
    rc = post(q, pe);
    if (!rc)
        return;
    __atomic_fetch_sub(&ep_of(rail)->in_flight, 1, __ATOMIC_RELAXED);
    if (rc == -FI_EAGAIN) {
        back_off(q);
        free_probe(q);
        /* release: pairs with the exchange above, of another thread. */
        __atomic_store_n(&p->state, OFI_PAIR_NEW, __ATOMIC_RELEASE);
        return;
    }
    warn_unreachable(&q->op, (int)-rc);
    probe_failed(&q->op);
}

void ofi_rail_probe_drain(void)
{
    const uint64_t most_ns = 1000000000;
    uint64_t since = clock_ns();

    while (__atomic_load_n(&n_probes, __ATOMIC_RELAXED) &&
           clock_ns() - since < most_ns)
        if (!ofi_progress())
            sched_yield();
}
