/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_device.h - what is known of this PE's device. */
#ifndef GTL_GTL_DEVICE_H
#define GTL_GTL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct gtl_device {
    char name[96];
    /* Two processes' is the same for a device, whatever number it has. */
    char id[48];
    char pci[16];               /* "0000:17:00.0", or "" */
    int ordinal, count;         /* which of those this process sees */
    int driver_version;         /* as the driver counts; 0: none */
    uint64_t memory;            /* bytes */
    bool host_access;            /* the processor loads and stores its memory */
    bool ipc, dmabuf;         /* ipc_export() and ipc_open(), dmabuf() work */
    bool memops;                /* write64() and wait64() take no kernel */
    bool kernels;            /* else no reduce() or peer_copy(), little amo() */
    bool ordered, coarse;       /* no need of flush(); but of release() */
    bool wait_flushes;          /* wait64() does, when it is over */
    const char *coherence;         /* of what alloc() gives; NULL: all is one */
    /* Why reserve() gives nothing; NULL: it does, and grown_by says how such
     * memory is lent. */
    const char *why_fixed, *growth_export;
    bool stale_waits;            /* wait64() may miss what others store there */
    /* Its streams and kernels are threads of this process: they reach all of
     * its memory, registered or not, and call its functions, which may take
     * locks; processes that have it do not share its time. */
    bool host_streams;
    bool host_memory;           /* what alloc() gives counts as the host's */
    int hw_queues;              /* that streams share; 0: not known */
    int pes;                    /* sharing it: if several, no kernel spins */
};

#endif
