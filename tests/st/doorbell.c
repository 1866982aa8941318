/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what streams put to other nodes arrives, whichever of the
 * device, the NIC and a thread takes part; doorbell.sh checks which it was.
 * T_PAGE=N: from the start of the first stream on, the system's pages are so large.
 * PEs: 2
 * Ppn: 2/1 */
#include "st.h"

#include <dlfcn.h>

static long page;

/* In place of the C library's, also for the provider; and for a sanitizer that
 * is not ready yet. */
__attribute__((no_sanitize("thread", "address")))
long sysconf(int name)
{
    static long (*real)(int);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_PAGESIZE && page ? page : real(name);
}

T(puts_of_streams_arrive)
{
    static long to[4], from[4];
    static uint64_t sig;
    const char *text = getenv("T_PAGE");
    shmemx_stream_t s = st_make();

    page = text ? atol(text) : 0;
    for (long r = 1; r <= 20; r++) {
        for (int i = 0; i < 4; i++)
            from[i] = 10 * r + i;
        T_EQ(shmemx_long_put_signal_on_stream(to, from, 4, &sig, 1,
                                              SHMEM_SIGNAL_ADD, next, s), 0);
        T_EQ(shmemx_signal_wait_until_on_stream(NULL, &sig, SHMEM_CMP_GE,
                                                (uint64_t)r, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (int i = 0; i < 4; i++)
            T_EQ(to[i], 10 * r + i);
        shmem_barrier_all();
    }
    page = 0;
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(puts_of_streams_arrive);
    return st_end();
}
