/* SPDX-License-Identifier: BSD-3-Clause */
/* affinity.c - preloaded into a program under test: the PE may run on 6
 * processors, from AFFINITY_STEP times its number on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    const char *pe = getenv("SLUICE_JOB_PE"), *step = getenv("AFFINITY_STEP");

    (void)pid;
    memset(set, 0, bytes);
    for (int i = 0; i < 6; i++)
        CPU_SET_S(i + (pe && step ? atoi(pe) * atoi(step) : 0), bytes, set);
    return 0;
}
