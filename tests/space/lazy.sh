#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a program that uses no device memory opens no device: no further
# thread, no driver's library, no memory; the first allocation makes the heap.
set -u
: "${BUILD:?the build directory}"
cuda=$BUILD/obj/tests/fake/cuda
unset SHMEM_DEVICE
cat >look.c <<'END'
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = -2;                 /* without . and .. */

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static int maps(const char *what)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1024];
    int n = 0;

    while (f && fgets(line, sizeof line, f))
        n += strstr(line, what) != NULL;
    if (f)
        fclose(f);
    return n;
}

static void look(const char *when)
{
    if (shmem_my_pe() == 0)
        printf("%s: threads %d cuda %s\n", when, threads(),
               maps("libcuda") ? "loaded" : "absent");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long *p, *q = NULL;
    int is;

    shmem_init();
    look("init");
    p = shmem_malloc(64);
    shmem_long_p(p, 1, 0);
    shmem_barrier_all();
    is = shmem_space_is_available(SHMEM_SPACE_GPU);
    look("host");
    if (argc > 1)
        q = shmem_space_malloc(SHMEM_SPACE_GPU, 64);
    if (argc > 1)
        look("device");
    if (argc > 1 && (!q || is))
        return 1;
    shmem_free(q);
    shmem_free(p);
    shmem_finalize();
    return argv[0] == NULL;
}
END
"$BUILD/bin/oshcc" -std=c99 -o look look.c || exit 1
failures=0
check()
{
    if ! "$@"; then
        echo "FAIL: $*" >&2
        failures=$((failures + 1))
    fi
}
before() # threads at start of a job that has no device
{
    SHMEM_DEVICE=none timeout -k 5 60 "$BUILD/bin/oshrun" -n 2 ./look |
        sed -n 's/^init: threads \([0-9]*\).*/\1/p'
}
n=$(before)
check [ "$n" -gt 0 ]
for device in auto cuda; do
    LD_LIBRARY_PATH=$cuda SHMEM_DEVICE=$device timeout -k 5 60 \
        "$BUILD/bin/oshrun" -n 2 ./look used >out 2>err
    check [ $? -eq 0 ]
    cat out err
    check grep -qx "init: threads $n cuda absent" out
    check grep -qx "host: threads $n cuda absent" out
    check grep -qx 'device: threads [0-9]* cuda loaded' out
done
[ "$failures" -eq 0 ]
