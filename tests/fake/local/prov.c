/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libfabric provider that asks of its user what some networks ask, on
 * machines that have none of them.  FI_PROVIDER_PATH names its directory, and
 * FAKE_LOCAL_LIKE the network:
 *   strict  all of it: FI_CONTEXT, FI_CONTEXT2, FI_ASYNC_IOV, FI_MR_LOCAL,
 *           keys that the provider chooses, 16 bytes inline, 64 operations
 *   efa     FI_MR_LOCAL; FI_HMEM with atomics from the interface 1.18 on
 *   psm3    FI_CONTEXT; a transmit queue without an end (SIZE_MAX)
 *   opx     FI_CONTEXT2 and FI_ASYNC_IOV
 *
 * It sits on tcp;ofi_rxm and does what that does; but it aborts with a line
 * where
 *   - a local buffer is posted without the descriptor of a region that is
 *     open, holds all of it and was registered for that access;
 *   - a region is closed while an operation under way uses it;
 *   - a context (struct fi_context, fi_context2) is missing, or is not left
 *     alone until the operation's entry was read;
 *   - the part of an attribute that newer libraries know is not zero;
 *   - more than one buffer is posted at a time.
 * Posts are refused (-FI_EAGAIN) at random, several in a row, and beyond the
 * size of the transmit queue.
 *
 * Environment, besides FAKE_LOCAL_LIKE:
 *   FAKE_LOCAL_STORM=n    one of n posts begins a storm of refusals, 16; 0:
 *                         none
 *   FAKE_LOCAL_SEED=n     of the storms; else the process id
 *   FAKE_LOCAL_HMEM=1     it claims to reach device memory
 *   FAKE_LOCAL_LOG=1      what was used, on stderr when a domain closes
 */
#include "local.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct local_like likes[] = {
    { .name = "strict", .mode = FI_CONTEXT | FI_CONTEXT2 | FI_ASYNC_IOV,
      .mr_mode = FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_ALLOCATED,
      .inject = 16, .tx_size = 64 },
    { .name = "efa", .mr_mode = FI_MR_LOCAL | FI_MR_PROV_KEY | FI_MR_ALLOCATED,
      .inject = 32, .tx_size = 256, .hmem_api = FI_VERSION(1, 18) },
    { .name = "psm3", .mode = FI_CONTEXT, .inject = 64, .tx_size = SIZE_MAX },
    { .name = "opx", .mode = FI_CONTEXT2 | FI_ASYNC_IOV, .inject = 8,
      .tx_size = 1024, .late_inject = true },
};
const struct local_like *local_like = &likes[0];

long local_env(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

void local_broken(const char *format, ...)
{
    char line[256];
    int n = snprintf(line, sizeof line, "fake %s: ", local_like->name);
    va_list args;

    va_start(args, format);
    vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    va_end(args);
    strcat(line, "\n");
    if (write(2, line, strlen(line)) < 0)
        line[0] = '\0';
    signal(SIGABRT, SIG_DFL);   /* libraries below libfabric catch it */
    abort();
}

static void cleanup(void)
{
}

static struct fi_provider provider = {
    /* Newer than one of that name which libfabric itself has. */
    .version = FI_VERSION(9999, 0),
    .getinfo = local_getinfo,
    .fabric = local_fabric_open,
    .cleanup = cleanup,
};

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void);

struct fi_provider *fi_prov_ini(void)
{
    const char *like = getenv("FAKE_LOCAL_LIKE");

    for (size_t i = 0; like && i < sizeof likes / sizeof *likes; i++)
        if (!strcmp(likes[i].name, like))
            local_like = &likes[i];
    provider.name = local_like->name;
    provider.fi_version = fi_version();     /* of another, it is refused */
    return &provider;
}
