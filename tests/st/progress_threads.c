/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE has one progress thread, however many streams it uses and
 * whatever else the network does; further threads of the library are those of
 * the software device's streams, and the one that reports.
 * PEs: 1 2
 * Ppn: 2/1
 * Env: SHMEM_DEVICE=software */
#define _GNU_SOURCE 1
#include "st.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS = 3 };
static long in[STREAMS], out = 7;

static struct threads {
    int progress, all;
} before;

static struct threads count_threads(void)
{
    struct threads n = { 0, 0 };
    DIR *dir = opendir("/proc/self/task");
    struct dirent *d;
    char path[300], name[32];
    FILE *f;

    T_TRUE(dir != NULL);
    while (dir && (d = readdir(dir))) {
        if (d->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", d->d_name);
        f = fopen(path, "r");
        if (!f)
            continue;
        n.all++;
        if (fgets(name, sizeof name, f) && !strcmp(name, "sluice-progress\n"))
            n.progress++;
        fclose(f);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* Each stream puts, and has a queue, which needs the progress thread. */
T(streams_and_network_share_one_progress_thread)
{
    shmemx_stream_t s[STREAMS];
    shmemx_queue_t q[STREAMS];
    struct threads now;

    for (int i = 0; i < STREAMS; i++) {
        s[i] = st_make();
        T_EQ(shmemx_long_p_on_stream(&in[i], out, next, s[i]), 0);
        T_EQ(shmemx_queue_create(s[i], NULL, 0, &q[i]), 0);
        T_EQ(shmemx_quiet_on_stream(s[i]), 0);
    }
    for (int i = 0; i < STREAMS; i++)
        T_EQ(shmemx_stream_sync(s[i]), 0);
    /* A thread that has just been started gives itself its name. */
    for (int ms = 0; ms < 2000; ms++) {
        now = count_threads();
        if (now.progress)
            break;
        usleep(1000);
    }
    T_EQ(now.progress, 1);
    /* The streams' own, the watchdog's, and on a node the progress thread. */
    T_LE(now.all - before.all, STREAMS + 2 - before.progress);
    shmem_barrier_all();
    for (int i = 0; i < STREAMS; i++) {
        T_EQ(in[i], out);
        T_EQ(shmemx_queue_destroy(q[i]), 0);
        T_EQ(shmemx_stream_destroy(s[i]), 0);
    }
}

int main(void)
{
    st_begin();
    shmem_barrier_all();
    before = count_threads();
    T_RUN(streams_and_network_share_one_progress_thread);
    return st_end();
}
