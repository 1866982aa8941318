/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets and atomics on a stream from each place to each place of each PE;
 * see on_stream.sh. */
#include "../memory.h"
#include <shmemx_st.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 8192 };
static const size_t lens[] = { 1, 8, 100, ROOM };

static shmemx_stream_t s;
static unsigned char want[ROOM];

static void moves(enum memory where, unsigned char *at, unsigned char *mine,
                  int pe)
{
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        size_t n = lens[i];

        /* A part for each PE that may write here. */
        pattern(want, me, (unsigned)(where + i), ROOM);
        mem_store(mine, want, n);
        T_EQ(shmemx_putmem_on_stream(at + me * ROOM, mine, n, pe, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        mem_fill(mine, 0, n);
        T_EQ(shmemx_getmem_on_stream(mine, at + me * ROOM, n, pe, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        mem_expect(mine, want, n);
    }
}

static void words(uint64_t *word, void *mine, int pe)
{
    uint64_t was;

    T_EQ(shmemx_uint64_atomic_fetch_add_on_stream(mine, word + me, 5, pe, s),
         0);
    T_EQ(shmemx_stream_sync(s), 0);
    was = mem_load_word(mine, sizeof was);
    T_EQ(shmemx_uint64_atomic_swap_on_stream(mine, word + me, was + 9, pe, s),
         0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(mem_load_word(mine, sizeof was), was + 5);
    T_EQ(shmemx_uint64_g_on_stream(mine, word + me, pe, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(mem_load_word(mine, sizeof was), was + 9);
}

static pid_t child;

static void fork_child(void)
{
    child = fork();
    if (child)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static void end_child(void)
{
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
}

int main(int argc, char **argv)
{
    bool forks = argc > 1 && !strcmp(argv[1], "child");

    device_begin(SHMEM_THREAD_SINGLE);
    if (forks)
        fork_child();
    T_EQ(shmemx_stream_create(&s), 0);
    for (enum memory to = HOST; to <= DEVICE; to++) {
        unsigned char *at = mem_alloc(to, (size_t)n_pes * ROOM);
        uint64_t *word = mem_alloc(to, (size_t)n_pes * sizeof *word);

        mem_fill(word, 0, (size_t)n_pes * sizeof *word);
        shmem_barrier_all();
        for (enum memory from = HOST; from < MEMORIES; from++) {
            unsigned char *mine;

            if (from == DEVICE_PRIVATE && !has_device_private)
                continue;
            mine = mem_alloc(from, ROOM);
            for (int pe = 0; pe < n_pes; pe++) {
                moves(from, at, mine, pe);
                words(word, mine, pe);
            }
            mem_free(from, mine);
        }
        shmem_barrier_all();
        mem_free(to, word);
        mem_free(to, at);
    }
    T_EQ(shmemx_stream_destroy(s), 0);
    if (forks)
        end_child();
    return memory_end();
}
