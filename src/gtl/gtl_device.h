/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_device.h - what is known of this PE's device; its driver fills this at
 * open. */
#ifndef GTL_GTL_DEVICE_H
#define GTL_GTL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As what kind of memory the libraries of NICs register the device's; NONE:
 * transfers of it are staged. */
enum gtl_hmem { GTL_HMEM_NONE, GTL_HMEM_CUDA, GTL_HMEM_ROCR };

struct gtl_device {
    char name[96];
    /* Of a device the same in all processes, whatever number it has there. */
    char id[48];
    char pci[16];               /* "0000:17:00.0", or "" */
    int ordinal, count;         /* among the devices that the process sees */
    int driver_version;         /* in the driver's own form; 0: none */
    uint64_t memory;            /* bytes */
    bool host_access;           /* the processor loads and stores its memory */
    bool ipc, dmabuf;           /* ipc_export() and ipc_open(), dmabuf() work */
    enum gtl_hmem hmem;
    bool memops;                /* write64() and wait64() need no kernel */
    bool kernels;               /* else no reduce(), peer_copy(); few amo() */
    bool ordered, coarse;       /* needs no flush(); needs release() */
    bool wait_flushes;          /* wait64() flushes when it ends */
    const char *coherence;      /* of alloc()'s memory; NULL: one kind only */
    /* Why reserve() is refused; NULL: it works, and growth_export says how
     * such memory is exported. */
    const char *why_fixed, *growth_export;
    bool host_adds;             /* kernels add to host memory themselves: their
                                 * atomics there exclude each other, */
    bool host_atomics;          /* and also the processor's */
    bool stale_waits;           /* wait64() may miss others' stores */
    /* Its streams and kernels are threads of this process: they reach all of
     * its memory, registered or not, and call its functions, which may take
     * locks; processes that have it do not share its time. */
    bool host_streams;
    bool host_memory;           /* what alloc() gives counts as the host's */
    int hw_queues;              /* which streams share; 0: not known */
    int pes;                    /* that share it: if several, no kernel spins */
    /* Resident at once on each of its processors, at most; 0: no limit.  The
     * registers of a kernel may lower it.  processors 0: not known. */
    unsigned processors, groups_each, items_each;
    unsigned items_unit;        /* of which a group has whole ones; 0: of 1 */
    size_t shared_each;         /* bytes of the groups' shared memory */
    size_t shared_reserved;     /* bytes of each group that are the driver's */
};

#endif
