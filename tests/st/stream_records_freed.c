/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: 40,000 streams, made and destroyed one after the other, with a
 * wait and a put each, leave nothing behind: the memory in use stays what it
 * was after some.
 * PEs: 1
 * Ppn: 2/1
 * Timeout: 60 */
#include "st.h"

#include <malloc.h>

enum { SOME = 500, ALL = 40000, MOST = 1 << 20 };

static uint64_t word = 1;

static void use_streams(int n)
{
    static long in, out = 3;

    for (int i = 0; i < n; i++) {
        shmemx_stream_t s = NULL;

        if (shmemx_stream_create(&s) ||
            shmemx_uint64_wait_until_on_stream(&word, SHMEM_CMP_GE, 1, s) ||
            (i % 16 == 0 && shmemx_long_put_on_stream(&in, &out, 1, next, s)) ||
            shmemx_stream_sync(s) || shmemx_stream_destroy(s)) {
            T_TRUE(!"a call failed");
            return;
        }
    }
}

T(streams_that_are_destroyed_leave_no_memory)
{
    size_t before;

    use_streams(SOME);
    before = mallinfo2().uordblks;
    use_streams(ALL);
    T_LE(mallinfo2().uordblks, before + MOST);
    shmem_barrier_all();
}

int main(void)
{
    st_begin();
    T_RUN(streams_that_are_destroyed_leave_no_memory);
    return st_end();
}
