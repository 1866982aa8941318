/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_NIC_MAP: "cxi0,cxi1", where PE i of the node takes entry i modulo
 * their number, or "0-3:cxi0,4:cxi1", where those not named take the nearest.
 * rt_nic.c asks it for this PE's NIC, and the start of the library checks the
 * text by it. */
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "base/env.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LOCAL_MOST = 1048575, PRINTED_MOST = 64 };

struct entry {
    const char *text;
    int len;
    bool ranged;
    int first, last;            /* PEs of the node, if ranged */
    int nic;
};

/* Without a list of NICs any name is one of them. */
static int find_nic(const struct rt_nic *nics, int n, const char *name, int len)
{
    if (!nics)
        return isdigit((unsigned char)*name) && memchr(name, ':', (size_t)len)
               ? -1 : 0;
    for (int i = 0; i < n; i++)
        if (strlen(nics[i].name) == (size_t)len &&
            !memcmp(nics[i].name, name, (size_t)len))
            return i;
    return -1;
}

/* Up to end; false if there are no digits or too great a number. */
static bool read_number(const char **at, const char *end, int *out)
{
    const char *p = *at;
    int v = 0;

    for (; p < end && isdigit((unsigned char)*p); p++) {
        v = v * 10 + (*p - '0');
        if (v > LOCAL_MOST)
            return false;
    }
    if (p == *at)
        return false;
    *at = p;
    *out = v;
    return true;
}

/* Fills all but text and len; returns what is wrong with it, or NULL. */
static const char *read_entry(struct entry *e, const struct rt_nic *nics, int n)
{
    const char *p = e->text, *end = p + e->len;

    e->nic = find_nic(nics, n, p, e->len);
    e->ranged = e->nic < 0 && e->len && isdigit((unsigned char)*p);
    if (e->ranged) {
        if (!read_number(&p, end, &e->first))
            return "is no number of a PE on this node";
        e->last = e->first;
        if (p < end && *p == '-') {
            p++;
            if (!read_number(&p, end, &e->last) || e->last < e->first)
                return "is no range of PEs like 0-3";
        }
        if (p == end || *p != ':')
            return "lacks a colon before the name of a NIC";
        p++;
        e->nic = find_nic(nics, n, p, (int)(end - p));
    }
    if (p == end)
        return "names no NIC";
    if (e->nic >= 0)
        return NULL;
    e->text = p;                /* that name alone is wrong */
    e->len = (int)(end - p);
    return "names a NIC that is not there";
}

/* Why a NIC of the machine may be missing: lo joins PEs of one machine only. */
static const char *why_few(const struct rt_nic *nics, int n)
{
    if (!rt_job.one_machine || *env.OFI_DOMAIN || *env.OFI_FABRIC || n != 1 ||
        strcmp(nics[0].name, "lo"))
        return "";
    return " alone, which joins the nodes that --ppn makes of one machine "
           "(SHMEM_OFI_DOMAIN names another)";
}

static int refuse(const char *map, const struct entry *e, const char *what,
                  const struct rt_nic *nics, int n)
{
    char there[512] = "";
    size_t at = 0;

    for (int i = 0; nics && i < n && at < sizeof there; i++)
        at += (size_t)snprintf(there + at, sizeof there - at, "%s%s",
                               i ? ", " : "; NICs here: ", nics[i].name);
    log_error(ERR_ENV, "SHMEM_NIC_MAP, character %d: \"%.*s\" %s"
              "%s%s; want NIC,NIC,... or PE:NIC,PE-PE:NIC,...",
              (int)(e->text - map) + 1, e->len < PRINTED_MOST ? e->len
                                                            : PRINTED_MOST,
              e->text, what, there, nics ? why_few(nics, n) : "");
    return -EINVAL;
}

int rt_nic_map(const char *map, const struct rt_nic *nics, int n, int local)
{
    struct entry e = { .text = map };
    bool ranged = false;
    int entries = 0, found = n;
    const char *what;

    for (;; e.text += e.len + 1) {
        e.len = (int)strcspn(e.text, ",");
        what = read_entry(&e, nics, n);
        if (!entries)
            ranged = e.ranged;
        if (!what && e.ranged != ranged)
            what = "mixes entries with and without PEs";
        if (!what && ranged && local >= e.first && local <= e.last) {
            if (found < n)
                what = "names PEs a second time";
            found = e.nic;
        }
        if (what)
            return refuse(map, &e, what, nics, n);
        entries++;
        if (!e.text[e.len])
            break;
    }
    if (ranged)
        return found;
    for (int skip = local % entries; skip > 0; skip--)
        map += strcspn(map, ",") + 1;
    return find_nic(nics, n, map, (int)strcspn(map, ","));
}

int rt_nic_map_check(void)
{
    return *env.NIC_MAP && rt_nic_map(env.NIC_MAP, NULL, 1, 0) < 0 ? -EINVAL
                                                                   : 0;
}

int rt_nic_map_stray(const char *map, const struct rt_nic *nics, int n,
                     int n_local)
{
    struct entry e = { .text = map };

    for (;; e.text += e.len + 1) {
        e.len = (int)strcspn(e.text, ",");
        if (!read_entry(&e, nics, n) && e.ranged && e.first >= n_local)
            return e.first;
        if (!e.text[e.len])
            return -1;
    }
}
