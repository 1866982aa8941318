/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of peers.  Each PE publishes its own; another PE looks it up
 * when it first sends to it, so a job's start does not grow with its size, and
 * a PE keeps sizeof(struct ofi_peer) bytes for each peer. */
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_addr.h"
#include "ofi/net/ofi_sockets.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct ofi_peer) <= 64 * HEAP_SEGS,
               "what a PE keeps for each peer");

static struct ofi_addr own;     /* a job of one process has no launcher */

static int growths;             /* so many, whose keys all PEs can look up;
                                 * under ofi_lock */

int ofi_peers_open(void)
{
    size_t n = (size_t)rt_job.n_pes;

    /* Pages of peers that this PE does not talk to stay untouched. */
    ofi.peers = calloc(n, sizeof *ofi.peers);
    if (!ofi.peers) {
        log_error(ERR_LIMIT, "no memory for %zu peers", n);
        return -ENOMEM;
    }
    return 0;
}

void ofi_peers_close(void)
{
    free(ofi.peers);
    ofi.peers = NULL;
    growths = 0;
}

static void name_provider(char *out, size_t size)
{
    snprintf(out, size, "%s", ofi.info->fabric_attr->prov_name);
}

/* Fields that need not be published: all PEs have compared them with PE 0's. */
static struct ofi_addr usual(void)
{
    struct ofi_addr c = { 0 };

    memcpy(c.seg_size, heap_agreed_size, sizeof c.seg_size);
    return c;
}

int ofi_addr_publish(void)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    struct ofi_addr c = { .version = OFI_ADDR_VERSION, .token = ofi.my_token };
    struct ofi_addr as = usual();
    uint8_t bytes[OFI_ADDR_MAX];
    size_t len = sizeof c.addr;
    int rc;

    rc = fi_getname(&ofi.eps[0]->ep->fid, c.addr, &len);
    if (rc) {
        log_error(ERR_NET, "fi_getname: %s", ofi_strerror(rc));
        return rc;
    }
    c.addr_len = len;
    c.rails = (unsigned)(1 + ofi_n_rails);
    name_provider(c.provider, sizeof c.provider);
    for (int s = HEAP_HOST; s <= HEAP_DATA; s++) {
        c.seg_size[s] = heap_segs[s].size;
        if (!ofi.mr[s])
            continue;
        c.key[s] = fi_mr_key(ofi.mr[s]);
        c.base[s] = virtual ? xport_routes[rt_job.pe].map[s] : 0;
    }
    own = c;
    return rt_put("ofi", bytes, ofi_addr_pack(&c, &as, bytes));
}

/* A difference would turn addresses into other addresses. */
static void check_addr(int pe, const struct ofi_addr *c)
{
    char mine[sizeof c->provider], text[160];

    name_provider(mine, sizeof mine);
    if (c->version != OFI_ADDR_VERSION)
        ofi_fatal("start-up", pe, -EPROTO, "it runs another version of Sluice");
    if (strncmp(c->provider, mine, sizeof mine)) {
        snprintf(text, sizeof text, "it uses provider %.31s, this PE %s: set "
                 "SHMEM_OFI_PROVIDER for all", c->provider, mine);
        ofi_fatal("start-up", pe, -EPROTO, text);
    }
    if (c->seg_size[HEAP_HOST] != heap_segs[HEAP_HOST].size) {
        snprintf(text, sizeof text, "its heap has %llu bytes, this PE's %zu: "
                 "set SHMEM_SYMMETRIC_SIZE for all",
                 (unsigned long long)c->seg_size[HEAP_HOST],
                 heap_segs[HEAP_HOST].size);
        ofi_fatal("start-up", pe, -EPROTO, text);
    }
    if (c->seg_size[HEAP_DATA] != heap_segs[HEAP_DATA].size)
        ofi_fatal("start-up", pe, -EPROTO, "its static data has another size: "
                 "run the same program everywhere, or set "
                 "SHMEM_STATIC_DATA=0");
}

static fi_addr_t insert(int pe, const struct ofi_addr *c)
{
    fi_addr_t addr = FI_ADDR_UNSPEC;
    int n;

    ofi_sockets_note(c->addr, c->addr_len);
    n = fault_hit(FAULT_OFI_AV) ? 0
        : fi_av_insert(ofi.av, c->addr, 1, &addr, 0, NULL);
    if (n != 1)
        ofi_fatal("fi_av_insert", pe, n < 0 ? n : -FI_EADDRNOTAVAIL,
                 "its address is not accepted");
    return addr;
}

static void look_up(int pe, struct ofi_addr *out)
{
    struct ofi_addr as = usual();
    uint8_t bytes[OFI_ADDR_MAX];
    size_t len;

    *out = own;
    if (pe == rt_job.pe)
        return;
    if (rt_get_some(pe, "ofi", bytes, sizeof bytes, &len))
        ofi_fatal("start-up", pe, -ENOENT, "it published no address");
    if (ofi_addr_unpack(bytes, len, &as, out))
        ofi_fatal("start-up", pe, -EPROTO, "what it published is no address");
    check_addr(pe, out);
    if (!out->token)
        ofi_fatal("start-up", pe, -EPROTO, "it published no token");
}

size_t ofi_av_count(void)
{
    enum { FIRST = 32 };

    return rt_job.n_pes < FIRST ? (size_t)rt_job.n_pes : FIRST;
}

int ofi_peer_rails(int pe)
{
    struct ofi_addr c;

    look_up(pe, &c);
    return (int)c.rails;
}

/* ---- keys of a heap that grows ---- */

static void name_key(int growth, char name[24])
{
    snprintf(name, 24, "ofi-heap-%d", growth);
}

static void fetch_newest_key(int pe, struct ofi_peer *p)
{
    char name[24];
    uint64_t key;

    if (!growths)
        return;
    name_key(growths, name);
    if (rt_get(pe, name, &key, sizeof key))
        ofi_fatal("growing the heap", pe, -ENOENT, "it published no key");
    /* relaxed: see ofi_remote_key. */
    __atomic_store_n(&p->key[HEAP_HOST], key, __ATOMIC_RELAXED);
}

int ofi_peer_publish_key(int growth, uint64_t key)
{
    char name[24];

    name_key(growth, name);
    return rt_put(name, &key, sizeof key);
}

void ofi_peer_fetch_keys(int growth)
{
    lock_acquire(&ofi_lock);
    growths = growth;
    for (int pe = 0; pe < rt_job.n_pes; pe++)
        if (ofi.peers[pe].token)
            fetch_newest_key(pe, &ofi.peers[pe]);
    lock_release(&ofi_lock);
}

/* ---- the first use of a peer ---- */

struct ofi_peer *ofi_peer_look_up(int pe)
{
    struct ofi_peer *p = &ofi.peers[pe];
    struct ofi_addr c;

    lock_acquire(&ofi_lock);
    if (!__atomic_load_n(&p->token, __ATOMIC_ACQUIRE)) {
        look_up(pe, &c);
        p->addr = insert(pe, &c);
        for (int s = 0; s < HEAP_SEGS; s++) {
            p->key[s] = c.key[s];
            p->base[s] = c.base[s];
        }
        p->key[HEAP_DEVICE] = FI_KEY_NOTAVAIL;
        fetch_newest_key(pe, p);
        /* release: a thread that sees the token may use the rest. */
        __atomic_store_n(&p->token, c.token, __ATOMIC_RELEASE);
    }
    lock_release(&ofi_lock);
    return p;
}
