/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libcxi-fi.so: a libfabric provider that calls itself "cxi" and keeps, or
 * makes its user keep, the rules of the real one, for machines that have no
 * such NIC.  FI_PROVIDER_PATH names its directory.
 *
 * It sits on the provider "sockets".  That one has every atomic, takes caller's
 * keys of 64 bits, counts offsets from 0 and writes at the target without the
 * target's help (automatic progress), as a NIC does; tcp;ofi_rxm does not do
 * the last.  What sockets does otherwise than CXI is done here: completions,
 * counters, credits, memory regions, received messages and delays are this
 * provider's own, with a thread per domain that plays the NIC (nic.c).  An
 * address is said to be FI_ADDR_CXI, which users pass on unread; inside it is
 * a socket's.  FI_PROVIDER, if set, must let sockets in.
 *
 * Which rule is where; the numbers are those of the messages on stderr:
 *   1  info.c    what getinfo offers: RDM only, manual progress, one iov
 *                element, keys, ordering (no WAR, no RAW), 2^32-1 bytes
 *   2  mr.c      register, bind to an enabled endpoint, enable: this order;
 *                32-bit client keys, 64-bit provider keys after enable;
 *                access through another endpoint or before enable fails
 *   3  ep.c      no endpoint without a transmit CQ; every operation has a
 *                credit until its completion was read; -FI_EAGAIN at the limit
 *   4  ep.c      counters bound for remote events take the binding, never
 *                count
 *   5  cq.c      completions exist only once the CQ is read (or a counter of
 *                the endpoint, which is progress too)
 *   6  cntr.c    wait objects NONE, UNSPEC and YIELD; 48 and 7 bits; busy while
 *                bound
 *   7  rma.c     flags and lengths; nothing inline from a GPU's memory
 *   8  atomic.c  one element, the table of types and operations, no fetching
 *                with delivery completion
 *   9  nic.c     a completed update may be invisible at the target for up to
 *                a millisecond, unless delivery completion was asked; only
 *                the order that was asked for in getinfo is kept
 *  10  nic.c     a bad key or range ends in an error entry with its context
 *  11  msg.c     a message reaches the user's buffer when the CQ is read
 *  12  domain.c  without a virtual network there is no domain
 *  13  work.c    deferred work: flags, one element, counters for FI_READ and
 *                FI_WRITE on the endpoint, final operands of FI_ATOMIC_WRITE,
 *                failures fire nothing, or count as what has ended (see
 *                FAKE_CXI_ERRORS_COUNT); a credit from queueing until the
 *                completion was read; no cancelling, a flush takes all
 *  14  work.c    more entries than the NIC has for all its PEs (share.c)
 *  15  doorbell.c  a counter's doorbell: plain stores of 8 bytes, each is added
 *  16  mr.c      counters of regions: registered for events, one each, bound
 *                before enable; they count writes and atomics of others
 *  17  tuning.c  what an endpoint that receives pins
 *  18  mr.c      descriptors, which count where the domain was asked for it
 *  19  cq.c      a queue of events that is half full stops its endpoint
 *  20  cq.c      descriptors to wait on, fi_trywait() before each wait
 *  21  domain.c  traffic classes
 *  22  prov.c    structures of the user's have zeros where newer ones go on
 *  23  keys.c    provider keys: where a region is, no secret
 *  24  work.c    calls of a domain's extensions that a release does not have
 * Not here: tagged messages, telemetry, GPUs but for CUDA's; each is refused.
 *
 * Environment:
 *   FAKE_CXI_NICS=n       n domains, cxi0 and on; all are one interface
 *   FAKE_CXI_PCI=s,s,...  where they are on the PCI bus
 *   FAKE_CXI_INTERFACE=s  which interface that is; lo
 *   FAKE_CXI_HMEM=2       the same as 1, of one mapping at a time, as libfabric
 *                         before 2.7 registers it
 *   FAKE_CXI_HMEM=1       it reaches the memory of a CUDA device
 *   FAKE_CXI_MAX_MSG=n    the longest transfer, 4 GiB - 1
 *   FAKE_CXI_SOFT=1       a broken rule returns an error instead of abort()
 *   FAKE_CXI_NO_VNI=1     as on a machine that gave the job no network
 *   FAKE_CXI_DELAY_US=n   the longest delay, 1000
 *   FAKE_CXI_SEED=n       of the delays; else the process id
 *   FAKE_CXI_RESERVED=n   entries of deferred work that are reserved on each
 *                         NIC, of which 8 are the provider's
 *   FAKE_CXI_DEPTH=n      the same without these 8, 500
 *   FAKE_CXI_CNTRS=n      counters of each NIC, 2047
 *   FAKE_CXI_ERRORS_COUNT=1   failures count towards thresholds, and the queue
 *                         reports them later than the counter
 *   FAKE_CXI_LATE_MS=n    by so much, 2
 *   FAKE_CXI_REGION=n     what a counter of a region counts for each write or
 *                         atomic that comes there, 1
 *   FAKE_CXI_REGION_LATE_US=n   how long after it has come, 0
 *   FAKE_CXI_STALE=1      deferred atomics on own words do not see what the
 *                         processor has stored since the last one; 2: all
 *   FAKE_CXI_FORK=1       an old kernel: with CXI_FORK_SAFE=1 a child of fork()
 *                         lacks the pages of what was mapped
 *   FAKE_CXI_REFUSE=1     deferred atomics that set a word are refused
 *   FAKE_CXI_FLUSH_MS=n   how long FI_FLUSH_WORK sleeps, 1000 as the real one
 *   FAKE_CXI_OPS=n        the newest extensions of a domain, dom_ops_v6; 4 is a
 *                         release without get_dwq_depth
 *   FAKE_CXI_PINNED=n     bytes of memory that may be pinned; no limit
 *   FAKE_CXI_TCLASSES=n   bits of the traffic classes that are allowed
 *   FAKE_CXI_LONG=1       looks at what newer releases read of structures
 *   FAKE_CXI_NO_FD=1      queues have no descriptors to wait on
 *   FAKE_CXI_LOG=1        what was used, on stderr when a domain closes
 *   FI_CXI_...            those of tuning.c, as of the real one
 */
#include "work.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

long cxi_env(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

int cxi_rule(int code, const char *rule, const char *format, ...)
{
    char line[256];
    int n = snprintf(line, sizeof line, "fake cxi: rule %s: ", rule);
    va_list args;

    va_start(args, format);
    vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    va_end(args);
    strcat(line, "\n");
    if (write(2, line, strlen(line)) >= 0 && cxi_env("FAKE_CXI_SOFT", 0))
        return code;
    signal(SIGABRT, SIG_DFL);   /* libraries below libfabric catch it */
    abort();
}

void cxi_long(const void *made, size_t size, size_t newest)
{
    const char *p = made;

    if (!made || !cxi_env("FAKE_CXI_LONG", 0))
        return;
    for (size_t i = size; i < newest; i++)
        if (((const volatile char *)p)[i])
            cxi_rule(0, "22", "a structure of %zu bytes has no zeros up to "
                     "byte %zu, which newer releases read", size, newest);
}

uint64_t cxi_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int cxi_no_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)fid, (void)to, (void)flags;
    return -FI_ENOSYS;
}

int cxi_no_control(struct fid *fid, int command, void *arg)
{
    (void)fid, (void)command, (void)arg;
    return -FI_ENOSYS;
}

int cxi_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops,
               void *context)
{
    (void)fid, (void)name, (void)flags, (void)ops, (void)context;
    return -FI_ENOSYS;
}

static void cleanup(void)
{
    cxi_doorbell_forget();
}

static struct fi_provider provider = {
    .version = FI_VERSION(0, 1),
    .name = "cxi",
    .getinfo = cxi_getinfo,
    .fabric = cxi_fabric_open,
    .cleanup = cleanup,
};

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void);

struct fi_provider *fi_prov_ini(void)
{
    /* The base provider's thread otherwise spins for 10 ms whenever it has
     * nothing to do, on cores that its user wants. */
    setenv("FI_SOCKETS_PE_WAITTIME", "0", 0);
    cxi_spin_yields();
    cxi_tuning_read();
    provider.fi_version = fi_version();     /* of another, it is refused */
    return &provider;
}
