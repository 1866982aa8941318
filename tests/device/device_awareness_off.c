/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with SHMEM_ENABLE_DEVICE_AWARENESS=0 private memory of the
 * device is no local buffer of any call; symmetric memory of the device is.
 * The first argument names what is tried with it; "none" ends well. */
#include "../memory.h"

#include <errno.h>
#include <shmemg.h>
#include <shmemx_st.h>

enum { N = 40 };
static uint64_t *sym[SYMMETRIC], *own, *signal_word;
static shmem_ctx_t ctx;

/* Between all symmetric places. */
static void use_symmetric(void)
{
    for (int to = 0; to < SYMMETRIC; to++)
        for (int from = 0; from < SYMMETRIC; from++) {
            uint64_t value = (uint64_t)(10 + 3 * to + from + me);

            mem_store_word(sym[from], value, 8);
            shmem_barrier_all();
            shmem_uint64_put(sym[to] + 8, sym[from], 1, next);
            shmem_uint64_iput(sym[to] + 9, sym[from], 2, 1, 8, next);
            shmem_uint64_get(sym[from] + 30, sym[to], N - 30, next);
            shmem_barrier_all();
            T_EQ(mem_load_word(sym[to] + 8, 8), value - (uint64_t)me +
                 (uint64_t)before);
        }
}

static void use_private(const char *how)
{
    shmemx_stream_t s = NULL;
    uint64_t *to = sym[how[0] == 'd' ? DEVICE : HOST];

    how = strchr(how, ':') + 1;
    if (!strcmp(how, "put"))
        shmem_uint64_put(to, own, 1, next);
    else if (!strcmp(how, "putmem"))
        shmem_putmem(to, own, 100, next);
    else if (!strcmp(how, "put_nbi"))
        shmem_ctx_uint64_put_nbi(ctx, to, own, N, next);
    else if (!strcmp(how, "iput"))
        shmem_uint64_iput(to, own, 2, 1, 8, next);
    else if (!strcmp(how, "get"))
        shmem_uint64_get(own, to, 1, next);
    else if (!strcmp(how, "getmem"))
        shmem_getmem(own, to, 100, next);
    else if (!strcmp(how, "get_nbi"))
        shmem_uint64_get_nbi(own, to, N, next);
    else if (!strcmp(how, "iget"))
        shmem_uint64_iget(own, to, 2, 1, 8, next);
    else if (!strcmp(how, "put_signal"))
        shmem_putmem_signal(to, own, 100, signal_word, 1, SHMEM_SIGNAL_SET,
                            next);
    else if (!strcmp(how, "put_signal_nbi"))
        shmem_putmem_signal_nbi(to, own, 100, signal_word, 1, SHMEM_SIGNAL_SET,
                                next);
    else if (!strcmp(how, "fetch_nbi"))
        shmem_uint64_atomic_fetch_nbi(own, to, next);
    else if (!strcmp(how, "on_stream"))
        T_EQ(shmemx_putmem_on_stream(to, own, 100, next, s), -EINVAL);
    else
        T_STR(how, "one of the words above");
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    int provided, requested = SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT;

    device_begin(SHMEM_THREAD_SINGLE);
    T_EQ(shmem_init_thread(requested, &provided), 0);
    T_EQ(provided & SHMEM_DEVICE_HOST_INIT, 0);
    T_EQ(shmem_query_device_awareness(), 0);
    for (int p = 0; p < SYMMETRIC; p++)
        sym[p] = mem_alloc((enum memory)p, N * sizeof *sym[p]);
    signal_word = shmem_calloc(1, 8);
    T_EQ(shmem_query_device_awareness(), 0);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    own = mem_alloc_private(N * sizeof *own);
    use_symmetric();
    if (argc > 1 && strcmp(argv[1], "none"))
        use_private(argv[1]);
    mem_free_private(own);
    shmem_ctx_destroy(ctx);
    for (int p = 0; p < SYMMETRIC; p++)
        mem_free((enum memory)p, sym[p]);
    shmem_free(signal_word);
    shmem_finalize();
    return memory_end();
}
