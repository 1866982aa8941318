/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: no thread of the library blocks a signal that its own
 * instructions raise, so that the handler of a debugger or a sanitizer sees it;
 * all others are for the program's threads.
 * PEs: 1
 * Ppn: 2/1 */
#include "st.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int of_instructions[] = {
    SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP
};
enum { N = sizeof of_instructions / sizeof *of_instructions };

static bool blocks(unsigned long long mask, int sig)
{
    return mask >> (sig - 1) & 1;
}

static unsigned long long mask_of(const char *task)
{
    unsigned long long mask = 0;
    char path[300], line[128];
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigBlk: %llx", &mask) == 1)
            break;
    if (f)
        fclose(f);
    return mask;
}

/* Threads that others started, as the launcher's library does, before. */
static int last_before;

/* One that has just been made blocks all, until the C library starts it. */
static unsigned long long final_mask(const char *task)
{
    unsigned long long mask = mask_of(task);

    for (int i = 0; i < 200 && blocks(mask, SIGSEGV); i++) {
        usleep(10000);
        mask = mask_of(task);
    }
    return mask;
}

/* Of those that the library has started since: how many block SIGTERM? */
static int check_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *d;
    int n = 0;

    T_TRUE(dir != NULL);
    while (dir && (d = readdir(dir))) {
        unsigned long long mask;

        if (atoi(d->d_name) <= last_before)
            continue;
        mask = final_mask(d->d_name);
        for (int i = 0; i < N; i++)
            T_TRUE(!blocks(mask, of_instructions[i]));
        n += blocks(mask, SIGTERM);
    }
    if (dir)
        closedir(dir);
    return n;
}

static void note_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *d;

    while (dir && (d = readdir(dir)))
        if (atoi(d->d_name) > last_before)
            last_before = atoi(d->d_name);
    if (dir)
        closedir(dir);
}

/* The stream's own thread.  The progress thread and diag's, which is the
 * watchdog, may have begun before. */
T(threads_of_the_library_block_no_fault)
{
    shmemx_stream_t s;
    static long in;
    uint64_t *start_flag;

    note_threads();
    s = st_make();
    start_flag = st_start_flag(s);
    T_EQ(shmemx_long_p_on_stream(&in, 1, next, s), 0);
    T_LE(1, check_threads());
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_barrier_all();
    shmem_free(start_flag);
}

int main(void)
{
    st_begin();
    T_RUN(threads_of_the_library_block_no_fault);
    return st_end();
}
