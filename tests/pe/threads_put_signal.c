/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: several threads put to, get from, count in and wait for one
 * memory (memory.h) at once, each in a context of its own or all in the default
 * one, and lose nothing; the end of a forked child changes nothing.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 */
#include "../memory.h"

#include <pthread.h>
#include <sys/wait.h>

enum { THREADS = 4, LEN = 3000, ROUNDS = 8 };

static char *dest, *source;     /* a part of each for each thread */
static uint64_t *sig, *count;

struct worker {
    pthread_t thread;
    int id;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    size_t at = (size_t)w->id * LEN;
    unsigned char want[LEN], got[LEN];
    uint64_t *mine = &sig[w->id * 8];
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    if (w->id % 2)
        T_EQ(shmem_ctx_create(0, &ctx), 0);
    for (unsigned r = 1; r <= ROUNDS; r++) {
        uint64_t count_of_round = 2 * r;

        pattern(want, me * THREADS + w->id, r, LEN);
        shmem_ctx_putmem(ctx, source + at, want, LEN, me);
        shmem_ctx_quiet(ctx);
        shmem_ctx_putmem_signal(ctx, dest + at, source + at, LEN, mine, 1,
                                SHMEM_SIGNAL_ADD, next);
        shmem_ctx_uint64_atomic_add(ctx, count, 1, 0);
        shmem_signal_wait_until(mine, SHMEM_CMP_GE, count_of_round - 1);
        shmem_ctx_getmem(ctx, got, dest + at, LEN, me);
        pattern(want, before * THREADS + w->id, r, LEN);
        T_MEM(got, want, LEN);
        /* The sender may send again: it waits for this count. */
        shmem_ctx_quiet(ctx);
        shmem_ctx_uint64_atomic_add(ctx, &count[8 + w->id], 1, before);
        shmem_uint64_wait_until(&count[8 + w->id], SHMEM_CMP_GE, r);
        shmem_signal_add(mine, 1, me);
        shmem_quiet();
    }
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    return NULL;
}

T(threads_at_once)
{
    struct worker w[THREADS];

    for (int i = 0; i < THREADS; i++) {
        w[i].id = i;
        T_EQ(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    shmem_barrier_all();
    if (me == 0)
        T_EQ(mem_load_word(count, 8), THREADS * ROUNDS * n_pes);
    shmem_barrier_all();
}

T(a_forked_child_ends)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(3);
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(WEXITSTATUS(status), 3);
    T_EQ(system("exit 4") >> 8, 4);
    shmem_barrier_all();
    shmem_uint64_atomic_set(&count[1], 9, next);
    shmem_uint64_wait_until(&count[1], SHMEM_CMP_EQ, 9);
    shmem_barrier_all();
}

int main(void)
{
    memory_begin(SHMEM_THREAD_MULTIPLE);
    dest = mem_alloc(OTHER, THREADS * LEN);
    source = mem_alloc(OTHER, THREADS * LEN);
    sig = mem_alloc(OTHER, THREADS * 64);
    count = mem_alloc(OTHER, 128);
    mem_fill(sig, 0, THREADS * 64);
    mem_fill(count, 0, 128);
    shmem_barrier_all();
    T_RUN(threads_at_once);
    T_RUN(a_forked_child_ends);
    mem_free(OTHER, count);
    mem_free(OTHER, sig);
    mem_free(OTHER, source);
    mem_free(OTHER, dest);
    return memory_end();
}
