/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the driver for AMD's GPUs does its work on every version of
 * the runtime, and leaves what the program sees of it as it was.
 *
 * hip.sh runs it on the stand-in for the runtime, with the names of the tests
 * that suit the environment. */
#include "gtl/gtl_int.h"
#include "gtl/hip/hip_abi.h"
#include "gtl/gtl_default_stream.h"
#include "base/env.h"
#include "t.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, N = 1000 };

/* The program's own view of the runtime. */
static struct {
#define SLOT(result, name, args) result (*name)args;
    HIP_CALLS(SLOT, SLOT)
} hip;

static bool bind_hip(void)
{
    static const char *const names[] = { "libamdhip64.so.6",
                                         "libamdhip64.so.5" };
    void *h = NULL, *p;

    for (int i = 0; i < 2 && !h; i++)
        h = dlopen(names[i], RTLD_NOW);
    if (!h)
        return false;
#define BIND(result, name, args) \
    p = dlsym(h, "hip" #name); \
    memcpy(&hip.name, &p, sizeof p);
    HIP_CALLS(BIND, BIND)
    return true;
}

static void *pinned(void **seen)
{
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    T_EQ(gtl->pin(p, PAGE, GTL_PIN_MEMORY, seen), 0);
    return p;
}

static void unpin(void *p)
{
    gtl->unpin(p);
    munmap(p, PAGE);
}

T(device)
{
    T_STR(gtl->name, "hip");
    T_EQ(gtl_device.driver_version / HIP_PER_MAJOR,
         atoi(getenv("FAKE_HIP_MAJOR")));
    T_STR(gtl_device.pci, gtl_device.ordinal ? "0000:c2:00.0"
                                             : "0000:c1:00.0");
    T_TRUE(!strncmp(gtl_device.id, gtl_device.pci, strlen(gtl_device.pci)));
    T_LT(strlen(gtl_device.pci), strlen(gtl_device.id));
    T_EQ(gtl_device.hw_queues, 4);
    T_EQ(gtl_device_only, !gtl_device.host_access);
}

T(memory)
{
    char host[N], back[N];
    struct gtl_range r;
    void *d, *seen, *p = pinned(&seen);

    T_EQ(gtl->alloc(N, &d), 0);
    T_EQ((uintptr_t)d % (2 << 20), 0);
    memset(host, 5, N);
    T_EQ(gtl_copy_now(d, host, N), 0);
    T_EQ(gtl_fill_now((char *)d + 10, 7, 10), 0);
    memset(host + 10, 7, 10);
    T_EQ(gtl_copy_now(back, d, N), 0);
    T_MEM(back, host, N);
    T_EQ(gtl->classify((char *)d + 9, &r), 0);
    T_EQ(r.kind, GTL_DEVICE);
    T_LE(r.base, (uintptr_t)d);
    T_LT((uintptr_t)d + N - 1, r.base + r.size);
    T_EQ(gtl->classify(p, &r), 0);
    T_EQ(r.kind, GTL_PINNED);
    T_EQ(gtl->classify(host, &r), 0);
    T_EQ(r.kind, GTL_PRIVATE);
    T_EQ(gtl_is_device_only(d), !gtl_device.host_access);
    T_TRUE(!gtl_is_device_only(host));
    unpin(p);
    gtl->free(d);
}

static void blocks_are(ptrdiff_t to_stride, ptrdiff_t from_stride, size_t len)
{
    enum { COUNT = 5 };
    struct gtl_blocks b = { len, COUNT, to_stride, from_stride };
    unsigned char from[PAGE], want[PAGE], got[PAGE];
    unsigned char *d, *e;

    for (int i = 0; i < PAGE; i++)
        from[i] = (unsigned char)(i * 7);
    memset(want, 0, PAGE);
    for (ptrdiff_t i = 0; i < COUNT; i++)
        memcpy(want + PAGE / 2 + i * to_stride,
               from + PAGE / 2 + i * from_stride, len);
    T_EQ(gtl->alloc(PAGE, (void **)&d), 0);
    T_EQ(gtl->alloc(PAGE, (void **)&e), 0);
    T_EQ(gtl_copy_now(d, from, PAGE), 0);
    T_EQ(gtl_fill_now(e, 0, PAGE), 0);
    T_EQ(gtl_copy_blocks_now(e + PAGE / 2, d + PAGE / 2, &b), 0);
    T_EQ(gtl_copy_now(got, e, PAGE), 0);
    T_MEM(got, want, PAGE);
    /* A side that the device does not reach. */
    memset(got, 0, PAGE);
    T_EQ(gtl_copy_blocks_now(got + PAGE / 2, d + PAGE / 2, &b), 0);
    T_MEM(got, want, PAGE);
    gtl->free(d);
    gtl->free(e);
}

T(blocks)
{
    blocks_are(16, 16, 16);
    blocks_are(24, 16, 8);
    blocks_are(-24, 16, 8);
    blocks_are(16, -20, 12);
    blocks_are(-9, -7, 5);
    blocks_are(8, 0, 8);
}

static uint64_t result_of(enum amo_op op, uint64_t was, uint64_t value,
                          uint64_t cond)
{
    switch (op) {
    case AMO_SET: case AMO_SWAP: return value;
    case AMO_CSWAP: return was == cond ? value : was;
    case AMO_ADD: return was + value;
    case AMO_AND: return was & value;
    case AMO_OR: return was | value;
    case AMO_XOR: return was ^ value;
    default: return was;
    }
}

/* want: what gtl_amo_now() is to answer. */
static void amo_is(enum amo_op op, int size, void *word, void *now,
                   uint64_t cond, int want)
{
    uint64_t start[2] = { 0x1122334455667788, 0x99aabbccddeeff00 };
    uint64_t value = 0x8000000180000001, was = 0, got[2];
    uint64_t mask = size == 4 ? 0xffffffff : ~(uint64_t)0;
    struct gtl_amo a = { op, size, word, value, cond, &was };
    uint64_t after = result_of(op, start[0] & mask, value & mask,
                               cond & mask);

    T_EQ(gtl_copy_now(now, start, sizeof start), 0);
    T_EQ(gtl_amo_now(&a), want);
    if (want)
        return;
    T_EQ(was & mask, start[0] & mask);
    T_EQ(gtl_copy_now(got, now, sizeof got), 0);
    T_EQ(got[0] & mask, after & mask);
    T_EQ(got[0] & ~mask, start[0] & ~mask);
    T_EQ(got[1], start[1]);
    a.result = NULL;
    T_EQ(gtl_amo_now(&a), 0);
}

static void amos_are(void *word, void *now, int want)
{
    for (int op = AMO_FETCH; op <= AMO_XOR; op++)
        for (int size = 4; size <= 8; size += 4) {
            amo_is((enum amo_op)op, size, word, now, 1, want);
            amo_is((enum amo_op)op, size, word, now,
                   0x1122334455667788, want);
        }
}

T(atomics)
{
    void *d, *seen, *p = pinned(&seen);

    T_EQ(gtl->alloc(PAGE, &d), 0);
    amos_are(d, d, 0);
    amos_are(seen, p, 0);
    unpin(p);
    gtl->free(d);
}

/* Without a compiler for kernels, and so without kernels. */
T(atomics_of_processor)
{
    void *d, *seen, *p = pinned(&seen);

    T_TRUE(!gtl_device.kernels);
    T_EQ(gtl->alloc(PAGE, &d), 0);
    amos_are(d, d, gtl_device.host_access ? 0 : -ENOSYS);
    if (!gtl_device.host_access)
        T_TRUE(strstr(gtl_error(), "need libhiprtc"));
    amos_are(p, p, 0);
    unpin(p);
    gtl->free(d);
}

/* Where a kernel need not see what others store. */
static int write_by_device(uint64_t *word)
{
    void *s;
    int rc = gtl->stream_create(GTL_URGENT, &s);

    if (!rc)
        rc = gtl->write64(word, 1, s);
    if (!rc)
        rc = gtl->stream_sync(s);
    gtl->stream_destroy(s);
    return rc;
}

/* The wait holds until another one writes: to host memory the processor, to
 * device memory the device's copies, if kernels see them. */
static void words_are(uint64_t *word, uint64_t *here)
{
    uint64_t one = 1, two = 0;
    void *s, *e;

    T_EQ(gtl->stream_create(GTL_NORMAL, &s), 0);
    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->event_query(e), 0);
    T_EQ(gtl->write64(word, 0, s), 0);
    T_EQ(gtl->stream_sync(s), 0);
    T_EQ(gtl->wait64(word, 1, s), 0);
    T_EQ(gtl->write64(word + 1, 2, s), 0);
    T_EQ(gtl->release(s), 0);
    T_EQ(gtl->event_record(e, s), 0);
    usleep(2000);
    T_EQ(gtl->stream_query(s), -EAGAIN);
    T_EQ(gtl->event_query(e), -EAGAIN);
    if (here)
        __atomic_store_n(here, 1, __ATOMIC_RELEASE);
    else if (gtl_device.stale_waits)
        T_EQ(write_by_device(word), 0);
    else
        T_EQ(gtl_copy_now(word, &one, 8), 0);
    T_EQ(gtl->stream_sync(s), 0);
    T_EQ(gtl->event_query(e), 0);
    T_EQ(gtl_copy_now(&two, here ? here + 1 : word + 1, 8), 0);
    T_EQ(two, 2);
    gtl->event_destroy(e);
    gtl->stream_destroy(s);
}

T(words)
{
    void *seen, *p = pinned(&seen);

    words_are(seen, p);
    unpin(p);
}

/* With hardware queues for all streams: else one may be behind the other. */
T(device_words)
{
    void *d;

    T_EQ(gtl->alloc(PAGE, &d), 0);
    words_are(d, NULL);
    gtl->free(d);
}

static void add(void *arg)
{
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELEASE);
}

T(calls)
{
    int n = 0;
    void *s, *t, *e;

    T_EQ(gtl->stream_create(GTL_URGENT, &s), 0);
    T_EQ(gtl->stream_create(GTL_NORMAL, &t), 0);
    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->host_call(add, &n, s), 0);
    T_EQ(gtl->event_record(e, s), 0);
    T_EQ(gtl->event_wait(e, t), 0);
    T_EQ(gtl->host_call(add, &n, t), 0);
    T_EQ(gtl->stream_sync(t), 0);
    T_EQ(n, 2);
    gtl->event_destroy(e);
    gtl->stream_destroy(s);
    gtl->stream_destroy(t);
}

T(streams)
{
    struct hip_stream *s = NULL;
    uint64_t a = 0, b = 0, c = 0;
    char no_stream[64];

    T_EQ(hip.StreamCreateWithPriority(&s, 0, 0), 0);
    T_EQ(gtl->stream_check(s, &a), 0);
    T_EQ(gtl->stream_check(s, &b), 0);
    T_EQ(a, b);
    T_EQ(gtl->stream_check(NULL, &b), 0);
    T_NE(a, b);
    T_EQ(gtl->stream_check((void *)GTL_PER_THREAD, &c), 0);
    T_NE(b, c);
    T_NE(a, c);
    T_EQ(hip.StreamDestroy(s), 0);
    T_EQ(gtl->stream_check(s, &a), -EINVAL);
    T_EQ(gtl->stream_check(no_stream, &a), -EINVAL);
    T_EQ(hip.GetLastError(), 0);
}

/* With two devices, of which the other one is ours. */
T(others_device)
{
    int other = !gtl_device.ordinal, now = -1;
    void *d, *s;

    T_EQ(gtl_device.count, 2);
    T_EQ(hip.SetDevice(other), 0);
    T_EQ(gtl->alloc(PAGE, &d), 0);
    T_EQ(gtl->stream_create(GTL_NORMAL, &s), 0);
    T_EQ(gtl->fill(d, 1, PAGE, s), 0);
    T_EQ(gtl->stream_sync(s), 0);
    gtl->stream_destroy(s);
    gtl->free(d);
    T_EQ(hip.GetDevice(&now), 0);
    T_EQ(now, other);
    T_EQ(hip.SetDevice(!other), 0);
}

/* A failure of ours is not the program's to see, and of one of its own only
 * versions before 7 lose sight. */
T(last_error)
{
    void *d = NULL;
    char want[80];

    T_EQ(gtl->alloc((size_t)1 << 60, &d), -ENOMEM);
    snprintf(want, sizeof want, "%s: %shipErrorOutOfMemory (2)",
             gtl_device.stale_waits ? "hipMalloc" : "hipExtMallocWithFlags",
             atoi(getenv("FAKE_HIP_MAJOR")) < 6 ? "" : "out of memory, ");
    T_STR(gtl_error(), want);
    T_EQ(hip.GetLastError(), 0);
    T_NE(hip.Memcpy2DAsync(NULL, 0, NULL, 0, 1, 1, 0, NULL), 0);
    T_EQ(gtl->alloc(PAGE, &d), 0);
    gtl->free(d);
    if (atoi(getenv("FAKE_HIP_MAJOR")) >= 7)
        T_EQ(hip.GetLastError(), HIP_INVALID_VALUE);
}

/* Memory that the program has pinned stays so. */
T(programs_pin)
{
    struct gtl_range r;
    void *seen = NULL, *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    T_EQ(hip.HostRegister(p, PAGE, HIP_REGISTER_MAPPED), 0);
    T_EQ(gtl->pin(p, PAGE, GTL_PIN_MEMORY, &seen), 0);
    T_EQ(seen, p);
    gtl->unpin(p);
    T_EQ(gtl->classify(p, &r), 0);
    T_EQ(r.kind, GTL_PINNED);
    T_EQ(hip.HostUnregister(p), 0);
    munmap(p, PAGE);
}

/* Memory of a pool, which the program has: the device's, and no other
 * process's. */
T(programs_pool)
{
    unsigned (*alloc)(void **out, size_t size, struct hip_stream *s) = NULL;
    unsigned (*release)(void *p, struct hip_stream *s) = NULL;
    void *h = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *p, *f = h ? dlsym(h, "hipMallocAsync") : NULL;
    struct hip_ipc_mem ipc;
    struct gtl_range r;

    T_TRUE(f);
    if (!f)
        return;
    memcpy(&alloc, &f, sizeof f);
    f = dlsym(h, "hipFreeAsync");
    memcpy(&release, &f, sizeof f);
    T_EQ(alloc(&p, PAGE, NULL), 0);
    T_EQ(gtl->classify(p, &r), 0);
    T_EQ(r.kind, GTL_DEVICE);
    T_EQ(r.base, (uintptr_t)p);
    T_EQ(r.size, PAGE);
    T_EQ(hip.IpcGetMemHandle(&ipc, p), HIP_INVALID_VALUE);
    T_EQ(hip.StreamSynchronize(NULL), 0);       /* then any stream may */
    T_EQ(gtl_fill_now(p, 3, PAGE), 0);
    T_EQ(release(p, NULL), 0);
    T_NE(release(p, NULL), 0);
    T_EQ(hip.StreamSynchronize(NULL), 0);
    T_EQ(gtl->classify(p, &r), 0);
    T_EQ(r.kind, GTL_PRIVATE);
    hip.GetLastError();         /* of what was refused */
    dlclose(h);
}

T(dmabuf)
{
    uint64_t offset = 1;
    char byte = 0;
    int fd = -1;
    void *d;

    T_EQ(gtl->alloc(PAGE, &d), 0);
    T_EQ(gtl_fill_now(d, 3, PAGE), 0);
    T_EQ(gtl->dmabuf(d, PAGE, &fd, &offset), gtl_device.dmabuf ? 0 : -ENOSYS);
    if (gtl_device.dmabuf) {
        T_EQ(pread(fd, &byte, 1, (off_t)offset), 1);
        T_EQ(byte, 3);
        close(fd);
    }
    T_EQ(gtl->flush(), 0);
    gtl->free(d);
}

static void export_memory(int to, int from)
{
    int none;
    struct gtl_ipc_handle h;
    char byte = 0;
    void *d;

    T_EQ(gtl->alloc(PAGE, &d), 0);
    T_EQ(gtl_fill_now(d, 3, PAGE), 0);
    T_EQ(gtl->ipc_export(d, &h, &none), 0);
    T_EQ(write(to, &h, sizeof h), sizeof h);
    T_EQ(read(from, &byte, 1), 1);
    T_EQ(gtl_copy_now(&byte, (char *)d + PAGE - 1, 1), 0);
    T_EQ(byte, 4);
    gtl->free(d);
}

static void open_exported(int to, int from)
{
    struct gtl_ipc_handle h;
    struct gtl_range r;
    char byte = 0;
    void *d;

    T_EQ(read(from, &h, sizeof h), sizeof h);
    T_EQ(gtl->ipc_open(&h, -1, &d), 0);
    T_EQ(gtl->classify(d, &r), 0);
    T_EQ(r.kind, GTL_DEVICE);
    T_EQ(gtl_copy_now(&byte, (char *)d + PAGE - 1, 1), 0);
    T_EQ(byte, 3);
    byte = 4;
    T_EQ(gtl_copy_now((char *)d + PAGE - 1, &byte, 1), 0);
    gtl->ipc_close(d);
    T_EQ(write(to, &byte, 1), 1);
}

static int other, up[2], down[2];

static void fork_other(void)
{
    if (pipe(up) || pipe(down) || (other = fork()) < 0)
        exit(1);
}

T(lending)
{
    int status = -1;

    T_TRUE(gtl_device.ipc);
    if (!other) {
        open_exported(up[1], down[0]);
        return;
    }
    export_memory(down[1], up[0]);
    T_EQ(waitpid(other, &status, 0), other);
    T_EQ(status, 0);
}

/* Which device the second PE of a node gets. */
T(second_device) { T_EQ(gtl_device.ordinal, 1); }
T(first_device) { T_EQ(gtl_device.ordinal, 0); }
static void grain_is(const char *grain, bool stale)
{
    T_STR(gtl_device.coherence, grain);
    T_EQ(gtl_device.stale_waits, stale);
}
T(uncached) { grain_is("uncached", false); }
T(fine) { grain_is("fine", false); }
T(coarse) { grain_is("coarse", true); }
T(stale) { T_TRUE(gtl_device.stale_waits); }

T(memops) { T_TRUE(gtl_device.memops); }
T(no_memops) { T_TRUE(!gtl_device.memops); }

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
#define ROW(name) { #name, name }
    ROW(device), ROW(memory), ROW(blocks), ROW(atomics),
    ROW(atomics_of_processor), ROW(words), ROW(device_words), ROW(calls),
    ROW(streams), ROW(others_device), ROW(last_error), ROW(programs_pin), ROW(programs_pool),
    ROW(dmabuf),
    ROW(lending), ROW(second_device), ROW(first_device), ROW(memops),
    ROW(no_memops), ROW(uncached), ROW(fine), ROW(coarse), ROW(stale)
};

int main(int argc, char **argv)
{
    int rc;

    if (argc < 2 || !getenv("FAKE_HIP_MAJOR"))
        return 1;
    if (!strcmp(argv[1], "lending"))
        fork_other();
    if (env_load())
        return 1;
    rc = gtl_open(1);
    if (rc)
        return 2;
    if (!bind_hip())
        return 1;
    for (int i = 1; i < argc; i++)
        for (unsigned k = 0; k < sizeof tests / sizeof *tests; k++)
            if (!strcmp(argv[i], tests[k].name))
                t_run(tests[k].name, tests[k].run);
    gtl_close();
    return T_DONE();
}
