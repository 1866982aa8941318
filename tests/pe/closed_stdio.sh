#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what a program writes to standard descriptors that were closed at
# its start reaches neither symmetric memory, the device's, a socket nor another
# file of the library: until shmem_finalize() these numbers name nothing that can
# be read or written, whenever another thread opens something; then they are
# closed again, and later calls work.
# Timeout: 120
set -u
. "$(dirname "$0")/../neg/neg.inc"

program writes <<'C'
#include <fcntl.h>
#include <shmem_space.h>
static long data[64];
enum { N = 1 << 16 };

static int failed(const char *what, int fd)
{
    char name[64];
    FILE *f;

    snprintf(name, sizeof name, "failed.%d", shmem_my_pe());
    f = fopen(name, "a");
    if (f) {
        fprintf(f, "%s, descriptor %d\n", what, fd);
        fclose(f);
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const char text[] = "this belongs on a terminal\n";
    int closed[3], bad = 0, flags, me, n_pes;
    unsigned char *heap, *space;
    char c[1];
    shmem_ctx_t ctx;

    (void)argc;
    (void)argv;
    for (int fd = 0; fd < 3; fd++)
        closed[fd] = fcntl(fd, F_GETFD) < 0;
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    heap = shmem_malloc(N);
    space = shmem_space_malloc(SHMEM_SPACE_DEVICE, N);
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx))
        ctx = SHMEM_CTX_DEFAULT;
    memset(heap, 0x5a, N);
    for (int fd = 0; fd < 3; fd++) {
        if (!closed[fd])
            continue;
        if (read(fd, c, sizeof c) >= 0 || errno != EBADF)
            bad = failed("a read went through", fd);
        flags = fcntl(fd, F_GETFL);
        if (flags < 0 || !(flags & __O_PATH))
            bad = failed("another thread may take", fd);
        for (int i = 0; i < 1000; i++)
            if (write(fd, text, sizeof text) >= 0 || errno != EBADF)
                bad = failed("a write went through", fd), i = 1000;
    }
    for (int i = 0; i < N; i++)
        if (heap[i] != 0x5a)
            bad = failed("the heap has changed", -1), i = N;
    shmem_barrier_all();
    shmem_ctx_long_p(ctx, &data[0], me + 1, (me + 1) % n_pes);
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    if (data[0] != (me + n_pes - 1) % n_pes + 1)
        bad = failed("a put is lost", -1);
    if (space)
        shmem_free(space);
    shmem_finalize();
    for (int fd = 0; fd < 3; fd++)
        if (closed[fd] && fcntl(fd, F_GETFD) >= 0)
            bad = failed("not given back", fd);
    return bad;
}
C

SHMEM_DEVICE=software
SHMEM_SYMMETRIC_SIZE=16m
SHMEM_DEVICE_SYMMETRIC_SIZE=4m
PATH=$bin:$PATH
export SHMEM_DEVICE SHMEM_SYMMETRIC_SIZE SHMEM_DEVICE_SYMMETRIC_SIZE

# with REDIRECTIONS: alone, near and far.
with()
{
    for job in '' 'oshrun -n 2' 'oshrun -n 2 --ppn 1'; do
        rm -f failed.*
        # shellcheck disable=SC2086  # words
        timeout 60 $job sh -c "exec ./writes $1" >"$out" 2>"$err" </dev/null
        status=$?
        [ $status -eq 0 ] && ! ls failed.* >/dev/null 2>&1 ||
            fail "$1, ${job:-alone}: status $status: $(cat failed.* "$err" 2>&1 | head -n 3)"
    done
}

for in in '' '<&-'; do
    for to in '' '>&-'; do
        for says in '' '2>&-'; do
            with "$in $to $says"
        done
    done
done
finish 'closed standard descriptors stay closed'
