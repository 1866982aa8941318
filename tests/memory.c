/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the memory in which a test's buffers lie; see memory.h.  Linked to
 * the programs that include it. */
#include "memory.h"

#include <dlfcn.h>
#include <fcntl.h>

enum { BOUNCE = 1 << 16, STATIC_MOST = 1 << 20 };

int me, n_pes, next, before;
bool on_device, has_device_private;
static char *bounce;

/* Static data, given out from the start to the end; all of it is free again
 * when no block is left. */
static _Alignas(64) char static_data[STATIC_MOST];
static size_t static_used, static_blocks;

/* The driver's calls, as their vendors count; both give 0 for success. */
static struct {
    int (*alloc)(void **out, size_t size);
    int (*free)(void *p);
} gpu;
static void *hip;               /* the vendor's library */

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "memory.c: %s fails\n", what);
    exit(1);
}

static void *symbol(void *lib, const char *name)
{
    void *p = dlsym(lib, name);

    need(p, name);
    return p;
}

static int cuda_alloc(void **out, size_t size)
{
    static int (*call)(unsigned long long *out, size_t size);
    unsigned long long p = 0;
    int rc;

    if (!call)
        *(void **)&call = symbol(dlopen("libcuda.so.1", RTLD_NOW),
                                 "cuMemAlloc_v2");
    rc = call(&p, size);
    *out = (void *)(uintptr_t)p;
    return rc;
}

static int cuda_free(void *p)
{
    static int (*call)(unsigned long long p);

    if (!call)
        *(void **)&call = symbol(dlopen("libcuda.so.1", RTLD_NOW),
                                 "cuMemFree_v2");
    return call((uintptr_t)p);
}

/* ---- other kinds of it ---- */

static void *in_cuda(const char *name)
{
    return symbol(dlopen("libcuda.so.1", RTLD_NOW), name);
}

static int cuda_pool_alloc(void **out, size_t size)
{
    int (*call)(unsigned long long *out, size_t size, void *stream);
    int (*sync)(void *stream);
    unsigned long long p = 0;
    int rc;

    *(void **)&call = in_cuda("cuMemAllocAsync");
    *(void **)&sync = in_cuda("cuStreamSynchronize");
    rc = call(&p, size, NULL);
    *out = (void *)(uintptr_t)p;
    return rc ? rc : sync(NULL);
}

static int cuda_pool_free(void *p)
{
    int (*call)(unsigned long long p, void *stream);

    *(void **)&call = in_cuda("cuMemFreeAsync");
    return call((uintptr_t)p, NULL);
}

/* The vendor's structures, as long as they are. */
struct prop {
    int type, handles, location, device;
    void *none;
    unsigned char flags[8];
};
struct rights {
    int location, device, flags;
};
enum { PIECE = 2 << 20 };

static int map_piece(unsigned long long at)
{
    struct prop prop = { .type = 1, .location = 1 };
    int (*create)(unsigned long long *out, size_t size, const struct prop *p,
                  unsigned long long flags);
    int (*map)(unsigned long long at, size_t size, size_t offset,
               unsigned long long memory, unsigned long long flags);
    int (*release)(unsigned long long memory), (*device)(int *out);
    unsigned long long memory = 0;
    int rc;

    *(void **)&create = in_cuda("cuMemCreate");
    *(void **)&map = in_cuda("cuMemMap");
    *(void **)&release = in_cuda("cuMemRelease");
    *(void **)&device = in_cuda("cuCtxGetDevice");
    rc = device(&prop.device);
    if (!rc)
        rc = create(&memory, PIECE, &prop, 0);
    if (!rc)
        rc = map(at, PIECE, 0, memory, 0);
    return rc ? rc : release(memory);
}

static int cuda_pieces_alloc(void **out, size_t size)
{
    struct rights rights = { 1, 0, 3 };
    int (*reserve)(unsigned long long *out, size_t size, size_t align,
                   unsigned long long wanted, unsigned long long flags);
    int (*allow)(unsigned long long p, size_t size, const struct rights *r,
                 size_t n);
    int (*device)(int *out);
    unsigned long long at = 0;
    int rc;

    need(size <= PIECE, "so much memory in two pieces");
    *(void **)&reserve = in_cuda("cuMemAddressReserve");
    *(void **)&allow = in_cuda("cuMemSetAccess");
    *(void **)&device = in_cuda("cuCtxGetDevice");
    rc = device(&rights.device);
    if (!rc)
        rc = reserve(&at, 2 * PIECE, PIECE, 0, 0);
    if (!rc)
        rc = map_piece(at);
    if (!rc)
        rc = map_piece(at + PIECE);
    if (!rc)
        rc = allow(at, 2 * PIECE, &rights, 1);
    *out = (void *)(uintptr_t)(at + PIECE - (size < 128 ? 64
                                             : size / 2 / 64 * 64));
    return rc;
}

static int cuda_pieces_free(void *p)
{
    unsigned long long at = (uintptr_t)p / PIECE * PIECE;
    int (*unmap)(unsigned long long p, size_t size);
    int (*give)(unsigned long long p, size_t size);

    *(void **)&unmap = in_cuda("cuMemUnmap");
    *(void **)&give = in_cuda("cuMemAddressFree");
    return unmap(at, PIECE) || unmap(at + PIECE, PIECE) ||
           give(at, 2 * PIECE);
}

static int hip_pool_alloc(void **out, size_t size)
{
    int (*call)(void **out, size_t size, void *stream);
    int (*sync)(void *stream);

    *(void **)&call = symbol(hip, "hipMallocAsync");
    *(void **)&sync = symbol(hip, "hipStreamSynchronize");
    return call(out, size, NULL) || sync(NULL);
}

static int hip_pool_free(void *p)
{
    int (*call)(void *p, void *stream);

    *(void **)&call = symbol(hip, "hipFreeAsync");
    return call(p, NULL);
}

static void choose_own(bool cuda)
{
    const char *own = getenv("T_OWN");

    if (own && !strcmp(own, "pool")) {
        gpu.alloc = cuda ? cuda_pool_alloc : hip_pool_alloc;
        gpu.free = cuda ? cuda_pool_free : hip_pool_free;
    } else if (own && !strcmp(own, "pieces")) {
        need(cuda, "memory in pieces of this device");
        gpu.alloc = cuda_pieces_alloc;
        gpu.free = cuda_pieces_free;
    }
}

/* ---- the driver ---- */

/* Where there are several, each PE has its own. */
static void begin_cuda(void)
{
    const char *rank = getenv("SLUICE_JOB_PE");
    int (*count)(int *out), devices = 1;
    void *lib = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    int (*init)(unsigned flags), (*get)(int *out, int ordinal), device = 0;
    int (*retain)(void **out, int device), (*current)(void *context);

    need(lib, "dlopen libcuda.so.1");
    *(void **)&init = symbol(lib, "cuInit");
    *(void **)&count = symbol(lib, "cuDeviceGetCount");
    *(void **)&get = symbol(lib, "cuDeviceGet");
    *(void **)&retain = symbol(lib, "cuDevicePrimaryCtxRetain");
    *(void **)&current = symbol(lib, "cuCtxSetCurrent");
    need(!init(0) && !count(&devices) &&
         !get(&device, (rank ? atoi(rank) : 0) % devices) &&
         !retain(&context, device) && !current(context), "a CUDA context");
    gpu.alloc = cuda_alloc;
    gpu.free = cuda_free;
    choose_own(true);
}

static void begin_hip(void)
{
    static const char *const names[] = {
        "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names && !hip; i++)
        hip = dlopen(names[i], RTLD_NOW);
    need(hip, "dlopen libamdhip64.so");
    *(void **)&gpu.alloc = symbol(hip, "hipMalloc");
    *(void **)&gpu.free = symbol(hip, "hipFree");
    choose_own(false);
}

static void begin_gpu(void)
{
    const char *device = getenv("SHMEM_DEVICE");

    if (device && !strcmp(device, "cuda"))
        begin_cuda();
    else if (device && !strcmp(device, "hip"))
        begin_hip();
    has_device_private = gpu.alloc;
}

void memory_begin(int thread_level)
{
    const char *memory = getenv("T_MEMORY");
    int got = -1;

    need(!memory || !strcmp(memory, "device"), "a T_MEMORY but device");
    on_device |= memory != NULL;
    if (on_device && !gpu.alloc)
        begin_gpu();
    T_EQ(shmem_init_thread(thread_level, &got), 0);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    before = (me + n_pes - 1) % n_pes;
    T_PE(me);
    bounce = shmem_space_malloc(SHMEM_SPACE_CPU, BOUNCE);
    need(bounce, "shmem_space_malloc");
}

void device_begin(int thread_level)
{
    on_device = true;
    memory_begin(thread_level);
}

int memory_end(void)
{
    shmem_free(bounce);
    shmem_finalize();
    return T_DONE();
}

static void *host_private_alloc(size_t size)
{
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

void *mem_alloc_private(size_t size)
{
    void *p = NULL;

    if (!gpu.alloc)
        begin_gpu();
    if (!gpu.alloc)
        return host_private_alloc(size);
    need(!gpu.alloc(&p, size), "an allocation of device memory");
    return p;
}

void mem_free_private(void *p)
{
    if (gpu.free)
        need(!gpu.free(p), "to free device memory");
    else
        free(p);
}

static void *static_alloc(size_t size)
{
    void *p = static_data + static_used;

    if (size > STATIC_MOST - static_used)
        return NULL;
    static_used += (size + 63) / 64 * 64;
    static_blocks++;
    return p;
}

static void static_free(void)
{
    if (--static_blocks == 0)
        static_used = 0;
}

void *mem_alloc(enum memory where, size_t size)
{
    void *p;

    if (where == HOST)
        p = shmem_space_align(SHMEM_SPACE_CPU, 64, size);
    else if (where == OTHER && !on_device)
        p = static_alloc(size);
    else if (where == DEVICE)
        p = shmem_space_align(SHMEM_SPACE_DEVICE, 64, size);
    else if (where == PRIVATE || !on_device)
        p = host_private_alloc(size);
    else
        p = mem_alloc_private(size);
    need(p, "an allocation");
    return p;
}

void mem_free(enum memory where, void *p)
{
    if (where == OTHER && !on_device)
        static_free();
    else if (where < SYMMETRIC)
        shmem_free(p);
    else if (where == PRIVATE || !on_device)
        free(p);
    else
        mem_free_private(p);
}

/* Private memory is the local buffer of a transfer. */
static void move(void *to, const void *from, size_t size)
{
    if (!on_device) {
        memcpy(to, from, size);
        return;
    }
    if (shmem_addr_accessible(to, me))
        shmem_putmem(to, from, size, me);
    else
        shmem_getmem(to, from, size, me);
    shmem_quiet();
}

void mem_store(void *to, const void *from, size_t size)
{
    const char *p = from;
    size_t n;

    for (size_t at = 0; at < size; at += n) {
        n = size - at < BOUNCE ? size - at : BOUNCE;
        memcpy(bounce, p + at, n);
        move((char *)to + at, bounce, n);
    }
}

void mem_load(void *to, const void *from, size_t size)
{
    const char *p = from;
    size_t n;

    for (size_t at = 0; at < size; at += n) {
        n = size - at < BOUNCE ? size - at : BOUNCE;
        move(bounce, p + at, n);
        memcpy((char *)to + at, bounce, n);
    }
}

void mem_store_word(void *to, uint64_t value, size_t size)
{
    mem_store(to, &value, size);
}

uint64_t mem_load_word(const void *from, size_t size)
{
    uint64_t v = 0;

    mem_load(&v, from, size);
    return v;
}

void mem_fill(void *to, int byte, size_t size)
{
    char *p = malloc(size ? size : 1);

    need(p, "malloc");
    memset(p, byte, size);
    mem_store(to, p, size);
    free(p);
}

void mem_expect(const void *p, const void *want, size_t size)
{
    char *got = malloc(size ? size : 1);

    need(got, "malloc");
    memset(got, 0, size);
    mem_load(got, p, size);
    T_MEM(got, want, size);
    free(got);
}

void pattern(unsigned char *to, int pe, unsigned round, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = byte_of(pe, round, i);
}

/* One write: other PEs write there, too. */
void mem_log(const char *word)
{
    const char *file = getenv("FAKE_DEVICE_LOG");
    int fd = file ? open(file, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    char line[64];
    int n = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), word);

    if (fd < 0)
        return;
    T_EQ(write(fd, line, (size_t)n), n);
    close(fd);
}
