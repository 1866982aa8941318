/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: the stream of a device rings the doorbell of a counter of the
 * stand-in for CXI as often as it stores there.  cxi.sh runs it on all devices.
 */
#include "work.h"

#include "base/env.h"
#include "gtl/gtl.h"

enum { PAGE = 4096, ROUNDS = 50 };

static void *stream;
static uint64_t *seen;          /* the doorbell, as the device finds it */

T(each_store_of_a_stream_counts)
{
    for (int i = 0; i < ROUNDS; i++)
        T_EQ(gtl->write64(seen, 1, stream), 0);
    T_EQ(gtl->stream_sync(stream), 0);
    T_TRUE(counts(0, ROUNDS));
}

T(a_stream_fires_what_was_armed)
{
    for (uint64_t i = 1; i <= ROUNDS / 2; i++) {
        source[0] = i;
        T_EQ(put((struct rma){ .word = 0, .buf = &source[0],
                               .flags = FI_DELIVERY_COMPLETE }, 0, ROUNDS + i,
                 1), 0);
        T_EQ(gtl->write64(seen, 1, stream), 0);
        T_TRUE(is(0, i));
        reap();
    }
}

int main(void)
{
    void *at;
    int rc;

    if (env_load() || gtl_open(0))
        return 1;
    begin(0, false);
    rc = gtl->pin((void *)(uintptr_t)doorbell[0], PAGE, GTL_PIN_MMIO, &at);
    if (rc) {
        fprintf(stderr, "pin: %s\n", gtl_error());
        return 1;
    }
    if (gtl->stream_create(GTL_NORMAL, &stream))
        return 1;
    seen = at;
    T_RUN(each_store_of_a_stream_counts);
    T_RUN(a_stream_fires_what_was_armed);
    gtl->stream_destroy(stream);
    gtl->unpin((void *)(uintptr_t)doorbell[0]);
    end();
    gtl_close();
    return T_DONE();
}
