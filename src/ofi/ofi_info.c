/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a provider: by what it can do, best network first.  Which
 * interface of it: the one nearest to this PE.  ofi_open tries the result with
 * real operations before it believes it. */
#include "ofi/net/ofi_rail.h"
#include "ofi/trig/ofi_trig.h"
#include "base/env.h"
#include "base/log.h"
#include "gtl/gtl.h"
#include "heap/heap.h"
#include "rt/rt.h"
#include "rt/rt_nic.h"

#include <netinet/in.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Best first.  A layered name is asked for as it is, so that plain tcp, which
 * has no reliable datagrams in 1.17, is not taken for it. */
static const struct {
    const char *name, *why;
} providers[] = {
    { "cxi", "Slingshot" },
    { "opx", "Omni-Path" },
    { "verbs;ofi_rxm", "InfiniBand or RoCE" },
    { "efa", "Elastic Fabric Adapter" },
    { "psm3", "Ethernet by PSM3" },
    { "tcp;ofi_rxm", "TCP: no faster network answered" },
    { "tcp", "TCP without a layer of its own" },
    { "sockets", "TCP, slow: nothing else answered" },
};

#define SMALL "an endpoint that receives pins 108 MiB otherwise"

/* Variables that the providers need before a query, unless the user set them,
 * by this name or by another one.  The messages of CXI land in buffers that are
 * posted, so what it has for others is as small as it takes: 9 of 12 MiB, all
 * of them pinned, otherwise. */
static const struct {
    const char *provider, *name, *value, *why, *also;
    bool least;                 /* less than that does not work */
} settings[] = {
    { "cxi", "FI_CXI_RX_MATCH_MODE", "hybrid",
      "messages must not fail when hardware entries run out", NULL, false },
    { "cxi", "FI_CXI_REQ_BUF_SIZE", "1048576", SMALL, NULL, false },
    { "cxi", "FI_CXI_REQ_BUF_MIN_POSTED", "2", SMALL, NULL, false },
    { "cxi", "FI_CXI_OFLOW_BUF_SIZE", "1048576", SMALL, NULL, false },
    { "cxi", "FI_CXI_OFLOW_BUF_MIN_POSTED", "2", SMALL,
      "FI_CXI_OFLOW_BUF_COUNT", false },
    { "cxi", "FI_CXI_DISABLE_HOST_REGISTER", "1",
      "no message is for a device's memory", NULL, false },
    { "cxi", "CXI_FORK_SAFE", "1", "a forked child must not take pages away",
      NULL, false },
    { "tcp;ofi_rxm", "FI_OFI_RXM_BUFFER_SIZE", "4096",
      "an endpoint takes 69 MiB otherwise", NULL, true },
    { "tcp;ofi_rxm", "FI_OFI_RXM_MSG_RX_SIZE", "64", "the same", NULL, false },
    { "tcp;ofi_rxm", "FI_OFI_RXM_MSG_TX_SIZE", "64", "the same", NULL, false },
    { "sockets", "FI_SOCKETS_PE_WAITTIME", "0",
      "its thread would hold a core for milliseconds", NULL, false },
};

static bool is(const char *provider, const char *name)
{
    return !strncmp(provider, name, strlen(name));
}

/* All of them at once: libfabric reads them when it is first asked. */
static void set_up(void)
{
    static bool done;
    const char *name;

    for (size_t i = 0; !done && i < sizeof settings / sizeof *settings; i++) {
        name = settings[i].also && env_foreign(settings[i].also)
               ? settings[i].also : settings[i].name;
        if (settings[i].least && env_foreign_raise(name, settings[i].value))
            log_warn(ERR_ENV, "%s is set to %s: with less, messages overtake "
                     "one another", name, settings[i].value);
        else if (env_foreign(name))
            log_info(LOG_OFI, "%s is set to %s; Sluice would set %s for %s "
                     "(%s)", name, env_foreign(name), settings[i].value,
                     settings[i].provider, settings[i].why);
        else if (env_foreign_default(name, settings[i].value))
            log_debug(LOG_OFI, "set %s to %s for %s: %s", name,
                      settings[i].value, settings[i].provider,
                      settings[i].why);
    }
    done = true;
}

/* It need not be open yet. */
static bool wants_gpu(void)
{
    if (env.DEVICE == ENV_DEVICE_NONE ||
        env.DEVICE == ENV_DEVICE_SOFTWARE || env.DEVICE == ENV_DEVICE_HOST)
        return false;
    return env.DEVICE != ENV_DEVICE_AUTO || heap_device_wanted() ||
           gtl_program_loaded_driver();
}

/* A device that the NIC may have to reach. */
bool ofi_wants_hmem(void)
{
    return env.OFI_HMEM && wants_gpu();
}

/* Modes that a provider may require of its user.  An operation that ends with
 * an entry has a structure for its context then (FI_CONTEXT, FI_CONTEXT2:
 * ofi_context); FI_ASYNC_IOV speaks of operations with several buffers, and
 * ours have one.  efa has a second kind of endpoint for users that name it,
 * without the order and the room of the first. */
static uint64_t modes_for(const char *provider)
{
    return is(provider, "efa") ? 0 : FI_CONTEXT | FI_CONTEXT2 | FI_ASYNC_IOV;
}

static struct fi_info *hints_of(const char *provider, bool atomics, bool hmem,
                                bool trigger)
{
    struct fi_info *h = ofi_lib.fi_dupinfo(NULL);

    if (!h)
        return NULL;
    h->ep_attr->type = FI_EP_RDM;
    h->caps = FI_MSG | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
              FI_REMOTE_WRITE | FI_SEND | FI_RECV;
    if (atomics)
        h->caps |= FI_ATOMIC;
    if (hmem)
        h->caps |= FI_HMEM;
    if (trigger)
        h->caps |= FI_TRIGGER | (is(provider, "cxi") ? FI_RMA_EVENT : 0);
    h->mode = h->tx_attr->mode = h->rx_attr->mode = modes_for(provider);
    h->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                              FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_LOCAL |
                              (hmem ? FI_MR_HMEM : 0);
    h->domain_attr->threading = FI_THREAD_SAFE;
    h->domain_attr->av_type = FI_AV_UNSPEC;
    h->domain_attr->resource_mgmt = FI_RM_ENABLED;
    if (is(provider, "cxi"))    /* it has more than it gives by default */
        h->tx_attr->size = 4096;
    /* From 1.22 on it orders messages only on request; the others do it
     * unasked. */
    if (is(provider, "efa"))
        h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
    h->fabric_attr->prov_name = strdup(provider);
    if (env.OFI_FABRIC[0])
        h->fabric_attr->name = strdup(env.OFI_FABRIC);
    if (env.OFI_DOMAIN[0] && !strchr(env.OFI_DOMAIN, ','))
        h->domain_attr->name = strdup(env.OFI_DOMAIN);
    return h;
}

/* Best first: messages and host memory replace a feature that it lacks. */
static int query(const char *provider, bool hmem, struct fi_info **out)
{
    enum { ALL, ATOMICS, NEITHER };
    const bool wanted = ofi_trig_wanted(provider);
    bool trigger = wanted;
    struct fi_info *hints;
    int rc = -FI_ENODATA;

    for (int k = hmem ? ALL : ATOMICS; k <= NEITHER && rc; k++) {
        hints = hints_of(provider, k != NEITHER, k == ALL, trigger);
        if (!hints)
            return -ENOMEM;
        rc = ofi_lib.fi_getinfo(ofi_lib_api(), NULL, NULL, 0, hints, out);
        ofi_lib.fi_freeinfo(hints);
        if (rc && trigger)      /* the same without, */
            k--;
        trigger = !trigger && wanted;   /* and less with it again */
    }
    return rc;
}

/* ---- which interface ---- */

static bool loops_back(const struct fi_info *i)
{
    return !strcmp(i->domain_attr->name, "lo");
}

/* One of a list "mlx5_0,mlx5_1"; "mlx5_0" also names "mlx5_0-rdm". */
static bool named(const char *name, const char *list)
{
    size_t n;

    if (!*list)
        return true;
    for (; name; list += n + 1) {
        n = strcspn(list, ",");
        if (!strncmp(name, list, n) && n && (!name[n] || name[n] == '-'))
            return true;
        if (!list[n])
            break;
    }
    return false;
}

/* An address that each host may have, 169.254.x.x or fe80::, joins none. */
static bool is_link_local(const struct fi_info *i)
{
    const struct sockaddr_in *in = i->src_addr;
    const struct sockaddr_in6 *in6 = i->src_addr;

    if (!i->src_addr)
        return false;
    return i->addr_format == FI_SOCKADDR_IN
               ? ntohl(in->sin_addr.s_addr) >> 16 == 0xa9fe
               : IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

/* Layered providers ignore the names in the hints.  Between PEs of one machine
 * the loopback is used: nothing listens to the outside. */
static bool wanted(const struct fi_info *i, bool link_local)
{
    bool ip = i->addr_format == FI_SOCKADDR_IN ||
              i->addr_format == FI_SOCKADDR_IN6;

    if (!named(i->domain_attr->name, env.OFI_DOMAIN) ||
        !named(i->fabric_attr->name, env.OFI_FABRIC))
        return false;
    if (!ip || env.OFI_DOMAIN[0] || env.OFI_FABRIC[0])
        return true;
    return loops_back(i) == rt_job.one_machine &&
           (link_local || !is_link_local(i));
}

/* The place of this PE's GPU on the PCI bus, or NULL; asked once, as it starts
 * the GPU's driver. */
static const char *place_of_gpu(void)
{
    static char pci[16];
    static bool queried;

    if (!queried && wants_gpu() && !gtl_pci_address(rt_job.local, pci))
        pci[0] = '\0';
    queried = true;
    return pci[0] ? pci : NULL;
}

enum { MOST_NICS = RT_NICS };

/* NICs that this PE is to use, of those that are as near as its own. */
static int rails_of(int alike, int n)
{
    int share = n / (rt_job.n_local > 0 ? rt_job.n_local : 1);

    if (env.OFI_RAILS)
        return env.OFI_RAILS < n ? (int)env.OFI_RAILS : n;
    share = share < alike ? share : alike;
    return share < 1 ? 1 : share < OFI_RAILS ? share : OFI_RAILS;
}

/* A list of copies: that of NIC k, then those of further rails. */
static int copy_rails(struct fi_info *const *of, const struct rt_nic *nics,
                      int n, int k, struct fi_info **out)
{
    int order[RT_NICS] = { k }, rails = 1;
    struct fi_info **end = out;

    if (env.OFI_RAILS != 1 && n > 1)
        rails = rails_of(rt_nic_order(nics, n, place_of_gpu(), order), n);
    *out = NULL;
    for (int i = 0; i < rails; i++, end = &(*end)->next) {
        *end = ofi_lib.fi_dupinfo(of[order[i]]);
        if (!*end) {
            ofi_lib.fi_freeinfo(*out);
            return -ENOMEM;
        }
    }
    return 0;
}

/* Unless the user names interfaces, those that lead to no other node are not
 * used.  Gives how many are left. */
static int leave_out_internal(struct rt_nic *nics, struct fi_info **of, int n)
{
    bool leads[RT_NICS];
    int k = 0;

    if (env.OFI_DOMAIN[0] || env.OFI_FABRIC[0] || env.NIC_MAP[0] || n < 2 ||
        rt_nic_leads(nics, n, leads) == 0)
        return n;
    for (int i = 0; i < n; i++)
        if (leads[i]) {
            nics[k] = nics[i];
            of[k++] = of[i];
        }
    return k;
}

char ofi_nic_names[OFI_NIC_NAMES];

static void keep_names(const struct rt_nic *nics, int n)
{
    size_t at = 0;

    ofi_nic_names[0] = '\0';
    for (int i = 0; n > 1 && !env.OFI_DOMAIN[0] && i < n &&
         at < sizeof ofi_nic_names; i++)
        at += (size_t)snprintf(ofi_nic_names + at, sizeof ofi_nic_names - at,
                               "%s%s", i ? ", " : "", nics[i].name);
}

/* The first candidate of each interface; how many. */
static int list_nics(struct fi_info *all, bool link_local,
                     struct fi_info **of, struct rt_nic *nics)
{
    struct fi_info *i;
    int n = 0, k;

    for (i = all; i && n < MOST_NICS; i = i->next) {
        if (!wanted(i, link_local))
            continue;
        for (k = 0; k < n && strcmp(nics[k].name, i->domain_attr->name); k++)
            ;
        if (k < n)
            continue;
        memset(&nics[n], 0, sizeof nics[n]);
        snprintf(nics[n].name, sizeof nics[n].name, "%s",
                 i->domain_attr->name);
        if (i->nic && i->nic->bus_attr &&
            i->nic->bus_attr->bus_type == FI_BUS_PCI) {
            nics[n].has_pci = true;
            nics[n].domain = i->nic->bus_attr->attr.pci.domain_id;
            nics[n].bus = i->nic->bus_attr->attr.pci.bus_id;
            nics[n].dev = i->nic->bus_attr->attr.pci.device_id;
            nics[n].func = i->nic->bus_attr->attr.pci.function_id;
        }
        of[n++] = i;
    }
    return n;
}

/* The first candidate of the best interface becomes *out, a copy. */
static int pick(struct fi_info *all, struct fi_info **out, char *why,
                size_t size)
{
    struct fi_info *of[MOST_NICS];
    struct rt_nic nics[MOST_NICS];
    int n = list_nics(all, false, of, nics), k;

    if (n == 0)
        n = list_nics(all, true, of, nics);
    if (n == 0)
        return -FI_ENODATA;
    keep_names(nics, n);
    n = leave_out_internal(nics, of, n);
    k = rt_nic_choose(nics, n, rt_job.local, rt_job.n_local, place_of_gpu, why,
                      size);
    if (k < 0)
        return k;
    if (n == 1)
        why[0] = '\0';
    return copy_rails(of, nics, n, k, out);
}

static int try_provider(const char *name, bool hmem, struct fi_info **out,
                        char *nic_why, size_t size)
{
    struct fi_info *all = NULL;
    int rc;

    rc = query(name, hmem, &all);
    if (!rc)
        rc = pick(all, out, nic_why, size);
    if (rc)
        log_info(LOG_OFI, "provider %s: %s", name, ofi_strerror(rc));
    if (all)
        ofi_lib.fi_freeinfo(all);
    return rc;
}

int ofi_info_choose(int from, bool hmem, struct fi_info **out, char *why,
               size_t size)
{
    int n = (int)(sizeof providers / sizeof *providers);
    char nic_why[128] = "";
    int rc;

    set_up();
    if (env.OFI_PROVIDER[0]) {
        if (from > 0)
            return -ENOENT;
        rc = try_provider(env.OFI_PROVIDER, hmem, out, nic_why,
                          sizeof nic_why);
        if (rc)
            return rc == -EINVAL ? rc : -ENOENT;
        snprintf(why, size, "SHMEM_OFI_PROVIDER%s%s", nic_why[0] ? "; " : "",
                 nic_why);
        return 0;
    }
    for (int i = from; i < n; i++) {
        rc = try_provider(providers[i].name, hmem, out, nic_why,
                          sizeof nic_why);
        if (rc == -EINVAL)      /* SHMEM_NIC_MAP is wrong: logged */
            return rc;
        if (rc)
            continue;
        snprintf(why, size, "%s%s%s", providers[i].why,
                 nic_why[0] ? "; " : "", nic_why);
        return i;
    }
    return -ENOENT;
}
