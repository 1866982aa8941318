#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: between nodes, over provider tcp, the progress thread of a PE that
# computes sleeps until a message comes; without descriptors it polls.  The
# system counts its sleeps; no time is judged.
# Light: two short jobs
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

cat >computes.c <<'C'
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long word = 7, done;

/* A line of that file of a thread that begins with those words. */
static int find(const char *task, const char *file, const char *words,
                char line[256])
{
    char path[300];
    FILE *f;
    int found = 0;

    snprintf(path, sizeof path, "/proc/self/task/%s/%s", task, file);
    f = fopen(path, "r");
    while (f && !found && fgets(line, 256, f))
        found = !strncmp(line, words, strlen(words));
    if (f)
        fclose(f);
    return found;
}

/* How often the progress thread has slept. */
static long sleeps(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    char line[256];
    long n = -1;

    while ((e = readdir(d)))
        if (find(e->d_name, "comm", "sluice-progress", line) &&
            find(e->d_name, "status", "voluntary_ctxt_switches:", line))
            sscanf(line, "%*s %ld", &n);
    closedir(d);
    return n;
}

int main(void)
{
    long before;

    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        sleep(1);
        if (shmem_long_g(&word, 1) != 7)
            return 3;
        shmem_long_p(&done, 1, 1);
        shmem_quiet();
    } else {
        before = sleeps();
        while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))       /* no call */
            usleep(1000);
        printf("%ld\n", before < 0 ? before : sleeps() - before);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C
"$bin/oshcc" -O1 -Wall computes.c -o computes || exit 1

# sleeps HOW EVENTS: those of PE 1 into n; its log says how it progresses.
sleeps()
{
    SHMEM_OFI_EVENTS=$2 SHMEM_LOG=info:ofi \
        SHMEM_OFI_PROVIDER='tcp;ofi_rxm' try 2 --ppn 1 ./computes
    [ $status -eq 0 ] || fail "SHMEM_OFI_EVENTS=$2: status $status"
    grep -q "progress by $1" "$err" ||
        fail "no progress by $1: $(head -n 3 "$err")"
    n=$(cat "$out")
    [ "${n:--1}" -ge 0 ] || fail "no number of sleeps: $(head -n 3 "$err")"
}

sleeps events 1
few=$n
sleeps 'polling at intervals' 0
echo "a second of computing: $few sleeps on sockets, $n in place of them"
[ $((3 * few)) -lt "$n" ] || fail "$few sleeps, $n where it polls"
finish 'sleeps on sockets'
