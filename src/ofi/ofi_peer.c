/* SPDX-License-Identifier: BSD-3-Clause */
/* Who the peers are.  Each PE publishes a card; another PE looks it up when it
 * first talks to it, so a job's start does not grow with its size, and a PE
 * keeps sizeof(struct ofi_peer) bytes for each peer. */
#include "ofi/ofi_rail.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDR_MOST = 256, CARD_VERSION = 1 };

struct card {
    uint32_t version;
    uint16_t addr_len, rails;
    uint64_t token;
    uint64_t seg_size[HEAP_SEGS], key[HEAP_SEGS], base[HEAP_SEGS];
    char provider[32];
    uint8_t addr[ADDR_MOST];
};

_Static_assert(sizeof(struct ofi_peer) <= 64 * HEAP_SEGS,
               "what a PE keeps for each peer");

int ofi_peers_open(void)
{
    size_t n = (size_t)rt_job.n_pes;

    ofi.peers = malloc(n * sizeof *ofi.peers);
    if (!ofi.peers) {
        log_error(ERR_LIMIT, "no memory for %zu peers", n);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        ofi.peers[i].addr = FI_ADDR_UNSPEC;
    return 0;
}

void ofi_peers_close(void)
{
    free(ofi.peers);
    ofi.peers = NULL;
}

static void name_provider(char *out, size_t size)
{
    snprintf(out, size, "%s", ofi.info->fabric_attr->prov_name);
}

int ofi_card_put(void)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    struct card c = { .version = CARD_VERSION, .token = ofi.my_token };
    size_t len = sizeof c.addr;
    int rc;

    rc = fi_getname(&ofi.eps[0]->ep->fid, c.addr, &len);
    if (rc) {
        log_error(ERR_NET, "fi_getname: %s", ofi_strerror(rc));
        return rc;
    }
    c.addr_len = (uint16_t)len;
    c.rails = (uint16_t)(1 + ofi_n_rails);
    name_provider(c.provider, sizeof c.provider);
    for (int s = 0; s < HEAP_SEGS; s++) {
        c.seg_size[s] = heap_segs[s].size;
        if (!ofi.mr[s])
            continue;
        c.key[s] = fi_mr_key(ofi.mr[s]);
        c.base[s] = virtual ? xport_routes[rt_job.pe].map[s] : 0;
    }
    return rt_put("ofi", &c, sizeof c);
}

int ofi_card_rails(int pe)
{
    struct card c;

    if (rt_get(pe, "ofi", &c, sizeof c))
        ofi_fail("start-up", pe, -ENOENT, "it told no address");
    return c.rails;
}

/* What differs would turn addresses into other addresses. */
static void check_card(int pe, const struct card *c)
{
    char mine[sizeof c->provider], text[160];

    name_provider(mine, sizeof mine);
    if (c->version != CARD_VERSION || c->addr_len > sizeof c->addr)
        ofi_fail("start-up", pe, -EPROTO, "it runs another version of Sluice");
    if (strncmp(c->provider, mine, sizeof mine)) {
        snprintf(text, sizeof text, "it uses provider %.31s, this PE %s: set "
                 "SHMEM_OFI_PROVIDER for all", c->provider, mine);
        ofi_fail("start-up", pe, -EPROTO, text);
    }
    if (c->seg_size[HEAP_HOST] != heap_segs[HEAP_HOST].size) {
        snprintf(text, sizeof text, "its heap has %llu bytes, this PE's %zu: "
                 "set SHMEM_SYMMETRIC_SIZE for all",
                 (unsigned long long)c->seg_size[HEAP_HOST],
                 heap_segs[HEAP_HOST].size);
        ofi_fail("start-up", pe, -EPROTO, text);
    }
    if (c->seg_size[HEAP_DATA] != heap_segs[HEAP_DATA].size)
        ofi_fail("start-up", pe, -EPROTO, "its static data has another size: "
                 "run the same program everywhere, or set "
                 "SHMEM_STATIC_DATA=0");
}

static fi_addr_t insert(int pe, const struct card *c)
{
    fi_addr_t addr = FI_ADDR_UNSPEC;
    int n;

    n = fault_hit(FAULT_OFI_AV) ? 0
        : fi_av_insert(ofi.av, c->addr, 1, &addr, 0, NULL);
    if (n != 1)
        ofi_fail("fi_av_insert", pe, n < 0 ? n : -FI_EADDRNOTAVAIL,
                 "its address is not accepted");
    return addr;
}

struct ofi_peer *ofi_peer_meet(int pe)
{
    struct ofi_peer *p = &ofi.peers[pe];
    struct card c;
    fi_addr_t addr;

    lock_acquire(&ofi_lock);
    if (__atomic_load_n(&p->addr, __ATOMIC_ACQUIRE) == FI_ADDR_UNSPEC) {
        if (rt_get(pe, "ofi", &c, sizeof c))
            ofi_fail("start-up", pe, -ENOENT, "it told no address");
        check_card(pe, &c);
        addr = insert(pe, &c);
        p->token = c.token;
        memcpy(p->key, c.key, sizeof p->key);
        memcpy(p->base, c.base, sizeof p->base);
        p->key[HEAP_DEVICE] = FI_KEY_NOTAVAIL;
        ofi_cover_meet(pe, p);
        /* release: whoever sees the address may use the rest. */
        __atomic_store_n(&p->addr, addr, __ATOMIC_RELEASE);
    }
    lock_release(&ofi_lock);
    return p;
}
