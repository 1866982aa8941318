/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c - preloaded into one PE of the program under test: one call of it
 * goes wrong.
 *
 *   FAULT_PE=PE  FAULT=CALL:N:WHAT
 *
 * The Nth call of CALL, from 1 on, ends as WHAT says:
 *   ENOSPC, EIO, ...   it fails so
 *   kill               the process is killed before it
 *   term               its launcher gets SIGTERM before it
 *   none               it does nothing and says that it has done all
 *   flip               its data have one bit changed
 *   dup                the first 4 bytes of its data come a second time, for
 *                      the 4 bytes behind them
 *   end                a read finds the end of the file
 * CALL: pread, pwrite, write (of regular files), posix_fallocate, fdatasync,
 * rename, put (shmem_ctx_putmem_nbi).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct { const char *name; int number; } errors[] = {
    { "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EDQUOT", EDQUOT },
};

static _Atomic long calls;

/* What is to happen to this call, or NULL. */
static const char *fault(const char *call)
{
    const char *text = getenv("FAULT"), *pe = getenv("FAULT_PE");
    const char *rank = getenv("SLUICE_JOB_PE");
    size_t n = strlen(call);
    char *end;
    long nth;

    if (!text || !pe || strcmp(rank ? rank : "0", pe) != 0 ||
        strncmp(text, call, n) != 0 || text[n] != ':')
        return NULL;
    nth = strtol(text + n + 1, &end, 10);
    if (*end != ':' || atomic_fetch_add(&calls, 1) + 1 != nth)
        return NULL;
    if (strcmp(end, ":kill") == 0)
        raise(SIGKILL);
    if (strcmp(end, ":term") == 0 && kill(getppid(), SIGTERM) == 0)
        for (;;)
            pause();
    return end + 1;
}

static int error_of(const char *what)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(what, errors[i].name) == 0)
            return errors[i].number;
    fprintf(stderr, "fault: no fault %s\n", what);
    abort();
}

static int failed(const char *what)
{
    errno = error_of(what);
    return -1;
}

/* A copy of the data with the fault in it; NULL: it is another fault. */
static char *spoilt(const char *what, const void *data, size_t n)
{
    bool flip = strcmp(what, "flip") == 0;
    char *copy;

    if ((!flip && strcmp(what, "dup") != 0) || n < 8)
        return NULL;
    copy = malloc(n);
    if (!copy)
        abort();
    memcpy(copy, data, n);
    if (flip)
        copy[n / 2] ^= 1;
    else
        memcpy(copy + 4, copy, 4);
    return copy;
}

#define NEXT(name, ...) \
    ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    const char *what = fault("pread");

    if (what)
        return strcmp(what, "end") == 0 ? 0 : failed(what);
    return NEXT(pread, fd, to, n, at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    const char *what = fault("pwrite");
    char *copy = what ? spoilt(what, from, n) : NULL;
    ssize_t put;

    if (what && !copy)
        return strcmp(what, "none") == 0 ? (ssize_t)n : failed(what);
    put = NEXT(pwrite, fd, copy ? copy : from, n, at);
    free(copy);
    return put;
}

ssize_t write(int fd, const void *from, size_t n)
{
    struct stat st;
    const char *what = NULL;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        what = fault("write");
    if (what) {                         /* half of it is there by then */
        if (n > 1)
            NEXT(write, fd, from, n / 2);
        return failed(what);
    }
    return NEXT(write, fd, from, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    const char *what = fault("posix_fallocate");

    return what ? error_of(what) : NEXT(posix_fallocate, fd, at, n);
}

int fdatasync(int fd)
{
    const char *what = fault("fdatasync");

    return what ? failed(what) : NEXT(fdatasync, fd);
}

int rename(const char *from, const char *to)
{
    const char *what = fault("rename");

    return what ? failed(what) : NEXT(rename, from, to);
}

void shmem_ctx_putmem_nbi(void *ctx, void *to, const void *from, size_t n,
                          int pe);
void shmem_ctx_quiet(void *ctx);

void shmem_ctx_putmem_nbi(void *ctx, void *to, const void *from, size_t n,
                          int pe)
{
    const char *what = fault("put");
    char *copy = what ? spoilt(what, from, n) : NULL;

    if (what && !copy) {
        if (strcmp(what, "none") != 0)
            error_of(what);
        return;
    }
    NEXT(shmem_ctx_putmem_nbi, ctx, to, copy ? copy : from, n, pe);
    if (copy)                           /* until then it is being read */
        shmem_ctx_quiet(ctx);
    free(copy);
}
