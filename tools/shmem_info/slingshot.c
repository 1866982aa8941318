/* SPDX-License-Identifier: BSD-3-Clause */
/* slingshot.c - prints each NIC of Slingshot from the driver's files, which
 * cxi_stat reads too, and the launcher's variables by which the provider finds
 * its network.  Without such files and variables it prints nothing. */
#include "info.h"
#include "page.h"

#include "base/env.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "/sys/class/cxi"

/* The first line of a file of the NIC, or false. */
static bool line_of(const char *nic, const char *name, char *out, size_t size)
{
    char path[256];
    FILE *f;
    bool read;

    snprintf(path, sizeof path, CLASS "/%s/device/%s", nic, name);
    f = fopen(path, "re");
    read = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (read)
        out[strcspn(out, "\n")] = '\0';
    return read && out[0];
}

/* The driver of Cassini 2 has directories where that of Cassini 1 has files. */
#define UNKNOWN "unknown"
static void either(const char *nic, const char *newer, const char *older,
                   char *out, size_t size)
{
    if (!line_of(nic, newer, out, size) && !line_of(nic, older, out, size))
        snprintf(out, size, UNKNOWN);
}

/* The k-th of a list with commas. */
static bool item(const char *list, int k, char *out, size_t size)
{
    for (; list && k > 0; k--) {
        list = strchr(list, ',');
        list += list != NULL;
    }
    if (!list)
        return false;
    snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
    return true;
}

/* The service of a NIC: the two lists go together. */
static bool service_of(const char *nic, char *out, size_t size)
{
    const char *nics = env_foreign("SLINGSHOT_DEVICES");
    const char *services = env_foreign("SLINGSHOT_SVC_IDS");
    char name[32];

    for (int k = 0; item(nics, k, name, sizeof name); k++)
        if (!strcmp(name, nic))
            return item(services, k, out, size);
    return false;
}

static void print_nic(const char *nic)
{
    char state[32], speed[32], address[32], service[16];
    bool up, has_address, has_service;

    either(nic, "port/0/link/state", "port/link", state, sizeof state);
    either(nic, "port/0/link/speed", "port/speed", speed, sizeof speed);
    has_address = line_of(nic, "properties/nic_addr", address, sizeof address);
    has_service = service_of(nic, service, sizeof service);
    up = !strncmp(state, "up", 2) || !strcmp(state, UNKNOWN);
    page_row(nic, "link %s, %s%s%s%s%s%s", state, speed,
             has_address ? ", address " : "", has_address ? address : "",
             has_service ? ", service " : ", no service of this job's",
             has_service ? service : "",
             up ? "" : ": it carries nothing; cxi_stat says more");
}

static int is_nic(const struct dirent *e)
{
    return !strncmp(e->d_name, "cxi", 3);
}

static void print_job(int n)
{
    const char *vnis = env_foreign("SLINGSHOT_VNIS");
    const char *classes = env_foreign("SLINGSHOT_TCS");

    page_row("VNIs", "%s", vnis ? vnis
           : "none is given to this process (SLINGSHOT_VNIS is not set): the "
           "default service serves, if the site has one; with Slurm, srun "
           "--network=single_node_vni,job_vni gives one");
    if (classes)
        page_row("classes", "%s", classes);
    if (vnis && !n)
        page_row("NICs", "no driver: " CLASS " has none");
}

void info_slingshot(void)
{
    const char *vnis = env_foreign("SLINGSHOT_VNIS");
    struct dirent **nics = NULL;
    int n = scandir(CLASS, &nics, is_nic, versionsort);

    if (n <= 0 && !vnis)
        return;
    page_section("Slingshot");
    for (int i = 0; i < n; i++) {
        print_nic(nics[i]->d_name);
        free(nics[i]);
    }
    free(nics);
    print_job(n > 0 ? n : 0);
}
