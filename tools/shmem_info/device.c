/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - shmem_info --check on a device: each thing that a job needs of it
 * (copies, atomics, waits, export to another process, a heap) is done once.  A
 * second process of this program, --import, opens the exported memory. */
#include "info.h"
#include "base/env.h"
#include "base/log.h"
#include "gtl/gtl.h"
#include "sm/sm_device_heap.h"

#include <errno.h>
#include <fcntl.h>
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

static bool copies_match(unsigned char *p)
{
    unsigned char *out = malloc(SIZE), *in = malloc(SIZE);
    uint64_t seven = 7, was = 0;
    struct gtl_amo add = { .op = AMO_ADD, .size = 8, .word = p, .value = 5,
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
    if (ok && gtl->lockup_hint(0))
        say(WARN, "device waits", "streams wait for words%s",
            gtl->lockup_hint(0));
    else if (ok)
        say(PASS, "device waits", "a stream waits for a word %s", gtl_device.memops ? "without a kernel"
                                    : "in a kernel that spins");
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

static void check_grain(void)
{
    if (!gtl_device.coherence)
        return;
    if (gtl_device.stale_waits)
        say(WARN, "device grain", "device memory is %s, where a kernel may "
            "miss what others store: a thread of the PE looks there for "
            "streams that wait; SHMEM_DEVICE_GRAIN chooses other memory",
            gtl_device.coherence);
    else
        say(PASS, "device grain", "device memory is %s: a kernel that waits "
            "sees what others store there", gtl_device.coherence);
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

enum { OPENED = 0, NO_ATOMICS = 1, NO_DEVICE = 2, REFUSED = 3, WRONG = 4 };

int info_import(const char *hex, const char *local, const char *fd)
{
    struct gtl_ipc_handle h;
    unsigned byte;
    uint64_t word = 0;
    int rc = OPENED;
    void *p = NULL;

    if (strlen(hex) != 2 * sizeof h.bytes || env_load() ||
        gtl_open(atoi(local)))
        return NO_DEVICE;
    for (size_t i = 0; i < sizeof h.bytes; i++) {
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return NO_DEVICE;
        h.bytes[i] = (unsigned char)byte;
    }
    if (gtl->ipc_open(&h, atoi(fd), &p)) {
        puts(gtl_error());
        return REFUSED;
    }
    if (gtl_copy_now(&word, p, sizeof word) || word != 12)
        rc = WRONG;
    else if (!gtl_device.host_access && !gtl->peer_atomic(&h))
        rc = NO_ATOMICS;
    gtl->ipc_close(p);
    gtl_close();
    return rc;
}

/* Its output is the reason. */
static int wait_for(pid_t pid, FILE *said, char *why, size_t size)
{
    int status = -1;

    if (!fgets(why, (int)size, said))
        why[0] = '\0';
    why[strcspn(why, "\n")] = '\0';
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return NO_DEVICE;
    return WEXITSTATUS(status);
}

/* Memory of this process, for another one. */
struct exported {
    struct gtl_ipc_handle h;
    int fd;                     /* that comes along, or -1 */
};

static int run_importer(const struct exported *l, int local, char *why,
                        size_t size)
{
    const struct gtl_ipc_handle *h = &l->h;
    char self[PATH_MAX], hex[2 * sizeof h->bytes + 1], number[12], fd[12];
    char *argv[] = { self, "--import", hex, number, fd, NULL };
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    posix_spawn_file_actions_t to_pipe;
    int ends[2], rc = NO_DEVICE;
    FILE *said;
    pid_t pid;

    why[0] = '\0';
    if (n < 0 || pipe2(ends, O_CLOEXEC))
        return rc;
    self[n] = '\0';
    for (size_t i = 0; i < sizeof h->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", h->bytes[i]);
    snprintf(number, sizeof number, "%d", local);
    snprintf(fd, sizeof fd, "%d", l->fd);
    posix_spawn_file_actions_init(&to_pipe);
    posix_spawn_file_actions_adddup2(&to_pipe, ends[1], STDOUT_FILENO);
    if (l->fd >= 0)
        posix_spawn_file_actions_adddup2(&to_pipe, l->fd, l->fd);
    n = posix_spawn(&pid, self, &to_pipe, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&to_pipe);
    close(ends[1]);
    said = fdopen(ends[0], "r");
    if (!n && said)
        rc = wait_for(pid, said, why, size);
    if (said)
        fclose(said);
    else
        close(ends[0]);
    return rc;
}

static void check_sharing(const struct exported *l)
{
    char why[200];
    int rc = run_importer(l, gtl_device.ordinal, why, sizeof why);

    if (rc != OPENED)
        say(WARN, "device sharing", "another process cannot open device "
            "memory%s%s: device heaps of PEs of a node will lie in pinned host "
            "memory; give all PEs all devices of the node (--gpu-bind=none), "
            "and one PID and IPC namespace", *why ? ": " : "", why);
    else
        say(PASS, "device sharing", "another process reads this one's device "
            "memory");
}

/* From each other device to this one. */
static void check_peers(const struct exported *l)
{
    int n = gtl_device.count, atomic = 1, rc;
    char why[200];

    for (int i = 0; i < n; i++) {
        if (i == gtl_device.ordinal)
            continue;
        rc = run_importer(l, i, why, sizeof why);
        if (rc == OPENED || rc == NO_ATOMICS) {
            atomic &= rc == OPENED;
            continue;
        }
        say(WARN, "device peers", "device %d does not reach the memory of "
            "device %d%s%s: device heaps of PEs of a node will lie in pinned "
            "host memory", i, gtl_device.ordinal, *why ? ": " : "", why);
        return;
    }
    if (n > 1)
        say(PASS, "device peers", "%d other device%s reach%s this one's "
            "memory, %s", n - 1, n > 2 ? "s" : "", n > 2 ? "" : "es", atomic
            ? "with atomics" : "but not with atomics, which are made one at a "
            "time");
}

/* ---- a heap for each PE ---- */

/* A growing heap allocates so much at first. */
enum { FIRST = 64 << 20 };

static int allocate_heap(size_t size, bool grows, void **out)
{
    int rc;

    if (!grows)
        return gtl->alloc(size, out);
    rc = gtl->reserve(size, out);
    if (rc)
        return rc;
    rc = gtl->grow(*out, size < FIRST ? size : FIRST);
    if (rc)
        gtl->free(*out);
    return rc;
}

/* Makes another process open the memory: 0, or -1, reported where no other way
 * follows. */
static int export_and_import(void *p, bool grows)
{
    struct exported l = { .fd = -1 };
    char why[200] = "";
    bool readable = false;
    int rc = -1;

    memset(&l.h, 0, sizeof l.h);
    if ((grows || gtl_device.ipc) && !gtl->ipc_export(p, &l.h, &l.fd))
        readable = !gtl_copy_now(p, &(uint64_t){ 12 }, sizeof(uint64_t));
    if (readable && (!grows || run_importer(&l, gtl_device.ordinal, why,
                                        sizeof why) == OPENED)) {
        check_sharing(&l);
        check_peers(&l);
        rc = 0;
    } else if (grows) {
        say(WARN, "device growth", "another process cannot open memory that "
            "grows (%s): device heaps take all of it at once",
            readable ? why : gtl_error());
    } else {
        say(WARN, "device sharing", "%s: device heaps of PEs of a node will "
            "lie in pinned host memory", gtl_device.ipc
            ? gtl_error() : "the device exports no memory");
    }
    if (l.fd >= 0)
        close(l.fd);
    return rc;
}

static int check_heap_kind(bool grows, int pes)
{
    /* The software device has as much for each process. */
    int here = gtl_device.host_memory ? 1 : (pes + gtl_device.count - 1) /
                                       gtl_device.count, rc;
    size_t each = sm_device_heap_size(pes, grows), unused = 0, total = 0;
    char a[24], b[24], c[24];
    void *p;

    gtl->memory_info(&unused, &total);
    log_size(a, (double)each);
    log_size(b, (double)unused);
    log_size(c, (double)total);
    if (each > total / (size_t)here ||
        (gtl_device.host_memory && sm_device_heap_check(each, pes)) ||
        allocate_heap(each, grows, &p)) {
        say(FAIL, "device heap", "%s for each of %d PE%s on a device, of which "
            "%s of %s are free: set a smaller SHMEM_DEVICE_SYMMETRIC_SIZE", a,
            here, here > 1 ? "s" : "", b, c);
        return 0;
    }
    rc = export_and_import(p, grows);
    gtl->free(p);
    if (rc && grows)
        return rc;
    say(PASS, "device heap", "%s%s for each of %d PE%s on a device, of which %s "
        "of %s are free", grows ? "up to " : "", a, here, here > 1 ? "s" : "",
        b, c);
    if (grows)
        say(PASS, "device growth", "a device heap takes memory as it is used, "
            "which other PEs of the node open by %s", gtl_device.growth_export);
    return 0;
}

/* As jobs on this node would have it. */
static void check_heap(int pes)
{
    if (gtl_device.why_fixed)
        say(PASS, "device growth", "a device heap takes all of its memory at "
            "once: %s", gtl_device.why_fixed);
    if (gtl_device.why_fixed || check_heap_kind(true, pes))
        check_heap_kind(false, pes);
}

/* pes: 0 without a launcher, which alone knows. */
static void check_sharing_pes(int pes)
{
    int most = (pes + gtl_device.count - 1) / gtl_device.count;

    if (most > 1 && !gtl_device.host_streams)
        say(WARN, "device users", "%d PEs of this node for %d device%s: "
            "kernels of one wait while those of another run%s", pes,
            gtl_device.count, gtl_device.count > 1 ? "s" : "",
            gtl_device.memops ? "" : ", and streams cannot wait for words, for "
            "which a kernel would spin");
}

/* ---- all of it ---- */

static void check_memory(void)
{
    size_t unused = 0, total = 0;
    char a[24], b[24];
    void *p;

    if (gtl->memory_info(&unused, &total) || gtl->alloc(SIZE, &p)) {
        failed("device memory", "is another program using the device?");
        return;
    }
    if (copies_match(p))
        say(PASS, "device memory", "%s of %s free; %s",
                 log_size(a, (double)unused), log_size(b, (double)total),
                 gtl_device.host_access ? "the processor reaches it"
                                   : "the device's alone");
    else
        failed("device memory", "what was copied there does not come back");
    check_grain();
    check_streams();
    gtl->free(p);
}

void info_check_device(int pes)
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
             !strcmp(gtl->name, "software") ? " (no GPU answered)" : "",
             gtl_device.dmabuf ? "dmabuf" : "no dmabuf",
             gtl_device.ordered ? "are seen in order" : "are flushed");
    check_sharing_pes(pes);
    say(PASS, "device streams", "within a node puts by the device itself "
        "(copy), atomics by %s; SHMEM_INFO=1 says what a job has",
        gtl_device.kernels ? "it, too" : "a thread (soft)");
    check_memory();
    check_heap(pes ? pes : 1);
    gtl_close();
}
