/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a launch whose resident groups the system gives no threads is
 * refused in a line, and the stream goes on with what it has.
 * PEs: 1
 * Env: SHMEM_DEVICE=software
 * Expect: asks for 90 resident groups, and the system has threads for 6[45]: raise ulimit */
#include "st.h"
#include <sys/resource.h>

static void count(const shmemx_item_t *it, void *arg)
{
    unsigned *came = arg;

    (void)it;
    __atomic_fetch_add(came, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(came, __ATOMIC_ACQUIRE) % 64)
        ;
}

/* Memory for stacks is what a test can make scarce. */
T(a_launch_without_threads_is_refused)
{
    shmemx_grid_t grid = {
        .groups = 64, .items = 1, .phases = 1, .resident = 64
    };
    shmemx_stream_t s = st_make();
    struct rlimit old, low;
    unsigned came = 0;

    T_EQ(getrlimit(RLIMIT_AS, &old), 0);
    low = (struct rlimit){ 4096, old.rlim_max };
    T_EQ(shmemx_stream_launch(s, &grid, count, &came), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(setrlimit(RLIMIT_AS, &low), 0);
    grid.resident = grid.groups = 90;
    T_EQ(shmemx_stream_launch(s, &grid, count, &came), -ENOSPC);
    grid.resident = grid.groups = 64;
    T_EQ(shmemx_stream_launch(s, &grid, count, &came), 0);
    T_EQ(setrlimit(RLIMIT_AS, &old), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(came, 2 * 64);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    puts("skip: a sanitizer needs the memory that is taken away here");
    return 77;
#endif
    st_begin();
    if (!st_kernels()) {
        puts("skip: kernels that are C functions need the software device");
        shmem_global_exit(77);
    }
    T_RUN(a_launch_without_threads_is_refused);
    return st_end();
}
