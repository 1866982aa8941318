#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: nodes of one machine start with heaps of one size, although less
# memory is available when the second one looks.
# Light: one short job
set -u
. "$(dirname "$0")/../neg/neg.inc"
unset SHMEM_SYMMETRIC_SIZE

cat >job.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's. */
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    void *at = dlsym(RTLD_NEXT, "fopen");

    memcpy(&real, &at, sizeof at);
    if (!strcmp(path, "/proc/meminfo"))
        path = getenv("T_MEMINFO");
    return real(path, mode);
}

int main(void)
{
    char *p;

    shmem_init();
    p = shmem_malloc((size_t)60 << 20);
    if (!p || shmem_malloc((size_t)20 << 20))
        return 3;               /* the second is more than 64 MiB */
    shmem_putmem(p, "there", 6, !shmem_my_pe());
    shmem_barrier_all();
    printf("%s\n", p);
    shmem_finalize();
    return 0;
}
C
"$bin/oshcc" -O1 -Wall job.c -o job -ldl || exit 1

# 60 % of it: 64 MiB for each of two PEs, and 32 MiB.
printf 'MemAvailable: 300000 kB\n' >mem.0
printf 'MemAvailable: 200000 kB\n' >mem.1
# shellcheck disable=SC2016  # the PE expands it
try 2 --ppn 1 sh -c \
    'T_MEMINFO=mem.$SLUICE_JOB_PE exec ./job'
[ $status -eq 0 ] && grep -q 'asked 20.0 MiB, used 60.0 MiB of 64.0 MiB' "$err" &&
    [ "$(wc -l <"$err")" -eq 1 ] && [ "$(sort -u "$out")" = there ] ||
    fail "status $status: $(head -n 4 "$out" "$err")"
finish 'heaps of one size'
