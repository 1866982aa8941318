/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - what shmem_info prints without options: version, build, drivers,
 * machine and environment; and the tables of the manual pages, for make.  It
 * opens no device and no network. */
#include "info.h"
#include "page.h"
#include "ofi/ofi.h"
#include "base/env.h"
#include "base/line.h"
#include "base/log.h"
#include "rt/rt_topo.h"
#include "rt/rt_wire.h"
#include "shmem.h"

#include "../../config_args.h"

#include <ctype.h>
#include <hwloc.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static void build(void)
{
    page_section("Build");
    page_row("version", "%s", SLUICE_VERSION);
    page_row("specification", "OpenSHMEM %d.%d", SHMEM_MAJOR_VERSION,
             SHMEM_MINOR_VERSION);
    page_row("compiler", "%s", SLUICE_COMPILER);
    page_row("flags", "%s", SLUICE_CFLAGS);
    page_row("configure", "%s", SLUICE_CONFIGURE_ARGS);
    page_row("prefix", "%s", SLUICE_PREFIX);
#ifdef SLUICE_CHECKS
    page_row("checks", "on");
#else
    page_row("checks", "off (--disable-checks)");
#endif
#ifdef SLUICE_DEBUG
    page_row("debug", "on");
#endif
#ifdef SLUICE_TRACE
    page_row("trace", "on");
#endif
}

/* Of "OpenPMIx 4.2.2 (PMIx Standard: 4.2, Stable ABI: 1.0)" the first two
 * words, also where a comma follows. */
static int name_length(const char *version)
{
    size_t n = strcspn(version, ",(");

    while (n > 0 && version[n - 1] == ' ')
        n--;
    return (int)n;
}

static void drivers(void)
{
    unsigned v = hwloc_get_api_version();
    const char *pmix = PMIx_Get_version();
    char network[640];

    page_section("Drivers");
    page_row("start-up", "oshrun's channel, %.*s", name_length(pmix), pmix);
    page_row("topology", "hwloc %u.%u", v >> 16, v >> 8 & 0xff);
    page_row("same node", "one sealed memfd for heaps and static data");
    ofi_probe(network, sizeof network);
    page_row("other nodes", "%s", network);
    page_row("devices", "bound at run time: cuda, hip, software");
}

static void list_devices(struct json *to, const char *what, int n,
                         char (*names)[RT_TOPO_NAME], const int *numa)
{
    char key[PAGE_KEY];

    json_list(to, page_key(what, key));
    for (int i = 0; i < n; i++) {
        json_object(to, NULL);
        json_text(to, "name", names[i]);
        if (numa[i] >= 0)
            json_integer(to, "numa_node", numa[i]);
        json_close_object(to);
    }
    json_close_list(to);
}

static void devices(const char *what, int n, char (*names)[RT_TOPO_NAME],
                    const int *numa)
{
    struct line l;

    if (page_json()) {
        list_devices(page_json(), what, n, names, numa);
        return;
    }
    line_begin(&l);
    for (int i = 0; i < n; i++) {
        line_addf(&l, "%s%s", i ? ", " : "", names[i]);
        if (numa[i] >= 0)
            line_addf(&l, " at NUMA node %d", numa[i]);
    }
    page_row(what, "%s", n ? l.at : "none");
}

/* "1 core, ", "2 cores, "; in JSON a number of its own. */
static void count(struct line *l, int n, const char *what)
{
    char name[PAGE_KEY], key[PAGE_KEY];

    if (page_json()) {
        snprintf(name, sizeof name, "%ss", what);
        json_integer(page_json(), page_key(name, key), n);
    } else {
        line_addf(l, "%d %s%s, ", n, what, n == 1 ? "" : "s");
    }
}

static void cores(const struct rt_topo *t)
{
    struct line l;

    line_begin(&l);
    count(&l, t->packages, "package");
    count(&l, t->numa_nodes, "NUMA node");
    count(&l, t->cores, "core");
    count(&l, t->threads, "thread");
    if (page_json())
        json_integer(page_json(), "usable_threads", t->usable);
    else
        page_row("cores", "%s%d usable here", l.at, t->usable);
}

static void memory(const struct rt_topo *t)
{
    char size[24];

    if (page_json())
        json_number(page_json(), "memory_bytes", t->memory);
    else
        page_row("memory", "%s", log_size(size, (double)t->memory));
}

static void machine(void)
{
    struct rt_topo t;
    struct utsname u;

    page_section("Machine");
    page_row("host", "%s", log_host());
    if (!uname(&u))
        page_row("system", "%s %s %s", u.sysname, u.release, u.machine);
    if (rt_topo_read(&t)) {
        page_row("topology", "hwloc cannot read it");
        return;
    }
    page_row("processor", "%s", t.cpu);
    cores(&t);
    memory(&t);
    devices("NICs", t.n_nics, t.nics, t.nic_numa);
    devices("GPUs", t.n_gpus, t.gpus, t.gpu_numa);
}

/* The number of this process, from the launcher's variables: a query of the
 * launcher would take a session. */
int info_pe(void)
{
    const char *pe = env_foreign(RT_JOB_NAME) ? env_foreign(RT_JOB_PE) : NULL;
    const char *rank = env_foreign("PMIX_RANK");

    if (pe)
        return atoi(pe);
    return env_foreign("PMIX_NAMESPACE") && rank ? atoi(rank) : 0;
}

int info_report(void)
{
    int rc = env_load();

    if (info_pe())              /* the others would say the same */
        return rc ? 1 : 0;
    build();
    drivers();
    machine();
    info_slingshot();
    if (page_json()) {
        page_close_section();
        env_write(page_json(), 0);
    } else {
        page_section("Environment");
        env_print(stdout, 0);
    }
    page_close();
    fflush(stdout);
    env_warn_unknown();
    return rc ? 1 : 0;
}

int info_env_mdoc(void)
{
    env_print_mdoc(stdout);
    return 0;
}

int info_errors_mdoc(void)
{
    for (int i = 0; i < ERR_CODES; i++)
        printf(".It S-E-%s , S-W-%s\n%c%s.\n.br\nWhat to do: %s.\n",
               err_texts[i].name, err_texts[i].name,
               toupper((unsigned char)*err_texts[i].what),
               err_texts[i].what + 1, err_texts[i].cure);
    return 0;
}

int info_faults_mdoc(void)
{
#define FAULT(name, site, what) puts(".It " site "\nWhen it fires, " what ".");
#include "base/fault_defs.h"
#undef FAULT
    return 0;
}
