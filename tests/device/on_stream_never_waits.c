/* SPDX-License-Identifier: BSD-3-Clause */
/* The first operations ever, of every kind, behind a stream that waits; what
 * the driver was called for meanwhile, on_stream_never_waits.sh reads. */
#include "../memory.h"

#include <errno.h>
#include <shmemx_part.h>
#include <shmemx_st.h>
#include <shmemx_trig.h>
#include <string.h>

enum { MORE = 20,               /* streams than any of ours made in advance */
       TRIGGERS = 80 };         /* than stay as they are when they are freed */

static shmemx_stream_t s, more[MORE];
static uint64_t *at;
static long host[64];
static const int pes[] = { 0 };
static long words[MORE];

/* ---- what is freed meanwhile ---- */

static shmemx_trig_t trigs[TRIGGERS];
static shmemx_req_t parts[2];
static shmemx_prequest_t of_kernels[2];

/* False: a device whose streams lack what these need. */
static bool make_objects(void)
{
    const char *kind = getenv("FAKE_DEVICE");
    long *to = shmem_malloc(2 * 64 * sizeof *to);

    if (kind && !strcmp(kind, "bare"))
        return false;
    for (int i = 0; i < TRIGGERS; i++) {
        shmemx_trig_dev_t of_kernel;

        T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, 4, NULL, 0, &trigs[i]), 0);
        T_EQ(shmemx_trig_dev(trigs[i], &of_kernel), 0);
    }
    T_EQ(shmemx_psend_init(to, 4, 16 * sizeof *to, next, 5, &parts[0]), 0);
    T_EQ(shmemx_precv_init(to + 64, 4, 16 * sizeof *to, before, 5,
                            &parts[1]), 0);
    T_EQ(shmemx_matchall(2, parts), 0);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_prequest_create(parts[i], NULL, 0, &of_kernels[i]), 0);
    return true;
}

static void free_objects(void)
{
    for (int i = 0; i < TRIGGERS; i++)
        T_EQ(shmemx_trig_free(&trigs[i]), 0);
    for (int i = 0; i < 2; i++)
        T_EQ(shmemx_prequest_free(&of_kernels[i]), 0);
}

/* ---- what is enqueued ---- */

/* at: 64 words of the device; results and sources in private host memory. */
static void enqueue(void)
{
    static long there[64];
    long *d = (long *)(void *)at;

    T_EQ(shmemx_long_put_on_stream(d, host, 8, next, s), 0);
    T_EQ(shmemx_long_put_on_stream(d, d + 8, 8, next, s), 0);
    T_EQ(shmemx_long_get_on_stream(d + 16, d, 8, next, s), 0);
    T_EQ(shmemx_long_get_nbi_on_stream(host + 8, d, 8, next, s), 0);
    T_EQ(shmemx_long_p_on_stream(d + 24, 5, next, s), 0);
    T_EQ(shmemx_int_p_on_stream((int *)(void *)(d + 25), 5, next, s), 0);
    T_EQ(shmemx_long_iput_on_stream(d + 26, host, 2, 1, 3, next, s), 0);
    T_EQ(shmemx_long_iget_on_stream(there, d, 1, 2, 3, next, s), 0);
    T_EQ(shmemx_long_atomic_inc_on_stream(d + 32, next, s), 0);
    T_EQ(shmemx_int_atomic_fetch_add_on_stream(
             (int *)(void *)(d + 33), (int *)(void *)(d + 34), 2, next, s), 0);
    T_EQ(shmemx_long_atomic_compare_swap_on_stream(there + 8, d + 35, 0, 1,
                                                   next, s), 0);
    T_EQ(shmemx_signal_add_on_stream(at + 36, 1, next, s), 0);
    T_EQ(shmemx_long_put_signal_on_stream(d + 40, d, 4, at + 37, 1,
                                          SHMEM_SIGNAL_SET, next, s), 0);
    T_EQ(shmemx_fence_on_stream(s), 0);
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, at + 37, SHMEM_CMP_GE, 1,
                                            s), 0);
    T_EQ(shmemx_long_wait_until_on_stream(d + 38, SHMEM_CMP_EQ, 0, s), 0);
    T_EQ(shmemx_pe_quiet_on_stream(pes, 1, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    for (int i = 0; i < MORE; i++)
        T_EQ(shmemx_long_p_on_stream(&words[i], i, next, more[i]), 0);
}

int main(void)
{
    static uint64_t release_flag;
    bool made;

    device_begin(SHMEM_THREAD_SINGLE);
    at = mem_alloc(DEVICE, 64 * sizeof *at);
    mem_fill(at, 0, 64 * sizeof *at);
    T_EQ(shmemx_stream_create(&s), 0);
    for (int i = 0; i < MORE; i++)
        T_EQ(shmemx_stream_create(&more[i]), 0);
    made = make_objects();
    shmem_barrier_all();
    T_EQ(shmemx_uint64_wait_until_on_stream(&release_flag, SHMEM_CMP_GE, 1,
                                            s), 0);
    mem_log("BEGIN");
    enqueue();
    if (made)
        free_objects();
    mem_log("END");
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    shmem_barrier_all();        /* no operation arrives meanwhile */
    shmem_uint64_p(&release_flag, 1, me);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    T_EQ(mem_load_word(at + 32, 8), 1);
    T_EQ(mem_load_word(at + 37, 8), 1);
    T_EQ(mem_load_word(at + 24, 8), 5);
    T_EQ(shmemx_stream_destroy(s), 0);
    for (int i = 0; i < MORE; i++) {
        T_EQ(shmemx_quiet_on_stream(more[i]), 0);
        T_EQ(shmemx_stream_sync(more[i]), 0);
        T_EQ(shmemx_stream_destroy(more[i]), 0);
    }
    shmem_barrier_all();
    for (int i = 0; i < MORE; i++)
        T_EQ(words[i], i);
    mem_free(DEVICE, at);
    return memory_end();
}
