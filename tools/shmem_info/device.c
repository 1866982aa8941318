/* SPDX-License-Identifier: BSD-3-Clause */
/* What jobs with memory of a device need of it, done once each. */
#include "info.h"
#include "base/env.h"
#include "base/log.h"
#include "gtl/gtl.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PATIENCE_MS = 3000 };
extern char **environ;

static void failed(const char *what, const char *cure)
{
    say(FAIL, what, "%s; %s", gtl_error(), cure);
}

/* ---- copies and atomics ---- */

static bool moves(unsigned char *p)
{
    unsigned char *out = malloc(SIZE), *in = malloc(SIZE);
    uint64_t seven = 7, was = 0;
    struct gtl_amo add = { .op = GTL_ADD, .size = 8, .word = p, .value = 5,
                           .result = &was };
    bool ok = out && in;

    for (int i = 0; ok && i < SIZE; i++)
        out[i] = (unsigned char)(i * 7 + i / 251);
    ok = ok && !gtl_copy_now(p, out, SIZE) && !gtl_copy_now(in, p, SIZE) &&
         !memcmp(in, out, SIZE) && !gtl_fill_now(p, 0, SIZE) &&
         !gtl_copy_now(p, &seven, 8) && !gtl_amo_now(&add) && was == 7 &&
         !gtl_copy_now(&was, p, 8) && was == 12;
    free(out);
    free(in);
    return ok;
}

/* ---- a stream that waits for a word which another one writes ---- */

static bool done_in_time(void *stream)
{
    const struct timespec ms = { .tv_nsec = 1000000 };
    int rc = -EAGAIN;

    for (int i = 0; i < PATIENCE_MS && rc == -EAGAIN; i++) {
        rc = gtl->stream_query(stream);
        if (rc == -EAGAIN)
            nanosleep(&ms, NULL);
    }
    return rc == 0;
}

static void check_waits(uint64_t *word)
{
    void *waits = NULL, *writes = NULL;
    bool ok;

    ok = !gtl->stream_create(false, &waits) &&
         !gtl->stream_create(false, &writes) &&
         !gtl->wait64(word, 1, waits) &&
         gtl->stream_query(waits) == -EAGAIN &&
         !gtl->write64(word, 1, writes) && done_in_time(waits);
    if (ok)
        say(PASS, "device waits", "a stream waits for a word without "
                 "%s", gtl_device.memops ? "a kernel" : "host calls");
    else
        say(WARN, "device waits", "a stream that waits for a word is "
                 "not released by another one's write (%s): operations on a "
                 "stream will not work", gtl_error()[0] ? gtl_error()
                                                        : "no error");
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    if (waits)
        gtl->stream_destroy(waits);
    if (writes)
        gtl->stream_destroy(writes);
}

static void check_streams(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *host = mmap(NULL, page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *seen = NULL;

    if (host == MAP_FAILED)
        return;
    if (gtl->pin(host, page, GTL_PIN_MEMORY, &seen)) {
        failed("device waits", "host memory cannot be pinned: is the limit of "
               "locked memory too low (ulimit -l)?");
    } else {
        check_waits(seen);
        gtl->unpin(host);
    }
    munmap(host, page);
}

/* ---- memory of another process ---- */

int info_borrow(const char *hex)
{
    struct gtl_handle h;
    unsigned byte;
    uint64_t word = 0;
    void *p;

    if (strlen(hex) != 2 * sizeof h.bytes || env_load() || gtl_open(0))
        return 2;
    for (size_t i = 0; i < sizeof h.bytes; i++) {
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return 2;
        h.bytes[i] = (unsigned char)byte;
    }
    if (gtl->borrow(&h, &p)) {
        fprintf(stderr, "%s\n", gtl_error());
        return 3;
    }
    if (gtl_copy_now(&word, p, sizeof word))
        return 4;
    gtl->give_back(p);
    return word == 12 ? 0 : 5;
}

static int run_borrower(const struct gtl_handle *h)
{
    char self[PATH_MAX], hex[2 * sizeof h->bytes + 1];
    char *argv[] = { self, "--borrow", hex, NULL };
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int status = -1;
    pid_t pid;

    if (n < 0)
        return -1;
    self[n] = '\0';
    for (size_t i = 0; i < sizeof h->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", h->bytes[i]);
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ) ||
        waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void check_sharing(void *p)
{
    struct gtl_handle h;

    memset(&h, 0, sizeof h);
    if (!gtl_device.lends || gtl->lend(p, &h))
        say(WARN, "device sharing", "%s: device heaps of PEs of a "
                 "node will lie in pinned host memory", gtl_device.lends
                 ? gtl_error() : "the device lends no memory");
    else if (run_borrower(&h))
        say(WARN, "device sharing", "another process cannot open "
                 "device memory: device heaps of PEs of a node will lie in "
                 "pinned host memory; give all PEs all devices of the node "
                 "(--gpu-bind=none), and one PID and IPC namespace");
    else
        say(PASS, "device sharing", "another process reads this "
                 "one's device memory");
}

/* ---- all of it ---- */

static void check_memory(void)
{
    size_t unused = 0, total = 0;
    char a[24], b[24];
    void *p;

    if (gtl->room(&unused, &total) || gtl->alloc(SIZE, &p)) {
        failed("device memory", "is another program using the device?");
        return;
    }
    if (moves(p))
        say(PASS, "device memory", "%s of %s free; %s",
                 log_size(a, (double)unused), log_size(b, (double)total),
                 gtl_device.direct ? "the processor reaches it"
                                   : "the device's alone");
    else
        failed("device memory", "what was copied there does not come back");
    check_streams();
    check_sharing(p);
    gtl->free(p);
}

void info_check_device(void)
{
    if (env.DEVICE == ENV_DEVICE_NONE)
        return;
    if (gtl_open(0)) {
        say(FAIL, "device", "see the line above; correct or unset "
                 "SHMEM_DEVICE");
        return;
    }
    say(PASS, "device", "%s, driver %s%s; %s; writes of a NIC %s",
             gtl_device.name, gtl->name,
             !strcmp(gtl->name, "host") ? " (no GPU answered)" : "",
             gtl_device.dmabuf ? "dmabuf" : "no dmabuf",
             gtl_device.ordered ? "are seen in order" : "are flushed");
    check_memory();
    gtl_close();
}
