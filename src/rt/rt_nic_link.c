/* SPDX-License-Identifier: BSD-3-Clause */
/* Which network interfaces lead to other nodes.
 *
 * Over IP every interface with an address is a NIC for libfabric, also the
 * bridge of a container engine or the USB port of a board controller.  Such an
 * interface has the same address on each node and reaches none.  The choice of
 * a NIC (src/ofi) leaves these out, and management ports that are slower than
 * half of the fastest, unless the user names interfaces.  Asks the kernel about
 * names alone, in the network namespace of this process; must not open any
 * connection. */
#include "base/log.h"
#include "rt/rt_nic.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct link {
    bool known;                 /* it is an interface */
    const char *internal;       /* what kind of one that reaches no node */
    uint32_t mbits;             /* a second; 0: not known */
};

static int request(int fd, const char *name, void *data)
{
    struct ifreq r = { .ifr_data = data };

    if (strlen(name) >= sizeof r.ifr_name)
        return -1;
    memcpy(r.ifr_name, name, strlen(name) + 1);
    return ioctl(fd, SIOCETHTOOL, &r);
}

static const char *kind_of(const struct ethtool_drvinfo *d)
{
    if (!strcmp(d->driver, "bridge"))
        return "a bridge";
    if (!strcmp(d->driver, "tun"))
        return "a tunnel";
    return strncmp(d->bus_info, "usb-", 4) ? NULL : "a USB device";
}

static struct link look_up(int fd, const char *name)
{
    struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
    struct ethtool_cmd speed = { .cmd = ETHTOOL_GSET };
    struct link l = { .known = false };

    if (!if_nametoindex(name))
        return l;
    l.known = true;
    if (!request(fd, name, &driver))
        l.internal = kind_of(&driver);
    if (!request(fd, name, &speed)) {
        l.mbits = ethtool_cmd_speed(&speed);
        if (l.mbits > INT32_MAX)
            l.mbits = 0;
    }
    return l;
}

/* Of the interfaces that are not left out for what they are. */
static uint32_t fastest(const struct link *l, int n)
{
    uint32_t most = 0;

    for (int i = 0; i < n; i++)
        if (!l[i].internal && l[i].mbits > most)
            most = l[i].mbits;
    return most;
}

static int count(const bool *leads, int n)
{
    int k = 0;

    for (int i = 0; i < n; i++)
        k += leads[i];
    return k;
}

int rt_nic_leads(const struct rt_nic *nics, int n, bool *leads)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), k;
    struct link l[RT_NICS] = { { false, NULL, 0 } };
    uint32_t most;

    for (int i = 0; fd >= 0 && i < n; i++)
        l[i] = look_up(fd, nics[i].name);
    if (fd >= 0)
        close(fd);
    most = fastest(l, n);
    for (int i = 0; i < n; i++)
        leads[i] = !l[i].internal && (!l[i].mbits || l[i].mbits >= most / 2);
    k = count(leads, n);
    for (int i = 0; k && i < n; i++)
        if (!leads[i])
            log_info(LOG_RT, "%s is left out: it is %s; SHMEM_OFI_DOMAIN names "
                     "what to use", nics[i].name, l[i].internal
                     ? l[i].internal : "slower than half of the fastest");
    return k;
}
