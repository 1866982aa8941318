/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: blocks of device memory are zeroed, moved between spaces and
 * freed like those of host memory, spaces cut out of it work, and all that is
 * asked about an address is answered for it. */
#include "../memory.h"

enum { SIZE = 70000 };
static unsigned char bytes[SIZE];

T(zeroed)
{
    static const unsigned char zeros[SIZE];
    char *p = shmem_space_malloc(SHMEM_SPACE_DEVICE, SIZE);

    mem_fill(p, 0xff, SIZE);
    shmem_space_free(SHMEM_SPACE_DEVICE, p);
    p = shmem_space_calloc(SHMEM_SPACE_DEVICE, SIZE / 8, 8);
    T_TRUE(p);
    mem_expect(p, zeros, SIZE / 8 * 8);
    shmem_free(p);
    T_TRUE(!shmem_space_calloc(SHMEM_SPACE_DEVICE, SIZE_MAX / 2, 4));
    T_TRUE(!shmem_space_malloc(SHMEM_SPACE_INVALID, 8));
    T_TRUE(!shmem_space_malloc(SHMEM_SPACE_DEVICE, 0));
    p = shmem_space_align(SHMEM_SPACE_DEVICE, 4096, 100);
    T_EQ((uintptr_t)p % 4096, 0);
    shmem_free(p);
}

/* From one space to the other and back, larger and smaller. */
T(moved)
{
    static const enum memory to[] = { DEVICE, DEVICE, HOST, DEVICE, HOST };
    size_t size = 5000, was;
    shmem_space_t space, is;
    char *p = shmem_malloc(size);

    pattern(bytes, me, 1, SIZE);
    mem_store(p, bytes, size);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        was = size;
        size = 1 + T_RAND() % SIZE;
        space = to[i] == DEVICE ? SHMEM_SPACE_DEVICE : SHMEM_SPACE_CPU;
        p = shmem_space_realloc(space, p, size);
        T_TRUE(p);
        T_EQ(shmem_get_space(p, &is), 0);
        T_TRUE(is == space);
        mem_expect(p, bytes, was < size ? was : size);
        mem_store(p, bytes, size);
    }
    p = shmem_space_realloc(SHMEM_SPACE_DEVICE, p, 300);
    p = shmem_realloc(p, 600);
    T_EQ(shmem_get_space(p, &is), 0);
    T_TRUE(is == SHMEM_SPACE_DEVICE);
    mem_expect(p, bytes, size < 300 ? size : 300);
    T_TRUE(!shmem_realloc(p, 0));
}

/* What is freed is there again. */
T(room_again)
{
    char *first = NULL, *p[8];

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++)
            p[i] = shmem_space_malloc(SHMEM_SPACE_DEVICE, 1 << 20);
        T_TRUE(p[7]);
        if (!first)
            first = p[0];
        T_TRUE(p[0] == first);
        for (int i = 7; i >= 0; i--)
            shmem_space_free(SHMEM_SPACE_DEVICE, p[i]);
    }
}

T(questions)
{
    char *p = shmem_space_malloc(SHMEM_SPACE_DEVICE, 64);
    shmem_device_type_t type = SHMEM_DEVICE_CPU;
    shmem_space_cap_t caps = 0;
    bool direct;
    char *there;

    T_EQ(shmem_addr_accessible(p, next), 1);
    T_EQ(shmem_addr_accessible(p, n_pes), 0);
    T_EQ(shmem_space_get_device_type(SHMEM_SPACE_DEVICE, &type), 0);
    T_EQ(type, SHMEM_DEVICE_GPU);
    T_EQ(shmem_space_get_caps(SHMEM_SPACE_DEVICE, &caps), 0);
    T_EQ(caps & SHMEM_SPACE_CAP_RMA, SHMEM_SPACE_CAP_RMA);
    direct = caps & SHMEM_SPACE_CAP_DIRECT_ACCESS;
    T_EQ(shmem_query_device_awareness(), 1);
    /* Pointers are for the processor. */
    T_TRUE(shmem_ptr(p, me) == (direct ? p : NULL));
    there = shmem_ptr(p, next);
    if (there) {
        T_TRUE(direct);
        there[0] = (char)(me + 1);
    }
    shmem_barrier_all();
    if (shmem_ptr(p, before))
        T_EQ(p[0], (char)(before + 1));
    T_TRUE(!shmem_space_ptr(SHMEM_SPACE_CPU, p, me));
    shmem_barrier_all();
    shmem_free(p);
}

/* A space cut out of the device's, with a team. */
T(made)
{
    const shmem_space_config_t config = { SHMEM_DEVICE_GPU, 1 << 20, 0 };
    shmem_space_t space = SHMEM_SPACE_INVALID, is;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    unsigned char *p, *q;

    T_EQ(shmem_space_create(&config, &space, &team), 0);
    p = shmem_space_calloc(space, 100, 10);
    q = shmem_space_malloc(space, 1000);
    T_TRUE(p && q);
    T_EQ(shmem_get_space(q, &is), 0);
    T_TRUE(is == space);
    pattern(bytes, me, 5, 1000);
    mem_store(q, bytes, 1000);
    shmem_barrier_all();
    shmem_putmem(p, q, 1000, next);
    shmem_barrier_all();
    pattern(bytes, before, 5, 1000);
    mem_expect(p, bytes, 1000);
    shmem_barrier_all();
    T_EQ(shmem_broadcastmem(team, p, q, 1000, 0), 0);
    pattern(bytes, 0, 5, 1000);
    mem_expect(p, bytes, 1000);
    T_EQ(shmem_team_get_space(team, &is), 0);
    T_TRUE(is == space);
    q = shmem_space_realloc(SHMEM_SPACE_CPU, q, 2000);
    T_TRUE(q);
    shmem_free(q);
    shmem_team_destroy(team);
    T_EQ(shmem_space_destroy(space), 0);
}

/* Once more from the start, and what was there before is not in the way. */
T(again)
{
    shmem_space_t device = SHMEM_SPACE_DEVICE;
    uint64_t *p;

    shmem_finalize();
    shmem_init();
    T_TRUE(device == SHMEM_SPACE_DEVICE);
    p = shmem_space_calloc(SHMEM_SPACE_DEVICE, 16, 8);
    T_TRUE(p);
    shmem_barrier_all();
    shmem_uint64_atomic_add(p, 3, next);
    shmem_uint64_wait_until(p, SHMEM_CMP_EQ, 3);
    shmem_barrier_all();
    T_EQ(shmem_uint64_g(p, next), 3);
    T_EQ(shmem_uint64_g(p + 1, next), 0);
    T_EQ(shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, p + 1, p, 1), 0);
    T_EQ(shmem_uint64_g(p + 1, me), 3 * n_pes);
    shmem_barrier_all();
}

int main(void)
{
    device_begin(SHMEM_THREAD_SINGLE);
    T_RUN(zeroed);
    T_RUN(moved);
    T_RUN(room_again);
    T_RUN(questions);
    T_RUN(made);
    memory_end();
    shmem_init();
    T_RUN(again);
    T_RUN(again);
    shmem_finalize();
    return T_DONE();
}
