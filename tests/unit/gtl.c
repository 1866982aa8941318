/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: memory and data operations of the device that SHMEM_DEVICE
 * chooses do what gtl.h says, for every size, place and word. */
#include "gtl_test.h"

#include <spawn.h>
#include <sys/wait.h>

#define LARGE (((size_t)5 << 20) + 3)
#define ROOM (LARGE + 2 * PAGE)

extern char **environ;

T(the_device_is_described)
{
    T_NE(gtl_device.name[0], '\0');
    T_NE(gtl_device.id[0], '\0');
    T_LT(0, gtl_device.count);
    T_LE(0, gtl_device.ordinal);
    T_LT(gtl_device.ordinal, gtl_device.count);
    T_LT((uint64_t)1 << 20, gtl_device.memory);
    T_EQ(gtl_device_only, !gtl_device.host_access);
    T_TRUE(gtl_device.host_access || gtl_device.hmem != GTL_HMEM_NONE);
    T_TRUE(gtl_device.host_adds || !gtl_device.host_atomics);
    T_EQ(gtl_open(0), 0);       /* again: nothing */
}

/* ---- memory ---- */

static enum gtl_memory_kind kind_of(const void *p)
{
    struct gtl_range r;

    T_EQ(gtl->classify(p, &r), 0);
    return r.kind;
}

T(memory_is_known_from_end_to_end_until_it_is_freed)
{
    static const size_t sizes[] = { 1, PAGE, LARGE };
    size_t room, total;
    struct gtl_range r;
    char *p;

    for (int i = 0; i < 3; i++) {
        p = NULL;
        T_EQ(gtl->alloc(sizes[i], (void **)&p), 0);
        T_EQ((uintptr_t)p % (2 << 20), 0);
        T_EQ(gtl->classify(p + sizes[i] - 1, &r), 0);
        T_EQ(r.kind, GTL_DEVICE);
        T_LE(r.base, (uintptr_t)p);
        T_LE((uintptr_t)p + sizes[i], r.base + r.size);
        T_EQ(kind_of(p), GTL_DEVICE);
        T_EQ(gtl_fill_now(p, 1, sizes[i]), 0);
        gtl->free(p);
        T_NE(kind_of(p), GTL_DEVICE);
    }
    T_EQ(gtl->memory_info(&room, &total), 0);
    T_LE(room, total);
    T_LT(0, room);
}

T(absurd_sizes_are_refused_with_a_reason)
{
    int dummy;
    void *p = &dummy;

    T_EQ(gtl->alloc((size_t)1 << 50, &p), -ENOMEM);
    T_NE(gtl_error()[0], '\0');
    T_NE(gtl->alloc(SIZE_MAX, &p), 0);
    T_NE(gtl->alloc(SIZE_MAX - 5, &p), 0);
    T_EQ(p, &dummy);
}

T(host_memory_is_private_until_it_is_pinned)
{
    char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *seen = NULL;
    int here;

    T_EQ(kind_of(&here), GTL_PRIVATE);
    T_EQ(kind_of(p + PAGE), GTL_PRIVATE);
    T_EQ(gtl->pin(p + PAGE, 2 * PAGE, GTL_PIN_MEMORY, &seen), 0);
    T_NE(seen, NULL);
    T_EQ(kind_of(p + PAGE), GTL_PINNED);
    T_EQ(kind_of(p + 3 * PAGE - 1), GTL_PINNED);
    T_EQ(gtl_fill_now(seen, 0x5a, 2 * PAGE), 0);
    T_EQ(p[PAGE], 0x5a);
    T_EQ(p[3 * PAGE - 1], 0x5a);
    gtl->unpin(p + PAGE);
    T_EQ(kind_of(p + PAGE), GTL_PRIVATE);
    munmap(p, 4 * PAGE);
}

T(only_what_the_processor_must_not_touch_is_device_only)
{
    static int still;
    int here;
    char *heap = malloc(LARGE), *device = device_memory(LARGE);

    T_TRUE(!gtl_is_device_only(&still));
    T_TRUE(!gtl_is_device_only(&here));
    T_TRUE(!gtl_is_device_only(heap));
    T_TRUE(!gtl_is_device_only(heap + LARGE - 1));
    T_TRUE(!gtl_is_device_only(words.here));
    T_TRUE(!gtl_is_device_only(NULL));
    T_EQ(gtl_is_device_only(device), !gtl_device.host_access);
    T_EQ(gtl_is_device_only(device + LARGE - 1), !gtl_device.host_access);
    T_TRUE(!gtl_is_device_only(&here));
    free(heap);
    gtl->free(device);
}

/* ---- copies and fills ---- */

static const size_t sizes[] = { 0, 1, 2, 4, 7, 8, 13, 64, PAGE, PAGE + 5,
                                LARGE };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* What is to be in a place, and what is found there. */
static unsigned char want[ROOM], found[ROOM], pattern[ROOM];

enum { HOST, PINNED, DEVICE, PLACES };
static unsigned char *from[PLACES], *to[PLACES];

static void make_places(void)
{
    void *p, *pinned, *seen = NULL;

    for (size_t i = 0; i < ROOM; i++)   /* of no period that sizes have */
        pattern[i] = (unsigned char)(i * 167 + i / 251 + i / 65521);
    for (int i = 0; i < 2; i++) {
        unsigned char **at = i ? to : from;

        at[HOST] = malloc(ROOM);
        at[DEVICE] = device_memory(ROOM);
        pinned = mmap(NULL, (ROOM + PAGE - 1) / PAGE * PAGE,
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
        T_EQ(gtl->pin(pinned, (ROOM + PAGE - 1) / PAGE * PAGE, GTL_PIN_MEMORY,
                      &seen), 0);
        p = pinned;
        at[PINNED] = p;
    }
    for (int i = 0; i < PLACES; i++)
        T_EQ(gtl_copy_now(from[i], pattern, ROOM), 0);
}

static void free_places(void)
{
    for (int i = 0; i < 2; i++) {
        unsigned char **at = i ? to : from;

        free(at[HOST]);
        gtl->unpin(at[PINNED]);
        munmap(at[PINNED], (ROOM + PAGE - 1) / PAGE * PAGE);
        gtl->free(at[DEVICE]);
    }
}

/* The stream has worked on the first bytes of `place`; nothing behind them,
 * nor before, may differ from want. */
static void compare(int place, size_t size, const char *what, int source)
{
    size_t n = size + 64 < ROOM ? size + 64 : ROOM;

    T_EQ(gtl->stream_sync(some_stream), 0);
    memset(found, 0x11, n);
    T_EQ(gtl_copy_now(found, to[place], n), 0);
    if (memcmp(found, want, n) && !T_MEM(found, want, n))
        fprintf(stderr, "  %s, %zu bytes, place %d to %d\n", what, size,
                source, place);
}

static void clear_place(int place, size_t size)
{
    size_t n = size + 64 < ROOM ? size + 64 : ROOM;

    memset(want, 0xee, n);
    if (place == HOST)
        memset(to[HOST], 0xee, n);
    else
        T_EQ(gtl->fill(to[place], 0xee, n, some_stream), 0);
}

static void try_copy(int a, int b, size_t size, size_t shift)
{
    clear_place(b, size + shift);
    memcpy(want + shift, pattern + shift / 2, size);
    T_EQ(gtl->copy(to[b] + shift, from[a] + shift / 2, size, some_stream), 0);
    compare(b, size + shift, "copy", a);
}

T(copies_between_all_places_move_just_their_bytes)
{
    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < PLACES; b++)
            for (int i = 0; i < SIZES; i++) {
                try_copy(a, b, sizes[i], 0);
                try_copy(a, b, sizes[i], 11);
            }
}

T(fills_touch_just_their_bytes)
{
    for (int b = PINNED; b < PLACES; b++)
        for (int i = 0; i < SIZES; i++) {
            clear_place(b, sizes[i] + 3);
            memset(want + 3, 0x80 + i, sizes[i]);
            T_EQ(gtl->fill(to[b] + 3, 0x80 + i, sizes[i], some_stream), 0);
            compare(b, sizes[i] + 3, "fill", b);
        }
}

static void try_blocks(int a, int b, const struct gtl_blocks *k, size_t start,
                       bool at_once)
{
    const unsigned char *p = pattern;
    unsigned char *q = want + start;

    clear_place(b, PAGE * 4);
    for (size_t i = 0; i < k->count; i++) {
        memcpy(q, p, k->len);
        q += k->to_stride;
        p += k->from_stride;
    }
    if (at_once) {
        T_EQ(gtl->stream_sync(some_stream), 0);
        T_EQ(gtl_copy_blocks_now(to[b] + start, from[a], k), 0);
    } else {
        T_EQ(gtl->copy_blocks(to[b] + start, from[a], k, some_stream), 0);
    }
    compare(b, PAGE * 4, "blocks", a);
}

T(blocks_lie_where_the_strides_say)
{
    static const struct gtl_blocks some[] = {
        { 8, 100, 16, 8 }, { 4, 100, 4, 12 }, { 1, 300, 3, 5 },
        { 24, 50, 40, 24 }, { 100, 20, 128, 333 }, { 7, 9, 9, 7 },
        { 8, 100, 8, 8 }, { 16, 1, 0, 0 }, { 0, 5, 8, 8 }, { 8, 0, 8, 8 },
        { 2, 77, 6, 2 }
    };
    static const struct gtl_blocks back = { 8, 100, -16, 8 };

    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < PLACES; b++) {
            for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
                try_blocks(a, b, &some[i], 0, i & 1);
                try_blocks(a, b, &some[i], 5, !(i & 1));
            }
            try_blocks(a, b, &back, PAGE, false);
        }
}

/* ---- atomics ---- */

static uint64_t model(enum amo_op op, uint64_t was, uint64_t value,
                      uint64_t cond)
{
    switch (op) {
    case AMO_FETCH: return was;
    case AMO_CSWAP: return was == cond ? value : was;
    case AMO_ADD: return was + value;
    case AMO_AND: return was & value;
    case AMO_OR: return was | value;
    case AMO_XOR: return was ^ value;
    default: return value;
    }
}

/* The word of this size in memory whose other bytes must stay. */
static void try_amo(enum amo_op op, int size, uint64_t *word,
                    uint64_t *result, bool hit)
{
    uint64_t mask = size == 8 ? ~(uint64_t)0 : 0xffffffff;
    uint64_t was[2] = { T_RAND(), T_RAND() }, now[2], old = 0, new;
    uint64_t canary = 0x1122334455667788;
    struct gtl_amo a = {
        .op = op, .size = size, .word = word, .value = T_RAND(),
        .result = result
    };
    int rc;

    a.cond = hit ? was[0] : ~was[0];
    new = model(op, was[0] & mask, a.value & mask, a.cond & mask) & mask;
    T_EQ(gtl_copy_now(word, was, sizeof was), 0);
    if (result)
        T_EQ(gtl_copy_now(result, &canary, 8), 0);
    rc = gtl->amo(&a, some_stream);
    /* A device that leaves host words to the processor may be unable to. */
    if (rc == -EOPNOTSUPP && !is_host() && word == words.there && result &&
        result != words.there + 32)
        return;
    T_EQ(rc, 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(gtl_copy_now(now, word, sizeof now), 0);
    T_EQ(now[0], (was[0] & ~mask) | new);
    T_EQ(now[1], was[1]);
    if (!result)
        return;
    T_EQ(gtl_copy_now(&old, result, 8), 0);
    T_EQ(old, (canary & ~mask) | (was[0] & mask));
}

T(atomics_change_one_word_and_return_the_old_value)
{
    uint64_t *device = device_memory(PAGE);

    for (int op = AMO_FETCH; op <= AMO_XOR; op++)
        for (int size = 4; size <= 8; size += 4)
            for (int k = 0; k < 12; k++)
                try_amo((enum amo_op)op, size,
                        k & 1 ? device : words.there,
                        k % 3 == 0 ? NULL : k % 3 == 1 ? words.there + 32
                                                       : device + 32, k >= 6);
    gtl->free(device);
}

T(atomics_at_once_reach_any_host_memory)
{
    uint64_t *device = device_memory(PAGE), old = 0;
    uint32_t half = 0;
    struct gtl_amo a = {
        .op = AMO_ADD, .size = 8, .word = device, .value = 5, .result = &old
    };

    T_EQ(gtl_amo_now(&a), 0);
    T_EQ(gtl_amo_now(&a), 0);
    T_EQ(old, 5);
    a.size = 4;
    a.result = &half;
    T_EQ(gtl_amo_now(&a), 0);
    T_EQ(half, 10);
    a.result = NULL;
    T_EQ(gtl_amo_now(&a), 0);
    T_EQ(device_word(device), 20);
    gtl->free(device);
}

T(streams_and_the_processor_add_to_one_word)
{
    enum { STREAMS = 4, ADDS = 500 };
    uint64_t *device = device_memory(PAGE);
    void *s[STREAMS];
    struct gtl_amo a = { .op = AMO_ADD, .size = 8, .value = 1 };

    set_word(0, 0);
    for (int i = 0; i < STREAMS; i++)
        s[i] = new_stream();
    for (int k = 0; k < ADDS; k++)
        for (int i = 0; i < STREAMS; i++) {
            a.word = device;
            T_EQ(gtl->amo(&a, s[i]), 0);
            a.word = words.there;
            T_EQ(gtl->amo(&a, s[i]), 0);
            __atomic_fetch_add(words.here, 1, __ATOMIC_SEQ_CST);
        }
    for (int i = 0; i < STREAMS; i++) {
        T_EQ(gtl->stream_sync(s[i]), 0);
        gtl->stream_destroy(s[i]);
    }
    T_EQ(device_word(device), STREAMS * ADDS);
    T_EQ(get_word(0), 2 * STREAMS * ADDS);
    gtl->free(device);
}

/* ---- from several threads ---- */

static uint64_t *shared_memory;

static void *use_own_streams(void *arg)
{
    uint64_t mine = (uintptr_t)arg, *at = shared_memory + 512 * mine;
    uint64_t out[512], back[512];
    struct gtl_amo a = {
        .op = AMO_ADD, .size = 8, .word = shared_memory, .value = 1
    };

    for (uint64_t k = 0; k < 60; k++) {
        for (uint64_t i = 0; i < 512; i++)
            out[i] = mine << 32 | k * i;
        T_EQ(gtl_copy_now(at, out, sizeof out), 0);
        T_EQ(gtl_copy_now(back, at, sizeof back), 0);
        T_MEM(back, out, sizeof out);
        T_EQ(gtl_amo_now(&a), 0);
    }
    return NULL;
}

T(threads_move_data_at_the_same_time)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];

    shared_memory = device_memory((THREADS + 1) * PAGE);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_own_streams, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    T_EQ(device_word(shared_memory), 60 * THREADS);
    gtl->free(shared_memory);
}

/* ---- another process ---- */

static const char *const modes[] = { "open", "refuse" };

/* The second process: reads, answers and closes what the first has exported;
 * in mode refuse, what it may not have. */
static int answer(const char *mode, const char *hex)
{
    struct gtl_ipc_handle h = { { 0 } };
    uint64_t seen[2] = { 0 };
    struct gtl_range r;
    uint64_t *p = NULL;
    int status;

    if (!open_device(&status))
        return status;
    for (size_t i = 0; i < sizeof h.bytes; i++)
        sscanf(hex + 2 * i, "%2hhx", &h.bytes[i]);
    if (!strcmp(mode, "refuse")) {
        T_NE(gtl->ipc_open(&h, -1, (void **)&p), 0);
        T_NE(gtl_error()[0], '\0');
        T_EQ(p, NULL);
    } else if (T_EQ(gtl->ipc_open(&h, -1, (void **)&p), 0)) {
        T_EQ(gtl->classify(p + 7, &r), 0);
        T_EQ(r.kind, GTL_DEVICE);
        T_EQ(gtl_copy_now(seen, p + LARGE / 8 - 1, 8), 0);
        T_EQ(seen[0], 0x1234);
        T_EQ(gtl->write64(p, 0x5678, some_stream), 0);
        T_EQ(gtl->stream_sync(some_stream), 0);
        gtl->ipc_close(p);
    } else {
        fprintf(stderr, "%s\n", gtl_error());
    }
    close_device();
    return T_DONE();
}

static int other_process(const char *mode, const struct gtl_ipc_handle *h)
{
    char hex[2 * sizeof h->bytes + 1], self[] = "/proc/self/exe";
    char *argv[] = { self, (char *)(uintptr_t)mode, hex, NULL };
    int status = -1;
    pid_t pid;

    for (size_t i = 0; i < sizeof h->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", h->bytes[i]);
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
        return -1;
    waitpid(pid, &status, 0);
    return status;
}

/* By /proc/self/exe an emulator hands its own kernel a program of another
 * machine. */
static bool starts_itself(void)
{
    return !getenv("T_EMULATED");
}

T(another_process_opens_memory)
{
    int none;
    uint64_t *p, value = 0x1234;
    struct gtl_ipc_handle h;

    if (!starts_itself())
        T_SKIP("the emulator starts no further program");
    if (!gtl_device.ipc)
        T_SKIP("this device exports no memory");
    p = device_memory(LARGE);
    T_EQ(gtl_copy_now(p + LARGE / 8 - 1, &value, 8), 0);
    T_EQ(gtl->ipc_export(p, &h, &none), 0);
    T_EQ(other_process(modes[0], &h), 0);
    T_EQ(device_word(p), 0x5678);
    T_EQ(other_process(modes[0], &h), 0);       /* once more */
    gtl->free(p);
}

T(a_bad_handle_is_refused)
{
    struct gtl_ipc_handle h;

    if (!starts_itself())
        T_SKIP("the emulator starts no further program");
    if (!gtl_device.ipc)
        T_SKIP("this device exports no memory");
    memset(&h, 0, sizeof h);
    T_EQ(other_process(modes[1], &h), 0);
    memset(&h, 0xa5, sizeof h);
    T_EQ(other_process(modes[1], &h), 0);
}

int main(int argc, char **argv)
{
    int status;

    if (argc == 3)
        return answer(argv[1], argv[2]);
    if (!open_device(&status))
        return status;
    T_RUN(the_device_is_described);
    T_RUN(memory_is_known_from_end_to_end_until_it_is_freed);
    T_RUN(absurd_sizes_are_refused_with_a_reason);
    T_RUN(host_memory_is_private_until_it_is_pinned);
    T_RUN(only_what_the_processor_must_not_touch_is_device_only);
    make_places();
    T_RUN(copies_between_all_places_move_just_their_bytes);
    T_RUN(fills_touch_just_their_bytes);
    T_RUN(blocks_lie_where_the_strides_say);
    free_places();
    T_RUN(atomics_change_one_word_and_return_the_old_value);
    T_RUN(atomics_at_once_reach_any_host_memory);
    T_RUN(streams_and_the_processor_add_to_one_word);
    T_RUN(threads_move_data_at_the_same_time);
    T_RUN(another_process_opens_memory);
    T_RUN(a_bad_handle_is_refused);
    close_device();
    return T_DONE();
}
