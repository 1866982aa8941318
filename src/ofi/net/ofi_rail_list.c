/* SPDX-License-Identifier: BSD-3-Clause */
/* The further NICs that are open, and what they have in flight.  ofi_rail.c
 * opens and closes them; polls, waits and messages for people ask here, on any
 * thread. */
#include "ofi/net/ofi_rail.h"
#include "base/log.h"

#include <stdio.h>

struct ofi_rail ofi_rails[OFI_RAILS - 1];
int ofi_n_rails;
size_t ofi_stripe_from = SIZE_MAX;

const char *ofi_rails_text(char *out, size_t size)
{
    char from[24];
    size_t at;

    out[0] = '\0';
    if (!ofi_n_rails)
        return out;
    at = (size_t)snprintf(out, size, "; %d rails, %s", 1 + ofi_n_rails,
                          ofi.info->domain_attr->name);
    for (int i = 0; i < ofi_n_rails && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, ", %s",
                               ofi_rails[i].info->domain_attr->name);
    if (at < size)
        snprintf(out + at, size - at, ", from %s",
                 log_size(from, (double)ofi_stripe_from));
    return out;
}

uint64_t ofi_rails_in_flight(void)
{
    uint64_t n = 0;

    for (int i = 0; i < ofi_n_rails; i++)
        n += __atomic_load_n(&ofi_rails[i].ep->in_flight, __ATOMIC_RELAXED);
    return n;
}

bool ofi_rails_room(void)
{
    for (int i = 0; i < ofi_n_rails; i++)
        if (__atomic_load_n(&ofi_rails[i].ep->in_flight, __ATOMIC_RELAXED) >=
            ofi.window)
            return false;
    return true;
}

const char *ofi_rails_busy(char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (int i = 0; i < ofi_n_rails && at < size; i++)
        if (ofi_ep_is_busy(ofi_rails[i].ep))
            at += (size_t)snprintf(out + at, size - at, "%s %s",
                                   at ? " and" : ", something on rail",
                                   ofi_rails[i].info->domain_attr->name);
    if (at && at < size)
        snprintf(out + at, size - at, " has not ended");
    return out;
}

int ofi_rails_wait_fds(int *fds)
{
    for (int i = 0; i < ofi_n_rails; i++) {
        struct fid *fid = &ofi_rails[i].ep->cq->fid;

        if (fi_trywait(ofi_rails[i].fabric, &fid, 1))
            return -1;
        fds[i] = ofi_rails[i].ep->fd;
    }
    return ofi_n_rails;
}
