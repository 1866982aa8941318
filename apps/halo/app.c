/* SPDX-License-Identifier: BSD-3-Clause */
#include "app.h"

#include "../cores.h"

#include <shmem.h>
#include <shmem_space.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct app app;

void app_begin(const char *name)
{
    shmem_init();
    app.name = name;
    app.me = shmem_my_pe();
    app.pes = shmem_n_pes();
    app.node_pes = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    app.cores = cores_of_pe();
}

void app_die(const char *code, const char *fmt, ...)
{
    char text[400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fflush(stdout);
    fprintf(stderr, "%s: %s [H-E-%s]\n", app.name, text, code);
    shmem_global_exit(1);
    abort();
}

void app_need(int rc, const char *what)
{
    if (rc)
        app_die("DEVICE", "PE %d: %s fails: %s", app.me, what, strerror(-rc));
}

double app_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *room(bool device, size_t bytes)
{
    void *p = shmem_space_calloc(device ? SHMEM_SPACE_DEVICE : SHMEM_SPACE_CPU,
                                 1, bytes ? bytes : 1);

    if (p)
        return p;
    if (app.me == 0)
        app_die("HEAP", "no room for %zu bytes of %s memory: set "
                "SHMEM_%sSYMMETRIC_SIZE, or ask for less", bytes,
                device ? "device" : "host", device ? "DEVICE_" : "");
    shmem_barrier_all();        /* PE 0 ends the job */
    return NULL;
}

void *app_device_room(size_t bytes)
{
    return room(true, bytes);
}

void *app_host_room(size_t bytes)
{
    return room(false, bytes);
}

void *app_memory(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);

    if (!p)
        app_die("MEMORY", "PE %d: no memory for %zu times %zu bytes", app.me,
                count, size);
    return p;
}

double app_most(double mine)
{
    static double in, out;

    in = mine;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &out, &in, 1);
    return out;
}

uint64_t app_sum(uint64_t mine)
{
    static uint64_t in, out;

    in = mine;
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, &out, &in, 1);
    return out;
}
