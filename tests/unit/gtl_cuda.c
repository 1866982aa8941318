/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the driver for NVIDIA's devices keeps to the program's context
 * and streams, and does in their order what the table says.
 *
 * Skipped but with SHMEM_DEVICE=cuda, on a GPU or on tests/fake/cuda; with the
 * argument "path" it runs what operations run, between two lines in the file
 * FAKE_DEVICE_LOG, and with "open HANDLE" it is the other process. */
#include "t.h"
#include "base/env.h"
#include "gtl/gtl.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { KIB = 1024, N = 64 * KIB };

static void *driver;
static const char *self;

/* A call of the driver that the table has not. */
static void *cu(const char *name)
{
    void *p = dlsym(driver, name);

    if (!p) {
        fprintf(stderr, "libcuda lacks %s\n", name);
        exit(1);
    }
    return p;
}

static void *page(void)
{
    return mmap(NULL, N, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Warps are whole, and the driver takes some shared memory for itself. */
T(as_many_groups_as_are_resident_at_once)
{
    const struct gtl_device *d = &gtl_device;

    T_TRUE(d->processors > 0);
    T_EQ(d->items_unit, 32);
    T_EQ(gtl_resident_groups(100, 0), gtl_resident_groups(128, 0));
    T_LE(gtl_resident_groups(129, 0), d->processors * (d->items_each / 160));
    T_LE(gtl_resident_groups(64, 32 * KIB), (unsigned)(d->processors *
         (d->shared_each / (32 * KIB + d->shared_reserved))));
    T_EQ(gtl_resident_groups(64, d->shared_each - d->shared_reserved),
         d->processors);        /* all that a group can have */
    T_TRUE(gtl_resident_groups(64, 32 * KIB) > 0);
    T_EQ(gtl_resident_groups(64, SIZE_MAX), 0);
}

T(addresses_are_distinguished)
{
    int (*managed)(uint64_t *, size_t, unsigned) = cu("cuMemAllocManaged");
    int (*set)(void *) = cu("cuCtxSetCurrent");
    int (*retain)(void **, int) = cu("cuDevicePrimaryCtxRetain");
    int (*release)(int) = cu("cuDevicePrimaryCtxRelease_v2");
    int (*unmanage)(uint64_t) = cu("cuMemFree_v2");
    void *p, *host = page(), *seen, *ctx;
    struct gtl_range r;
    size_t unused, total;
    uint64_t m;

    T_EQ(gtl->alloc(3 * KIB * KIB, &p), 0);
    T_EQ((uintptr_t)p % (2 * KIB * KIB), 0);
    T_EQ(gtl->classify((char *)p + 5000, &r), 0);
    T_EQ(r.kind, GTL_DEVICE);
    T_LE(r.base, (uintptr_t)p);
    T_LE((uintptr_t)p + 3 * KIB * KIB, r.base + r.size);
    T_TRUE(gtl_is_device_only(p) != gtl_device.host_access);
    T_EQ(gtl->memory_info(&unused, &total), 0);
    T_LT(unused, total);
    T_EQ(gtl->pin(host, N, GTL_PIN_MEMORY, &seen), 0);
    T_EQ(gtl->classify((char *)host + 8, &r), 0);
    T_EQ(r.kind, GTL_PINNED);
    gtl->unpin(host);
    T_EQ(gtl->classify(host, &r), 0);
    T_EQ(r.kind, GTL_PRIVATE);
    T_TRUE(!gtl_is_device_only(host));
    T_EQ(gtl->classify((void *)16, &r), 0);
    T_EQ(r.kind, GTL_PRIVATE);
    T_EQ(retain(&ctx, gtl_device.ordinal), 0);
    T_EQ(set(ctx), 0);
    T_EQ(managed(&m, N, 1), 0);
    T_EQ(gtl->classify((void *)(uintptr_t)m, &r), 0);
    T_EQ(r.kind, GTL_MANAGED);
    T_EQ(unmanage(m), 0);
    T_EQ(set(NULL), 0);
    T_EQ(release(gtl_device.ordinal), 0);
    gtl->free(p);
    munmap(host, N);
}

T(blocks_go_where_their_strides_say)
{
    struct gtl_blocks forms[] = {
        { 12, 40, 16, 20 },         /* rows */
        { 12, 40, 12, 12 },         /* one piece */
        { 7, 40, 9, -11 },          /* backwards, bytes */
        { 24, 40, -32, 40 },        /* backwards, words */
        { 4, 40, 8, 0 },            /* one for all */
        { 1, 1, 0, 0 }
    };
    unsigned char *host = page(), *want = page(), *got = page();
    char *d;

    for (int i = 0; i < N; i++)
        host[i] = (unsigned char)(i * 7 + i / 251);
    T_EQ(gtl->alloc(2 * N, (void **)&d), 0);
    for (unsigned f = 0; f < sizeof forms / sizeof *forms; f++) {
        const struct gtl_blocks *b = &forms[f];
        size_t mid = 4096;

        memset(want, 0x55, N);
        T_EQ(gtl_copy_now(d, host, N), 0);
        T_EQ(gtl_fill_now(d + N, 0x55, N), 0);
        for (size_t i = 0; i < b->count; i++)
            memcpy(want + mid + (ptrdiff_t)i * b->to_stride,
                   host + mid + (ptrdiff_t)i * b->from_stride, b->len);
        T_EQ(gtl_copy_blocks_now(d + N + mid, d + mid, b), 0);
        T_EQ(gtl_copy_now(got, d + N, N), 0);
        T_MEM(got, want, N);
        /* From memory that no kernel reaches. */
        T_EQ(gtl_fill_now(d + N, 0x55, N), 0);
        T_EQ(gtl_copy_blocks_now(d + N + mid, host + mid, b), 0);
        T_EQ(gtl_copy_now(got, d + N, N), 0);
        T_MEM(got, want, N);
    }
    gtl->free(d);
    munmap(host, N);
    munmap(want, N);
    munmap(got, N);
}

static uint64_t after(const struct gtl_amo *a, uint64_t was)
{
    switch (a->op) {
    case AMO_FETCH:
        return was;
    case AMO_SET:
    case AMO_SWAP:
        return a->value;
    case AMO_CSWAP:
        return was == a->cond ? a->value : was;
    case AMO_ADD:
        return was + a->value;
    case AMO_AND:
        return was & a->value;
    case AMO_OR:
        return was | a->value;
    case AMO_XOR:
        return was ^ a->value;
    }
    return 0;
}

/* All operations on a word there, 4 and 8 bytes wide; beside is not touched. */
static void all_amos(uint64_t *there)
{
    static const uint64_t start = 0xf0f0a5a512345678, value = 0x3333c3c38f1e2d3c;

    for (int i = 0; i < 20; i++) {
        struct gtl_amo a = { .op = (enum amo_op)(i % 8),
                             .size = i < 10 ? 4 : 8, .word = there };
        uint64_t mask = a.size == 4 ? 0xffffffff : ~0ULL;
        uint64_t old = 0, got[2], words[2] = { start, start };

        a.value = value & mask;
        a.cond = (i == 3 || i == 11 ? start : value) & mask;
        if (i % 8 >= AMO_FETCH && i % 3)
            a.result = &old;
        T_EQ(gtl_copy_now(there, words, 16), 0);
        T_EQ(gtl_amo_now(&a), 0);
        T_EQ(gtl_copy_now(got, there, 16), 0);
        T_EQ(got[0] & mask, after(&a, start & mask) & mask);
        T_EQ(got[0] & ~mask, start & ~mask);
        T_EQ(got[1], start);
        if (a.result)
            T_EQ(old, start & mask);
    }
}

T(atomics_work_on_the_device_and_on_pinned_words)
{
    void *d, *host = page(), *seen;

    T_EQ(gtl->alloc(64, &d), 0);
    if (gtl_device.kernels) {
        all_amos(d);
    } else {
        T_EQ(gtl_amo_now(&(struct gtl_amo){ .op = AMO_ADD, .size = 8,
                                            .word = d }), -ENOSYS);
    }
    gtl->free(d);
    T_EQ(gtl->pin(host, N, GTL_PIN_MEMORY, &seen), 0);
    all_amos(seen);
    gtl->unpin(host);
    munmap(host, N);
}

static void note(void *arg)
{
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
}

T(a_stream_waits_for_words_events_and_calls)
{
    uint64_t *word = page(), *remote;
    void *s, *t, *e, *seen;
    int called = 0;

    T_EQ(gtl->pin(word, N, GTL_PIN_MEMORY, &seen), 0);
    T_EQ(gtl->alloc(64, (void **)&remote), 0);
    T_EQ(gtl_fill_now(remote, 0, 64), 0);
    T_EQ(gtl->stream_create(GTL_NORMAL, &s), 0);
    T_EQ(gtl->stream_create(GTL_URGENT, &t), 0);
    T_EQ(gtl->event_create(&e), 0);
    T_EQ(gtl->event_query(e), 0);
    T_EQ(gtl->wait64(word, 0, s), 0);
    T_EQ(gtl->wait64(word, 5, s), 0);
    T_EQ(gtl->host_call(note, &called, s), 0);
    T_EQ(gtl->event_record(e, s), 0);
    T_EQ(gtl->event_wait(e, t), 0);
    T_EQ(gtl->write64(remote, 77, t), 0);
    T_EQ(gtl->copy(&word[1], remote, 8, t), 0);
    usleep(3000);
    T_EQ(gtl->stream_query(s), -EAGAIN);
    T_EQ(gtl->stream_query(t), -EAGAIN);
    T_EQ(gtl->event_query(e), -EAGAIN);
    T_EQ(__atomic_load_n(&called, __ATOMIC_ACQUIRE), 0);
    __atomic_store_n(word, 6, __ATOMIC_RELEASE);
    T_EQ(gtl->stream_sync(t), 0);
    T_EQ(called, 1);
    T_EQ(word[1], 77);
    T_EQ(gtl->event_query(e), 0);
    /* A bound in the upper half. */
    T_EQ(gtl->wait64(word, 1ULL << 63, s), gtl_device.kernels ? 0 : -ENOSYS);
    if (!gtl_device.kernels)
        T_EQ(gtl->wait64(word, 7, s), 0);
    usleep(3000);
    T_EQ(gtl->stream_query(s), -EAGAIN);
    __atomic_store_n(word, gtl_device.kernels ? ~0ULL : 7, __ATOMIC_RELEASE);
    T_EQ(gtl->stream_sync(s), 0);
    /* Any flag, however large. */
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    T_EQ(gtl->wait64(word, 1, s), 0);
    usleep(3000);
    T_EQ(gtl->stream_query(s), -EAGAIN);
    __atomic_store_n(word, UINT64_MAX - 1, __ATOMIC_RELEASE);
    T_EQ(gtl->stream_sync(s), 0);
    T_EQ(gtl->release(s), 0);
    T_EQ(gtl->launch(NULL, NULL, NULL, s), -ENOTSUP);
    gtl->event_destroy(e);
    gtl->stream_destroy(t);
    gtl->stream_destroy(s);
    gtl->free(remote);
    gtl->unpin(word);
    munmap(word, N);
}

T(streams_are_known_and_graphs_refused)
{
    int (*begin)(void *, int) = cu("cuStreamBeginCapture_v2");
    int (*end)(void *, void **) = cu("cuStreamEndCapture");
    int (*destroy_graph)(void *) = cu("cuGraphDestroy");
    int (*make)(void **, unsigned, int) = cu("cuCtxCreate_v2");
    int (*destroy)(void *) = cu("cuCtxDestroy_v2");
    int (*current)(void **) = cu("cuCtxGetCurrent");
    int (*set)(void *) = cu("cuCtxSetCurrent");
    int (*retain)(void **, int) = cu("cuDevicePrimaryCtxRetain");
    int (*release)(int) = cu("cuDevicePrimaryCtxRelease_v2");
    int (*stream)(void **, unsigned) = cu("cuStreamCreate");
    void *s, *t, *graph, *ctx, *other, *now;
    uint64_t a = 0, b = 0;

    T_EQ(gtl->stream_create(GTL_NORMAL, &s), 0);
    T_EQ(gtl->stream_create(GTL_NORMAL, &t), 0);
    T_EQ(gtl->stream_check(s, &a), 0);
    T_EQ(gtl->stream_check(t, &b), 0);
    T_NE(a, b);
    T_EQ(gtl->stream_check(s, &b), 0);
    T_EQ(a, b);
    T_EQ(gtl->stream_check(NULL, &b), 0);
    T_EQ(retain(&ctx, gtl_device.ordinal), 0);
    T_EQ(set(ctx), 0);
    T_EQ(begin(s, 1), 0);
    T_EQ(gtl->stream_check(s, &b), -EBUSY);
    T_EQ(end(s, &graph), 0);
    T_EQ(destroy_graph(graph), 0);
    T_EQ(gtl->stream_check(s, &b), 0);
    T_EQ(set(NULL), 0);
    /* Another context of the thread stays, and its streams are not ours. */
    T_EQ(make(&other, 0, gtl_device.ordinal), 0);
    gtl->stream_destroy(t);
    T_EQ(stream(&t, 0), 0);
    T_EQ(gtl->stream_check(t, &b), -EINVAL);
    T_TRUE(strstr(gtl_error(), "another context"));
    T_EQ(gtl->stream_query(s), 0);
    T_EQ(current(&now), 0);
    T_EQ(now, other);
    T_EQ(destroy(other), 0);
    T_EQ(gtl->stream_query(s), 0);
    T_EQ(current(&now), 0);
    T_EQ(now, NULL);
    T_EQ(release(gtl_device.ordinal), 0);
    gtl->stream_destroy(s);
}

T(what_fails_says_so)
{
    void *p = &p;

    T_EQ(gtl->alloc(SIZE_MAX / 4, &p), -ENOMEM);
    T_EQ(p, &p);
    T_STR(gtl_error(),
          "cuMemAlloc: out of memory, CUDA_ERROR_OUT_OF_MEMORY (2)");
    T_EQ(gtl->alloc(SIZE_MAX, &p), -ENOMEM);
    T_EQ(gtl->pin((void *)4096, 4096, GTL_PIN_MEMORY, &p), -EINVAL);
    if (gtl_device.ordered || gtl->flush())
        T_TRUE(gtl_device.ordered || strstr(gtl_error(), "cannot flush"));
    T_EQ(p, &p);
}

T(a_dmabuf_starts_at_the_address)
{
    uint64_t offset;
    char *p;
    int fd;

    T_EQ(gtl->alloc(N, (void **)&p), 0);
    if (gtl_device.dmabuf) {
        T_EQ(gtl->dmabuf(p + 5000, 100, &fd, &offset), 0);
        T_EQ(offset, 5000 % 4096);
        close(fd);
    } else {
        T_NE(gtl->dmabuf(p, N, &fd, &offset), 0);
    }
    gtl->free(p);
}

/* In pieces: what is behind them keeps its content, and no other size or order
 * is taken. */
T(memory_grows_behind_an_address)
{
    enum { UNIT = 2 << 20 };
    size_t before, after, total;
    struct gtl_ipc_handle h;
    struct gtl_range r;
    char *p = NULL, byte = 0;
    int fd = -1;

    if (gtl_device.why_fixed) {
        T_EQ(gtl->reserve(UNIT, (void **)&p), -ENOSYS);
        T_TRUE(strstr(gtl_error(), gtl_device.why_fixed));
        return;
    }
    T_EQ(gtl->memory_info(&before, &total), 0);
    T_EQ(gtl->reserve(0, (void **)&p), -EINVAL);
    T_EQ(gtl->reserve(SIZE_MAX, (void **)&p), -EINVAL);
    T_EQ(gtl->reserve(3 * UNIT + 1, (void **)&p), 0);
    T_EQ((uintptr_t)p % UNIT, 0);
    T_EQ(gtl->ipc_export(p, &h, &fd), -EINVAL);
    T_EQ(gtl->grow(p, 0), -EINVAL);
    T_EQ(gtl->grow(p, UNIT + 4096), -EINVAL);
    T_EQ(gtl->grow(p + UNIT, UNIT), -EINVAL);
    T_EQ(gtl->grow(p, 5 * (size_t)UNIT), -EINVAL);
    T_EQ(gtl->grow(p, UNIT), 0);
    T_EQ(gtl_fill_now(p, 7, UNIT), 0);
    T_EQ(gtl->grow(p, 2 * UNIT), 0);
    T_EQ(gtl_fill_now(p + UNIT - 100, 9, UNIT), 0);     /* across both */
    T_EQ(gtl_copy_now(&byte, p + UNIT - 101, 1), 0);
    T_EQ(byte, 7);
    T_EQ(gtl_copy_now(&byte, p + UNIT, 1), 0);
    T_EQ(byte, 9);
    T_EQ(gtl->classify(p + UNIT, &r), 0);
    T_EQ(r.kind, GTL_DEVICE);
    T_EQ(gtl->memory_info(&after, &total), 0);
    T_EQ(after, before - 3 * UNIT);
    gtl->shrink(p);
    T_EQ(gtl->memory_info(&after, &total), 0);
    T_EQ(after, before - UNIT);
    T_EQ(gtl->grow(p, 3 * UNIT), 0);
    T_EQ(gtl->grow(p, UNIT), -EINVAL);  /* it is as large as was said */
    gtl->free(p);
    T_EQ(gtl->memory_info(&after, &total), 0);
    T_EQ(after, before);
    gtl->shrink(p);
}

static int open_handle(const char *text)
{
    struct gtl_ipc_handle h;
    unsigned byte;
    uint64_t was = 0, mark = 0x1122334455667788;
    void *p = NULL;

    for (size_t i = 0; i < sizeof h; i++) {
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return 1;
        h.bytes[i] = (unsigned char)byte;
    }
    T_EQ(gtl->ipc_open(&h, -1, &p), 0);
    T_EQ(gtl_copy_now(&was, p, 8), 0);
    T_EQ(was, 0x4242424242424242);
    T_EQ(gtl_copy_now((char *)p + 8, &mark, 8), 0);
    gtl->ipc_close(p);
    p = NULL;
    h.bytes[0] ^= 1;            /* the device; and what the driver gave */
    memset(h.bytes + 40, 0xee, 64);
    T_EQ(gtl->ipc_open(&h, -1, &p), -ENODEV);
    T_TRUE(strstr(gtl_error(), "does not see"));
    memset(h.bytes + 32, 0xee, 8);      /* the kind of handle */
    T_EQ(gtl->ipc_open(&h, -1, &p), -EINVAL);
    T_EQ(p, NULL);
    return T_DONE();
}

T(another_process_opens_memory)
{
    int none;
    char text[2 * sizeof(struct gtl_ipc_handle) + 1];
    struct gtl_ipc_handle h = { { 0 } };
    uint64_t mark = 0;
    int status;
    void *p;

    T_EQ(gtl->alloc(N, &p), 0);
    T_EQ(gtl_fill_now(p, 0x42, N), 0);
    if (!gtl_device.ipc) {
        T_NE(gtl->ipc_export(p, &h, &none), 0);
        gtl->free(p);
        T_SKIP("the device exports no memory");
    }
    T_EQ(gtl->ipc_export(p, &h, &none), 0);
    for (size_t i = 0; i < sizeof h; i++)
        sprintf(text + 2 * i, "%02x", h.bytes[i]);
    pid_t child = fork();
    if (!child) {
        execl(self, self, "open", text, (char *)NULL);
        _exit(127);
    }
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, 0);
    T_EQ(gtl_copy_now(&mark, (char *)p + 8, 8), 0);
    T_EQ(mark, 0x1122334455667788);
    gtl->free(p);
}

static void say(const char *word)
{
    const char *file = getenv("FAKE_DEVICE_LOG");
    int fd = open(file ? file : "", O_WRONLY | O_APPEND);

    T_TRUE(fd >= 0 && write(fd, word, strlen(word)) > 0);
    close(fd);
}

/* What operations do, while a stream waits: nothing of it may block. */
static int path(void)
{
    struct gtl_blocks b = { 8, 100, 64, -64 }, rows = { 8, 100, 64, 64 };
    struct gtl_amo a = { .op = AMO_ADD, .size = 8, .value = 1 };
    uint64_t *word = page(), id;
    struct gtl_peer_copy p = {
        .arrivals = word + 2, .arrival = word + 3, .n = 100,
        .flags = { word + 4, word + 5 }
    };
    void *s, *t, *e, *seen;
    int called = 0;
    char *d;

    T_EQ(gtl->pin(word, N, GTL_PIN_MEMORY, &seen), 0);
    T_EQ(gtl->alloc(2 * N, (void **)&d), 0);
    T_EQ(gtl->stream_create(GTL_NORMAL, &s), 0);
    T_EQ(gtl->stream_create(GTL_NORMAL, &t), 0);
    T_EQ(gtl->event_create(&e), 0);
    a.word = d;
    p.to = d;
    p.from = d + N;
    say("BEGIN\n");
    T_EQ(gtl->wait64(word, 1, t), 0);
    T_EQ(gtl->stream_check(s, &id), 0);
    T_EQ(gtl->fill(d, 0, N, s), 0);
    T_EQ(gtl->copy(d, word, 4096, s), 0);
    T_EQ(gtl->copy_blocks(d + N, d + N / 2, &b, s), 0);
    T_EQ(gtl->copy_blocks(d + N, d, &rows, s), 0);
    T_EQ(gtl->amo(&a, s), 0);
    T_EQ(gtl->peer_copy(&p, s), 0);
    T_EQ(gtl->write64(word + 1, 7, s), 0);
    T_EQ(gtl->host_call(note, &called, s), 0);
    T_EQ(gtl->event_record(e, s), 0);
    T_EQ(gtl->event_wait(e, t), 0);
    T_EQ(gtl->release(s), 0);
    gtl->stream_query(s);
    say("END\n");
    T_EQ(gtl->stream_sync(s), 0);
    T_EQ(word[1], 7);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    T_EQ(gtl->stream_sync(t), 0);
    gtl->event_destroy(e);
    gtl->stream_destroy(s);
    gtl->stream_destroy(t);
    gtl->free(d);
    gtl->unpin(word);
    return T_DONE();
}

int main(int argc, char **argv)
{
    const char *want = getenv("SHMEM_DEVICE");
    int rc;

    self = argv[0];
    if (!want || strcmp(want, "cuda")) {
        fprintf(stderr, "skip: SHMEM_DEVICE is not cuda\n");
        return 77;
    }
    if (env_load() || gtl_open(0))
        return 3;
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver)
        return 4;
    if (argc > 1) {
        rc = strcmp(argv[1], "open") ? path() : open_handle(argv[2]);
        gtl_close();
        return rc;
    }
    T_RUN(as_many_groups_as_are_resident_at_once);
    T_RUN(addresses_are_distinguished);
    T_RUN(blocks_go_where_their_strides_say);
    T_RUN(atomics_work_on_the_device_and_on_pinned_words);
    T_RUN(a_stream_waits_for_words_events_and_calls);
    T_RUN(streams_are_known_and_graphs_refused);
    T_RUN(what_fails_says_so);
    T_RUN(a_dmabuf_starts_at_the_address);
    T_RUN(memory_grows_behind_an_address);
    T_RUN(another_process_opens_memory);
    gtl_close();
    T_EQ(gtl_open(0), 0);
    T_STR(gtl->name, "cuda");
    gtl_close();
    return T_DONE();
}
