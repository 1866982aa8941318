/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the provider and NICs that the user names with libfabric's on this
 * machine, for error lines and warnings.  ofi_provider.c and ofi_check.c call
 * it at start-up; it opens nothing. */
#include "ofi/ofi_available.h"
#include "ofi/net/ofi_lib.h"
#include "base/env.h"
#include "base/log.h"
#include "rt/rt.h"

#include <stdio.h>
#include <string.h>

enum { NAMED = 12 };            /* in a list of a line */

/* Is `name`, of n bytes, a part of the list "a;b"? */
static bool list_has(const char *list, const char *name, size_t n)
{
    for (; *list; list += strspn(list, ";")) {
        size_t len = strcspn(list, ";");

        if (len == n && !strncmp(list, name, n))
            return true;
        list += len;
    }
    return false;
}

/* The providers that libfabric was built with, or has plug-ins of, whether
 * they have a NIC or not: "tcp, verbs, shm". */
static void list_providers(char *out, size_t size)
{
    struct fi_info *all = NULL;
    size_t at = 0;
    int n = 0;

    out[0] = '\0';
    if (ofi_lib.fi_getinfo(ofi_lib_api(), NULL, NULL, FI_PROV_ATTR_ONLY, NULL,
                           &all))
        return;
    for (struct fi_info *i = all; i && at < size; i = i->next) {
        const char *name = i->fabric_attr->prov_name;

        /* Layers over other providers are named with those. */
        if (!name || !strncmp(name, "ofi_", 4) || n == NAMED)
            continue;
        at += (size_t)snprintf(out + at, size - at, "%s%s", n++ ? ", " : "",
                               name);
    }
    ofi_lib.fi_freeinfo(all);
}

/* Every part of "tcp;ofi_rxm" is there. */
static bool has_provider(const char *name)
{
    struct fi_info *all = NULL;
    bool every = true;

    if (ofi_lib.fi_getinfo(ofi_lib_api(), NULL, NULL, FI_PROV_ATTR_ONLY, NULL,
                           &all))
        return true;            /* libfabric does not say */
    while (*name && every) {
        size_t n = strcspn(name, ";");
        struct fi_info *i = all;

        while (i && !(i->fabric_attr->prov_name &&
                      list_has(i->fabric_attr->prov_name, name, n)))
            i = i->next;
        every = i;
        name += n + strspn(name + n, ";");
    }
    ofi_lib.fi_freeinfo(all);
    return every;
}

/* The NICs that a provider has here, or all of them for "". */
static struct fi_info *nics_of(const char *provider)
{
    struct fi_info *hints = ofi_lib.fi_dupinfo(NULL), *all = NULL;

    if (!hints)
        return NULL;
    hints->mode = ~(uint64_t)0;
    hints->domain_attr->mr_mode = (int)~FI_MR_BASIC & ~FI_MR_SCALABLE;
    if (*provider)
        hints->fabric_attr->prov_name = strdup(provider);
    if (ofi_lib.fi_getinfo(ofi_lib_api(), NULL, NULL, 0, hints, &all))
        all = NULL;
    ofi_lib.fi_freeinfo(hints);
    return all;
}

static void list_nics(const struct fi_info *all, char *out, size_t size)
{
    size_t at = 0;
    int n = 0;

    out[0] = '\0';
    for (const struct fi_info *i = all; i && at < size && n < NAMED;
         i = i->next) {
        const char *name = i->domain_attr->name;

        for (const struct fi_info *k = all; name && k != i; k = k->next)
            if (k->domain_attr->name && !strcmp(k->domain_attr->name, name))
                name = NULL;    /* it stands there already */
        if (name)
            at += (size_t)snprintf(out + at, size - at, "%s%s",
                                   n++ ? ", " : "", name);
    }
}

/* "mlx5_0" also names the domain "mlx5_0-rdm". */
static bool has_nic(const struct fi_info *all, const char *name, size_t n)
{
    for (; all; all = all->next) {
        const char *domain = all->domain_attr->name;

        if (domain && !strncmp(domain, name, n) &&
            (!domain[n] || domain[n] == '-'))
            return true;
    }
    return false;
}

static const char *explain_provider(char *out, size_t size)
{
    uint32_t version = ofi_lib.fi_version();
    char list[256];

    if (has_provider(env.OFI_PROVIDER)) {
        snprintf(out, size, "; libfabric %u.%u has this provider, which finds "
                 "no NIC that it can use", FI_MAJOR(version),
                 FI_MINOR(version));
    } else {
        list_providers(list, sizeof list);
        snprintf(out, size, "; libfabric %u.%u offers no provider of that "
                 "name (it was built without it, or finds no such NIC), but "
                 "%s", FI_MAJOR(version), FI_MINOR(version), list);
    }
    return out;
}

const char *ofi_available_explain(char *out, size_t size)
{
    struct fi_info *all = nics_of(env.OFI_PROVIDER);
    char list[256];

    out[0] = '\0';
    if (env.OFI_PROVIDER[0] && (!all || !has_provider(env.OFI_PROVIDER))) {
        explain_provider(out, size);
    } else if (env.OFI_DOMAIN[0] || env.OFI_FABRIC[0]) {
        list_nics(all, list, sizeof list);
        snprintf(out, size, "; NICs here: %s", *list ? list : "none");
    }
    if (all)
        ofi_lib.fi_freeinfo(all);
    return out;
}

/* The PEs of a node would all print the same. */
void ofi_available_warn(const struct fi_info *open)
{
    const char *provider = open->fabric_attr->prov_name;
    struct fi_info *all;
    char list[256];

    if (!env.OFI_DOMAIN[0] || rt_job.local)
        return;
    all = nics_of(provider);
    if (!strcmp(open->domain_attr->name, "lo") && !rt_job.one_machine &&
        rt_job.n_local < rt_job.n_pes)
        log_warn(ERR_NET, "SHMEM_OFI_DOMAIN is %s, and lo reaches no other "
                 "host than %s", env.OFI_DOMAIN, log_host());
    list_nics(all, list, sizeof list);
    for (const char *name = env.OFI_DOMAIN; all && *name; ) {
        size_t n = strcspn(name, ",");

        if (n && !has_nic(all, name, n))
            log_warn(ERR_NET, "SHMEM_OFI_DOMAIN names %.*s, which is no NIC "
                     "of provider %s on %s; it has %s", (int)n, name, provider,
                     log_host(), list);
        name += n + (name[n] == ',');
    }
    if (all)
        ofi_lib.fi_freeinfo(all);
}
