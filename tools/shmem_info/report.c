/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - what shmem_info prints without options: version, build, drivers,
 * machine and environment; and the tables of the manual pages, for make.  It
 * opens no device and no network. */
#include "info.h"
#include "ofi/ofi.h"
#include "base/env.h"
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

static void row(const char *name, const char *value)
{
    printf("  %-14s %s\n", name, *value ? value : "-");
}

static void build(void)
{
    puts("Build");
    row("version", SLUICE_VERSION);
    printf("  %-14s OpenSHMEM %d.%d\n", "specification", SHMEM_MAJOR_VERSION,
           SHMEM_MINOR_VERSION);
    row("compiler", SLUICE_COMPILER);
    row("flags", SLUICE_CFLAGS);
    row("configure", SLUICE_CONFIGURE_ARGS);
    row("prefix", SLUICE_PREFIX);
#ifdef SLUICE_CHECKS
    row("checks", "on");
#else
    row("checks", "off (--disable-checks)");
#endif
#ifdef SLUICE_DEBUG
    row("debug", "on");
#endif
#ifdef SLUICE_TRACE
    row("trace", "on");
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
    char network[512];

    puts("\nDrivers");
    printf("  %-14s oshrun's channel, %.*s\n", "start-up", name_length(pmix),
           pmix);
    printf("  %-14s hwloc %u.%u\n", "topology", v >> 16, v >> 8 & 0xff);
    row("same node", "one sealed memfd for heaps and static data");
    ofi_probe(network, sizeof network);
    row("other nodes", network);
    row("devices", "bound at run time: cuda, hip, software");
}

static void devices(const char *what, int n, char (*names)[RT_TOPO_NAME],
                    const int *numa)
{
    printf("  %-14s", what);
    for (int i = 0; i < n; i++) {
        printf("%s %s", i ? "," : "", names[i]);
        if (numa[i] >= 0)
            printf(" at NUMA node %d", numa[i]);
    }
    puts(n ? "" : " none");
}

/* "1 core, ", "2 cores, " */
static void count(int n, const char *what)
{
    printf("%d %s%s, ", n, what, n == 1 ? "" : "s");
}

static void machine(void)
{
    struct rt_topo t;
    struct utsname u;
    char size[24];

    puts("\nMachine");
    row("host", log_host());
    if (!uname(&u))
        printf("  %-14s %s %s %s\n", "system", u.sysname, u.release, u.machine);
    if (rt_topo_read(&t)) {
        row("topology", "hwloc cannot read it");
        return;
    }
    row("processor", t.cpu);
    printf("  %-14s ", "cores");
    count(t.packages, "package");
    count(t.numa_nodes, "NUMA node");
    count(t.cores, "core");
    count(t.threads, "thread");
    printf("%d usable here\n", t.usable);
    row("memory", log_size(size, (double)t.memory));
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
    puts("\nEnvironment");
    env_print(stdout, 0);
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
        printf(".It %s\n%c%s.\n.br\nWhat to do: %s.\n", err_texts[i].name,
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
