/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_error.c - the device in use, and why the last call to a driver failed.
 * Every driver calls it; it calls no driver. */
#include "gtl/gtl_int.h"

#include <errno.h>
#include <stdio.h>

struct gtl_device gtl_device;
hot_data bool gtl_device_only;

static __thread char said[160];

void gtl_error_clear(void)
{
    said[0] = '\0';
}

const char *gtl_error(void)
{
    return said;
}

int gtl_fail(int rc, const char *call, const char *text, long code)
{
    if (code)
        snprintf(said, sizeof said, "%s: %s (%ld)", call, text, code);
    else
        snprintf(said, sizeof said, "%s: %s", call, text);
    return rc;
}

int gtl_fail_spin(const char *call)
{
    return gtl_fail(-ENOSYS, call, "a wait is a kernel here, which would take "
                    "the time of other PEs' on the device",
                    gtl_device.pes);
}

int gtl_fail_capture(const char *call, bool broken, long code)
{
    return broken ? gtl_fail(-EBUSY, call, "the capture of the stream is "
                             "broken", code)
                  : gtl_fail(-EINVAL, call, "the stream records no graph", 0);
}
