/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts on a stream to the next PE only, from and to the host's memory; see
 * host_registrations.sh. */
#include "../memory.h"
#include <shmemx_st.h>

#include <dlfcn.h>
#include <string.h>

enum { LEN = 1000, ROUNDS = 3 };

/* From now on nothing more is registered with CUDA's stand-in. */
static void refuse(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void (*fail)(const char *call, int code, int after) = NULL;

    if (driver)
        *(void **)&fail = dlsym(driver, "dev_fail");
    T_TRUE(fail);
    if (fail)
        fail("cuMemHostRegister_v2", 2, 0);
}

int main(int argc, char **argv)
{
    unsigned char want[LEN], *to, *from;
    shmemx_stream_t s;

    device_begin(SHMEM_THREAD_SINGLE);
    to = mem_alloc(HOST, LEN);
    from = mem_alloc(HOST, LEN);
    T_EQ(shmemx_stream_create(&s), 0);
    if (argc > 1 && !strcmp(argv[1], "refused"))
        refuse();
    for (unsigned r = 0; r < ROUNDS; r++) {
        pattern(from, me, r, LEN);
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
