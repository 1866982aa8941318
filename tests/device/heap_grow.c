/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a device heap that takes memory as it is used serves all kinds
 * of allocations, and what other threads put while it grows arrives; where a PE
 * can have no more, all are refused the block and nothing else. */
#include "../memory.h"

#include <pthread.h>
#include <shmemx_st.h>
#include <sys/stat.h>

enum { MIB = 1 << 20, WORDS = 512, EDGE = 4096 };

static unsigned char bytes[EDGE];

/* The first, the last and the bytes between, of the neighbour's block. */
static void use(char *p, size_t size, unsigned round)
{
    const size_t at[] = { 0, size / 3, size / 2, size - EDGE };

    for (unsigned i = 0; i < 4; i++) {
        pattern(bytes, me, round + i, EDGE);
        mem_store(p + at[i], bytes, 1);     /* this PE's own, before */
        shmem_barrier_all();
        shmem_putmem(p + at[i], bytes, EDGE, next);
        shmem_barrier_all();
        pattern(bytes, before, round + i, EDGE);
        mem_expect(p + at[i], bytes, EDGE);
        shmem_getmem(bytes, p + at[i], EDGE, before);
        shmem_barrier_all();
    }
}

T(each_block_has_memory)
{
    static const size_t sizes[] = { 1, 3, 9, 2, 20 };
    char *p[5];

    for (unsigned i = 0; i < 5; i++) {
        p[i] = shmem_space_malloc(SHMEM_SPACE_DEVICE, sizes[i] * MIB);
        if (!T_TRUE(p[i]))
            return;
        use(p[i], sizes[i] * MIB, 10 * i);
    }
    for (unsigned i = 0; i < 5; i++)
        shmem_free(p[i]);
}

/* From here on the heap is larger than where the last test has left it. */
T(new_memory_is_cleared_and_old_content_moves)
{
    static const unsigned char zeros[EDGE];
    size_t size = 40 * MIB;
    unsigned char *p = shmem_space_malloc(SHMEM_SPACE_DEVICE, EDGE), *q;

    pattern(bytes, me, 77, EDGE);
    mem_store(p, bytes, EDGE);
    q = shmem_space_calloc(SHMEM_SPACE_DEVICE, size / 8, 8);
    if (!T_TRUE(q))
        return;
    mem_expect(q, zeros, EDGE);
    mem_expect(q + size - EDGE, zeros, EDGE);
    use((char *)q, size, 3);
    p = shmem_realloc(p, 12 * MIB);
    if (!T_TRUE(p))
        return;
    pattern(bytes, me, 77, EDGE);
    mem_expect(p, bytes, EDGE);
    use((char *)p, 12 * MIB, 5);
    shmem_free(q);
    shmem_free(p);
}

T(a_space_has_all_of_its_memory)
{
    const shmem_space_config_t config = { SHMEM_DEVICE_GPU, 70 * MIB, 0 };
    shmem_space_t space = SHMEM_SPACE_INVALID;
    char *p;

    T_EQ(shmem_space_create(&config, &space, NULL), 0);
    p = shmem_space_malloc(space, 69 * MIB);
    if (T_TRUE(p))
        use(p, 69 * MIB, 9);
    T_EQ(shmem_space_destroy(space), 0);
}

/* What a PE passes to others is a descriptor, and memory that is undone again
 * stays taken as long as one is open.  The stand-in itself has one of each
 * piece. */
T(descriptors_of_others_are_closed)
{
    enum { MOST = 1024 };
    ino_t seen[MOST];
    char path[32], name[64];
    struct stat st;
    int n = 0;

    for (int fd = 0; fd < MOST; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        memset(name, 0, sizeof name);
        if (readlink(path, name, sizeof name - 1) < 0 ||
            !strstr(name, "memfd:fake-device ") || fstat(fd, &st))
            continue;
        for (int i = 0; i < n; i++)
            T_TRUE(seen[i] != st.st_ino);
        seen[n++] = st.st_ino;
    }
    shmem_barrier_all();
}

/* ---- others put meanwhile ---- */

static uint64_t *words;
static _Atomic bool stop;

static void *put_on(void *arg)
{
    uint64_t local[WORDS], back[WORDS];
    shmem_ctx_t ctx;
    int wrong = 0;

    (void)arg;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx))
        return "no context";
    for (uint64_t round = 1; !stop && !wrong; round++) {
        for (int i = 0; i < WORDS; i++)
            local[i] = round * WORDS + (unsigned)i;
        shmem_ctx_uint64_put(ctx, words, local, WORDS, next);
        shmem_ctx_quiet(ctx);
        shmem_ctx_uint64_get(ctx, back, words, WORDS, next);
        wrong = memcmp(back, local, sizeof back);
    }
    shmem_ctx_destroy(ctx);
    return wrong ? "other words came back" : NULL;
}

T(threads_put_while_it_grows)
{
    static const size_t sizes[] = { 80, 20, 30 };
    void *said = NULL;
    pthread_t thread;
    char *p[3];

    words = shmem_space_malloc(SHMEM_SPACE_DEVICE, sizeof *words * WORDS);
    pthread_create(&thread, NULL, put_on, NULL);
    for (unsigned i = 0; i < 3; i++) {
        p[i] = shmem_space_malloc(SHMEM_SPACE_DEVICE, sizes[i] * MIB);
        T_TRUE(p[i]);
        use(p[i], sizes[i] * MIB, 20 + i);
    }
    stop = true;
    pthread_join(thread, &said);
    T_STR(said ? said : "right", "right");
    shmem_barrier_all();
    for (unsigned i = 0; i < 3; i++)
        shmem_free(p[i]);
    shmem_free(words);
}

static void *allocate(void *size)
{
    return shmem_space_malloc(SHMEM_SPACE_DEVICE, *(size_t *)size);
}

/* One that has no context of the device. */
T(another_thread_makes_it_grow)
{
    size_t size = 168 * MIB;
    pthread_t thread;
    void *p = NULL;

    pthread_create(&thread, NULL, allocate, &size);
    pthread_join(thread, &p);
    if (T_TRUE(p))
        use(p, size, 55);
    shmem_free(p);
}

T(a_stream_puts_into_new_memory)
{
    const size_t size = 180 * MIB;
    char *p = shmem_space_malloc(SHMEM_SPACE_DEVICE, size);
    shmemx_stream_t s;

    if (!T_TRUE(p) || !T_EQ(shmemx_stream_create(&s), 0))
        return;
    pattern(bytes, me, 91, EDGE);
    mem_store(p, bytes, EDGE);
    shmem_barrier_all();
    T_EQ(shmemx_putmem_on_stream(p + size - EDGE, p, EDGE, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    pattern(bytes, before, 91, EDGE);
    mem_expect(p + size - EDGE, bytes, EDGE);
    shmemx_stream_destroy(s);
    shmem_free(p);
}

/* ---- no more is to be had ---- */

/* How many blocks of that size there are; all PEs have as many. */
static int fill(char **p, int most, size_t size)
{
    static int32_t mine, least, largest;
    int n = 0;

    for (; n < most; n++) {
        p[n] = shmem_space_malloc(SHMEM_SPACE_DEVICE, size);
        if (!p[n])
            break;
        use(p[n], size, (unsigned)n);
    }
    mine = n;
    shmem_int32_min_reduce(SHMEM_TEAM_WORLD, &least, &mine, 1);
    shmem_int32_max_reduce(SHMEM_TEAM_WORLD, &largest, &mine, 1);
    T_EQ(least, n);
    T_EQ(largest, n);
    return n;
}

T(all_are_refused_what_one_cannot_have)
{
    char *p[64], *q;
    int n = fill(p, 64, 8 * MIB);

    T_LT(0, n);
    T_LT(n, 64);
    q = shmem_space_calloc(SHMEM_SPACE_DEVICE, 8, MIB);
    T_TRUE(!q);
    T_TRUE(!shmem_realloc(p[0], 100 * MIB));    /* stays as it was */
    use(p[0], 8 * MIB, 66);
    for (int i = 0; i < n; i++)
        shmem_free(p[i]);
    T_EQ(fill(p, 64, 8 * MIB), n);
    for (int i = 0; i < n; i++)
        shmem_free(p[i]);
}

T(all_agree_where_one_fails_now_and_then)
{
    static int32_t mine, least, largest;
    char *p[24];

    for (unsigned i = 0; i < 24; i++) {
        p[i] = shmem_space_malloc(SHMEM_SPACE_DEVICE, 8 * MIB);
        mine = p[i] != NULL;
        shmem_int32_min_reduce(SHMEM_TEAM_WORLD, &least, &mine, 1);
        shmem_int32_max_reduce(SHMEM_TEAM_WORLD, &largest, &mine, 1);
        T_EQ(least, largest);
        if (p[i])
            use(p[i], 8 * MIB, i);
    }
    /* A failure takes nothing away, and the next growth may succeed. */
    for (unsigned i = 0; i < 24; i++)
        if (p[i])
            use(p[i], 8 * MIB, 30 + i);
    T_TRUE(p[23]);
    for (unsigned i = 0; i < 24; i++)
        shmem_free(p[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "full")) {
        device_begin(SHMEM_THREAD_SINGLE);
        T_RUN(all_are_refused_what_one_cannot_have);
        return memory_end();
    }
    if (argc > 1 && !strcmp(argv[1], "faults")) {
        device_begin(SHMEM_THREAD_SINGLE);
        T_RUN(all_agree_where_one_fails_now_and_then);
        return memory_end();
    }
    device_begin(SHMEM_THREAD_MULTIPLE);
    T_RUN(each_block_has_memory);
    T_RUN(descriptors_of_others_are_closed);
    T_RUN(new_memory_is_cleared_and_old_content_moves);
    T_RUN(a_space_has_all_of_its_memory);
    T_RUN(threads_put_while_it_grows);
    T_RUN(another_thread_makes_it_grow);
    T_RUN(a_stream_puts_into_new_memory);
    return memory_end();
}
