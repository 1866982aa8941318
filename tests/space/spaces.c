/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: blocks of host and device memory are allocated, resized, moved
 * between spaces and freed, whatever name of the call is used.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "calls.h"
#include <errno.h>
#include <shmemg.h>

enum { N = 8 };

T(predefined_spaces_are_what_their_names_say)
{
    shmem_device_type_t type = SHMEM_DEVICE_GPU;

    T_TRUE(SHMEM_SPACE_DEFAULT == SHMEM_SPACE_CPU);
    T_TRUE(SHMEM_SPACE_GPU == SHMEM_SPACE_DEVICE);
    T_TRUE(SHMEM_SPACE_GPU != SHMEM_SPACE_CPU);
    T_TRUE(SHMEM_SPACE_CPU != SHMEM_SPACE_INVALID);
    T_TRUE(SHMEM_SPACE_GPU != SHMEM_SPACE_INVALID);
    T_EQ(shmem_space_is_available(SHMEM_SPACE_CPU), 0);
    T_EQ(shmem_space_is_available(SHMEM_SPACE_GPU), 0);
    T_EQ(shmemx_space_usable(SHMEM_SPACE_GPU), 1);
    T_EQ(shmem_space_get_device_type(SHMEM_SPACE_CPU, &type), 0);
    T_EQ(type, SHMEM_DEVICE_CPU);
    T_EQ(shmem_space_get_device_type(SHMEM_SPACE_GPU, &type), 0);
    T_EQ(type, SHMEM_DEVICE_GPU);
}

T(a_block_lies_in_the_space_it_was_asked_from)
{
    long *h = shmem_space_malloc(SHMEM_SPACE_CPU, N * sizeof *h);
    long *d = shmem_space_malloc(SHMEM_SPACE_GPU, N * sizeof *d);
    long *p = shmem_malloc(N * sizeof *p), local = 0;
    static long fixed;

    T_TRUE(h && d && p);
    T_TRUE(space_of(h) == SHMEM_SPACE_CPU);
    T_TRUE(space_of(d) == SHMEM_SPACE_GPU);
    T_TRUE(space_of(p) == SHMEM_SPACE_DEFAULT);
    T_TRUE(space_of(&local) == SHMEM_SPACE_INVALID);
    T_TRUE(space_of(&fixed) == SHMEM_SPACE_INVALID);
    T_TRUE(space_of(NULL) == SHMEM_SPACE_INVALID);
    shmem_free(h);
    shmem_free(d);
    shmem_free(p);
}

T(each_way_of_allocating_fills_and_aligns_as_its_name_says)
{
    shmem_space_t both[] = { SHMEM_SPACE_CPU, SHMEM_SPACE_GPU };
    long *c, *a, *z;

    for (int i = 0; i < 2; i++) {
        c = shmem_space_malloc(both[i], 4 * N * sizeof *c);
        store(c, 4 * N, 77);
        shmem_barrier_all();
        shmem_space_free(both[i], c);
        c = shmem_space_calloc(both[i], 4 * N, sizeof *c);
        a = shmem_space_align(both[i], 4096, N * sizeof *a);
        z = shmem_space_alloc(both[i], N, sizeof *z);
        T_EQ((uintptr_t)a % 4096, 0);
        for (int k = 0; k < 4 * N; k++)
            T_EQ(holds(c + k, 1, 0), 1);
        T_EQ(holds(z, 1, 0), 1);
        T_TRUE(space_of(a) == both[i] && space_of(z) == both[i]);
        shmem_space_free(both[i], c);
        shmem_space_free(both[i], a);
        shmem_space_free(both[i], z);
        T_TRUE(!shmem_space_malloc(both[i], 0));
        T_TRUE(!shmem_space_calloc(both[i], SIZE_MAX, 8));
    }
}

T(a_block_is_freed_by_any_name)
{
    void *first = shmem_space_malloc(SHMEM_SPACE_GPU, 1 << 20), *p;

    shmem_free(first);
    for (int form = 0; form < 5; form++) {
        p = shmem_space_malloc(SHMEM_SPACE_GPU, 1 << 20);
        T_EQ(p, first);         /* the one before is free again */
        if (form == 0)
            shmem_free(p);
        else if (form == 1)
            shmem_space_free(SHMEM_SPACE_GPU, p);
        else if (form == 2)
            shmem_space_free(p);
        else if (form == 3)
            shmemg_free(p);
        else
            shmem_space_free(SHMEM_SPACE_CPU, p);   /* another space */
    }
    shmem_free(NULL);
    shmemg_free(NULL);
    shmem_space_free(SHMEM_SPACE_GPU, NULL);
}

T(a_block_keeps_its_content_when_it_grows_and_moves)
{
    long *p = shmem_space_malloc(SHMEM_SPACE_GPU, N * sizeof *p), *q;
    long *wall = shmem_space_malloc(SHMEM_SPACE_GPU, 64);

    store(p, N, 100);
    shmem_barrier_all();
    q = shmem_realloc(p, 100 * N * sizeof *p);
    T_TRUE(q && q != p && space_of(q) == SHMEM_SPACE_GPU);
    T_EQ(holds(q, N, 100), N);
    p = shmem_space_realloc(SHMEM_SPACE_CPU, q, N * sizeof *p);
    T_TRUE(p && space_of(p) == SHMEM_SPACE_CPU);
    T_EQ(holds(p, N, 100), N);
    q = shmem_space_realloc(SHMEM_SPACE_GPU, p, 2 * N * sizeof *p);
    T_TRUE(q && space_of(q) == SHMEM_SPACE_GPU);
    T_EQ(holds(q, N, 100), N);
    T_TRUE(!shmem_space_realloc(SHMEM_SPACE_GPU, q, 0));
    q = shmem_space_realloc(SHMEM_SPACE_GPU, NULL, 64);
    T_TRUE(space_of(q) == SHMEM_SPACE_GPU);
    shmem_free(q);
    shmem_free(wall);
}

T(an_invalid_space_gives_nothing)
{
    const shmem_space_t bad = SHMEM_SPACE_INVALID;
    shmem_space_t out = SHMEM_SPACE_CPU;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    shmem_device_type_t type;
    shmem_space_cap_t caps;
    long *p = shmem_malloc(sizeof *p);

    T_TRUE(!shmem_space_malloc(bad, 8));
    T_TRUE(!shmem_space_calloc(bad, 1, 8));
    T_TRUE(!shmem_space_align(bad, 64, 8));
    T_TRUE(!shmem_space_realloc(bad, p, 8));
    shmem_space_free(bad, p);
    T_TRUE(space_of(p) == SHMEM_SPACE_CPU);
    T_NE(shmem_space_is_available(bad), 0);
    T_EQ(shmemx_space_usable(bad), 0);
    T_TRUE(!shmem_space_ptr(bad, p, 0));
    T_NE(shmem_space_destroy(bad), 0);
    T_NE(shmem_space_destroy(SHMEM_SPACE_GPU), 0);
    T_NE(shmem_space_get_team(bad, &team), 0);
    T_NE(shmem_space_get_device_type(bad, &type), 0);
    T_NE(shmem_space_get_caps(bad, &caps), 0);
    T_EQ(shmem_space_get_team(SHMEM_SPACE_CPU, NULL), -EINVAL);
    T_EQ(shmem_space_get_device_type(SHMEM_SPACE_CPU, NULL), -EINVAL);
    T_EQ(shmem_space_get_caps(SHMEM_SPACE_CPU, NULL), -EINVAL);
    T_EQ(shmem_team_get_space(SHMEM_TEAM_WORLD, NULL), -EINVAL);
    T_NE(shmem_team_get_space(SHMEM_TEAM_INVALID, &out), 0);
    T_TRUE(out == SHMEM_SPACE_CPU && team == SHMEM_TEAM_WORLD);
    T_TRUE(shmemx_space_team(bad) == SHMEM_TEAM_INVALID);
    /* Nor does a pointer that is no space. */
    T_TRUE(!shmem_space_malloc((shmem_space_t)p, 8));
    shmem_free(p);
}

T(addresses_are_accessible_and_the_processor_gets_its_own)
{
    int me = shmem_my_pe(), other = (me + 1) % shmem_n_pes();
    long *d = shmem_space_malloc(SHMEM_SPACE_GPU, sizeof *d), *at;
    long *h = shmem_malloc(sizeof *h);
    shmem_space_cap_t caps = 0;

    T_EQ(shmem_space_get_caps(SHMEM_SPACE_GPU, &caps), 0);
    T_TRUE(caps & SHMEM_SPACE_CAP_RMA && caps & SHMEM_SPACE_CAP_COLLECTIVES);
    T_TRUE(!(caps & SHMEM_SPACE_CAP_IDENT_ADDR));
    T_EQ(shmem_addr_accessible(d, other), 1);
    T_TRUE(shmem_space_ptr(SHMEM_SPACE_CPU, h, me) == h);
    T_TRUE(!shmem_space_ptr(SHMEM_SPACE_GPU, h, me));
    T_TRUE(!shmem_space_ptr(SHMEM_SPACE_CPU, d, me));
    T_TRUE(shmem_space_ptr(SHMEM_SPACE_GPU, d, other) == shmem_ptr(d, other));
    T_TRUE(shmem_team_ptr(SHMEM_TEAM_WORLD, d, me) == shmem_ptr(d, me));
    at = shmem_ptr(d, me);
    if (caps & SHMEM_SPACE_CAP_DIRECT_ACCESS) {
        T_EQ(at, d);
        *at = 5;
        T_EQ(shmem_long_g(d, me), 5);
    } else {
        T_TRUE(!at && !shmem_ptr(d, other));
    }
    T_EQ(shmemx_device_ptr(d, me), d);
    T_TRUE(!shmemx_device_ptr(d, -1));
    T_TRUE(!shmemx_device_ptr(&me, me));
    if (shmem_ptr(h, other))
        T_TRUE(shmemx_device_ptr(d, other) != NULL);
    shmem_free(h);
    shmem_free(d);
}

T(host_memory_is_the_devices_where_it_reaches_it)
{
    int me = shmem_my_pe();
    long *h = shmem_malloc(sizeof *h), *at = shmemx_device_ptr(h, me);
    const char *device = getenv("SHMEM_DEVICE");

    /* The software device's kernels are threads. */
    if (!device || !strcmp(device, "software"))
        T_EQ(at, h);
    else
        T_TRUE(!at || at == h);
    shmem_free(h);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(predefined_spaces_are_what_their_names_say);
    T_RUN(a_block_lies_in_the_space_it_was_asked_from);
    T_RUN(each_way_of_allocating_fills_and_aligns_as_its_name_says);
    T_RUN(a_block_is_freed_by_any_name);
    T_RUN(a_block_keeps_its_content_when_it_grows_and_moves);
    T_RUN(an_invalid_space_gives_nothing);
    T_RUN(addresses_are_accessible_and_the_processor_gets_its_own);
    T_RUN(host_memory_is_the_devices_where_it_reaches_it);
    shmem_finalize();
    return T_DONE();
}
