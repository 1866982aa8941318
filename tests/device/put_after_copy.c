/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what the program copies to the device heap, or fills it with,
 * by calls of CUDA that return at once, is what a put sends that follows.
 *
 * put_after_copy.sh runs it where CUDA's driver is. */
#include "../memory.h"

#include <dlfcn.h>

enum { N = 4096, ROUNDS = 4 };
static int (*copy)(unsigned long long to, const void *from, size_t n);
static int (*fill)(unsigned long long to, unsigned char byte, size_t n);

static unsigned long long number(const void *p)
{
    return (uintptr_t)p;
}

static void arrives(char *there, unsigned char byte)
{
    unsigned char got[N], want[N];

    shmem_barrier_all();
    memset(want, byte, N);
    shmem_getmem(got, there, N, me);
    T_MEM(got, want, N);
    shmem_barrier_all();
}

T(a_put_sends_what_was_copied_before)
{
    char *from = shmem_space_malloc(SHMEM_SPACE_GPU, 2 * N), *to = from + N;
    char *host = malloc(N);

    for (int i = 1; i <= ROUNDS; i++) {
        memset(host, 2 * i, N);
        T_EQ(copy(number(from), host, N), 0);
        shmem_putmem(to, from, N, next);
        arrives(to, (unsigned char)(2 * i));
        T_EQ(fill(number(from), (unsigned char)(2 * i + 1), N), 0);
        shmem_putmem(to, from, N, next);
        arrives(to, (unsigned char)(2 * i + 1));
    }
    free(host);
    shmem_free(from);
}

int main(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);

    if (!lib)
        return 77;
    *(void **)&copy = dlsym(lib, "cuMemcpyHtoD_v2");
    *(void **)&fill = dlsym(lib, "cuMemsetD8_v2");
    device_begin(SHMEM_THREAD_SINGLE);
    if (T_TRUE(copy && fill))
        T_RUN(a_put_sends_what_was_copied_before);
    return memory_end();
}
