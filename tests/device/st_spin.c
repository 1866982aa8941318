/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts to another node behind a function that takes long, as a kernel would;
 * see st_spin.sh. */
#include "../memory.h"
#include <shmemx_st.h>

#include <unistd.h>

enum { LEN = 100, ROUNDS = 3, LONG_US = 50000 };

static void sleep_long(void *arg)
{
    (void)arg;
    usleep(LONG_US);
}

int main(void)
{
    unsigned char want[LEN], *to, *from;
    shmemx_stream_t s;

    device_begin(SHMEM_THREAD_SINGLE);
    to = mem_alloc(HOST, LEN);
    from = mem_alloc(HOST, LEN);
    T_EQ(shmemx_stream_create(&s), 0);
    for (unsigned r = 0; r < ROUNDS; r++) {
        pattern(from, me, r, LEN);
        T_EQ(shmemx_stream_call(s, sleep_long, NULL), 0);
        T_EQ(shmemx_putmem_on_stream(to, from, LEN, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        pattern(want, before, r, LEN);
        T_MEM(to, want, LEN);
        shmem_barrier_all();
    }
    shmemx_stream_destroy(s);
    return memory_end();
}
