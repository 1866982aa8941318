/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults on demand: SHMEM_FAULT makes named sites fail at a rate.  Called at
 * the sites through fault_hit(), which costs one branch while no fault is
 * armed. */
#include "base/fault.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const site_names[FAULT_SITES] = {
#define FAULT(NAME, site, what) site,
#include "base/fault_defs.h"
#undef FAULT
};

/* The hint in the next error line after a hit, for users who have forgotten the
 * variable. */
static const char *const blames[FAULT_SITES] = {
#define FAULT(NAME, site, what) "after SHMEM_FAULT made " site " fail",
#include "base/fault_defs.h"
#undef FAULT
};

/* Names of earlier versions. */
static const struct {
    const char *name;
    enum fault_site site;
} old_names[] = {
    { "heap.lend", FAULT_HEAP_EXPORT },
    { "stream_agent", FAULT_STREAM_PROGRESS },
    { "stream_left", FAULT_STREAM_KEEP },
    { "stream_look", FAULT_STREAM_POLL }
};

static struct {
    double rate;
    uint64_t seed, state;
    unsigned long rolls, failed;
} sites[FAULT_SITES];

static struct base_lock fault_lock = LOCK_INIT;

bool fault_armed;

static bool is_name(const char *name, const char *p, size_t len)
{
    return strlen(name) == len && !strncmp(p, name, len);
}

/* The site of a name, or FAULT_SITES. */
static int find_site(const char *p, size_t len)
{
    for (int site = 0; site < FAULT_SITES; site++)
        if (is_name(site_names[site], p, len))
            return site;
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        if (is_name(old_names[i].name, p, len))
            return (int)old_names[i].site;
    return FAULT_SITES;
}

/* Reads one "site:rate:seed"; returns the text behind it, or NULL if the entry
 * is bad. */
static const char *load_one(const char *p)
{
    size_t len = strcspn(p, ":,");
    int site = find_site(p, len);
    char *end;

    if (site == FAULT_SITES || p[len] != ':')
        return NULL;
    sites[site].rate = env_parse_number(p + len + 1, &end);
    if (end == p + len + 1 || !(sites[site].rate >= 0 && sites[site].rate <= 1))
        return NULL;
    sites[site].seed = 1;
    if (*end == ':') {
        p = end + 1;
        sites[site].seed = strtoull(p, &end, 0);
        if (end == p)
            return NULL;
    }
    sites[site].state = sites[site].seed;
    if (*end == ',')
        return end + 1;
    return *end ? NULL : end;
}

int fault_load(void)
{
    const char *p = env.FAULT;

    memset(sites, 0, sizeof sites);
    fault_armed = false;
    log_blame(NULL);
    while (*p) {
        p = load_one(p);
        if (!p) {
            log_error(ERR_ENV, "SHMEM_FAULT is \"%s\": want "
                      "site:rate:seed[,...] with a rate from 0 to 1; sites are "
                      "listed in shmem_env(7)", env.FAULT);
            return -EINVAL;
        }
        fault_armed = true;
    }
    return 0;
}

/* splitmix64: short, and every seed, also 0, gives a good sequence. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

bool fault_roll(enum fault_site site)
{
    bool hit;

    lock_acquire(&fault_lock);
    sites[site].rolls++;
    hit = (double)(next_random(&sites[site].state) >> 11) * 0x1p-53 <
          sites[site].rate;
    sites[site].failed += hit;
    lock_release(&fault_lock);
    if (hit)
        log_blame(blames[site]);
    return hit;
}

void fault_report(void)
{
    for (int i = 0; fault_armed && i < FAULT_SITES; i++)
        if (sites[i].rate > 0)
            log_warn(ERR_FAULT, "%s failed %lu of %lu times, seed %llu",
                     site_names[i], sites[i].failed, sites[i].rolls,
                     (unsigned long long)sites[i].seed);
}
