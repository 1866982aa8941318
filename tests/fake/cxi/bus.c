/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the NICs are on the PCI bus: FAKE_CXI_PCI has their addresses,
 * "dddd:bb:dd.f", with commas between them.  Without it nothing is known.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NICS = 16 };

/* Copies of an info have the same one. */
static int nic_close(struct fid *fid)
{
    (void)fid;
    return 0;
}

static struct fi_ops nic_ops = {
    .size = sizeof nic_ops, .close = nic_close, .bind = cxi_no_bind,
    .control = cxi_no_control, .ops_open = cxi_no_ops,
};

struct fid_nic *cxi_bus_nic(int number)
{
    static struct {
        struct fid_nic nic;
        struct fi_device_attr device;
        struct fi_bus_attr bus;
        struct fi_link_attr link;
    } nics[NICS];
    const char *text = getenv("FAKE_CXI_PCI");
    unsigned domain, bus, device, function;
    __typeof__(*nics) *n = nics + number % NICS;

    for (int i = 0; text && i < number; i++) {
        text = strchr(text, ',');
        text += text != NULL;
    }
    if (number >= NICS || !text ||
        sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return NULL;
    n->nic.fid = (struct fid){ FI_CLASS_NIC, NULL, &nic_ops };
    n->nic.device_attr = &n->device;
    n->nic.bus_attr = &n->bus;
    n->nic.link_attr = &n->link;
    n->bus.bus_type = FI_BUS_PCI;
    n->bus.attr.pci = (struct fi_pci_attr){ (uint16_t)domain, (uint8_t)bus,
                                            (uint8_t)device,
                                            (uint8_t)function };
    return &n->nic;
}
