/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a program makes spaces of either memory, allocates in them,
 * splits their teams, and destroys them when no team of them is left.
 * PEs: 1 2 4
 * Ppn: 2/1 */
#include "calls.h"
#include <errno.h>
#include <shmemg.h>

enum { SIZE = 1 << 20, N = 16 };

static void check_space(shmem_device_type_t type)
{
    const shmem_space_config_t config = { .device_type = type, .size = SIZE };
    shmem_space_t s = SHMEM_SPACE_INVALID, got;
    shmem_team_t team = SHMEM_TEAM_INVALID, part, same;
    shmem_device_type_t of;
    long *p, *all;

    T_EQ(shmem_space_create(&config, &s, &team), 0);
    T_EQ(shmem_team_n_pes(team), shmem_n_pes());
    T_EQ(shmem_team_get_space(team, &got), 0);
    T_TRUE(got == s && s != SHMEM_SPACE_INVALID && s != SHMEM_SPACE_GPU);
    T_EQ(shmem_space_get_team(s, &same), 0);
    T_TRUE(same == team);
    T_EQ(shmem_space_get_device_type(s, &of), 0);
    T_EQ(of, type);
    T_EQ(shmem_space_is_available(s), 0);

    all = shmem_space_malloc(s, SIZE);
    T_TRUE(all && space_of(all) == s);
    T_TRUE(!shmem_space_malloc(s, 64));         /* that was all of it */
    shmem_free(all);
    p = shmem_space_calloc(s, N, sizeof *p);
    T_TRUE(p && space_of(p) == s);
    store(p, N, 10);
    shmem_team_sync(team);
    T_EQ(shmem_long_g(p + 3, (shmem_my_pe() + 1) % shmem_n_pes()), 13);
    shmem_team_sync(team);

    T_EQ(shmem_space_destroy(s), -EBUSY);
    /* A part of it that only one PE is in keeps it alive on all. */
    T_EQ(shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &part), 0);
    if (part != SHMEM_TEAM_INVALID) {
        T_EQ(shmem_team_get_space(part, &got), 0);
        T_TRUE(got == s);
    }
    shmem_team_destroy(team);
    T_EQ(shmem_space_destroy(s), -EBUSY);
    shmem_team_destroy(part);
    T_EQ(shmem_space_destroy(s), 0);
    T_NE(shmem_space_is_available(s), 0);
    T_TRUE(space_of(p) != s);
    T_NE(shmem_space_destroy(s), 0);
}

T(spaces_of_host_memory)
{
    check_space(SHMEM_DEVICE_CPU);
}

T(spaces_of_device_memory)
{
    check_space(SHMEM_DEVICE_GPU);
}

T(what_cannot_be_had_is_refused_on_all)
{
    shmem_space_config_t config = { SHMEM_DEVICE_CPU, (size_t)1 << 50, 0 };
    shmem_space_t s = SHMEM_SPACE_INVALID;
    shmem_team_t team = SHMEM_TEAM_INVALID;

    T_EQ(shmem_space_create(&config, &s, &team), -ENOMEM);
    config.size = SIZE_MAX;
    T_EQ(shmem_space_create(&config, &s, &team), -ENOMEM);
    config.device_type = SHMEM_DEVICE_GPU;
    T_EQ(shmem_space_create(&config, &s, &team), -ENOMEM);
    config.size = 0;
    T_EQ(shmem_space_create(&config, &s, &team), -EINVAL);
    config.size = SIZE;
    config.flags = 64;
    T_EQ(shmem_space_create(&config, &s, &team), -EINVAL);
    config.flags = 0;
    config.device_type = (shmem_device_type_t)7;
    T_EQ(shmem_space_create(&config, &s, &team), -EINVAL);
    T_TRUE(s == SHMEM_SPACE_INVALID && team == SHMEM_TEAM_INVALID);
}

T(a_default_space_takes_what_shmem_malloc_allocates)
{
    const shmem_space_config_t config = {
        SHMEM_DEVICE_GPU, SIZE, SHMEM_SPACE_FLAG_DEFAULT
    };
    shmem_space_t s, got;
    shmem_team_t team;
    void *p;

    T_EQ(shmem_space_create(&config, &s, NULL), 0);
    T_TRUE(SHMEM_SPACE_DEFAULT == s);
    p = shmem_malloc(64);
    T_TRUE(space_of(p) == s);
    T_EQ(shmem_team_get_space(SHMEM_TEAM_WORLD, &got), 0);
    T_TRUE(got == s);
    T_EQ(shmem_space_get_team(s, &team), 0);    /* none was made */
    T_TRUE(team == SHMEM_TEAM_WORLD);
    T_EQ(shmem_space_destroy(s), 0);
    T_TRUE(SHMEM_SPACE_DEFAULT == SHMEM_SPACE_CPU);
    p = shmem_malloc(64);
    T_TRUE(space_of(p) == SHMEM_SPACE_CPU);
    shmem_free(p);
}

T(teams_of_the_predefined_spaces)
{
    shmem_space_t s = SHMEM_SPACE_INVALID;

    T_EQ(shmem_team_n_pes(SHMEM_TEAM_CPU), shmem_n_pes());
    T_EQ(shmem_team_my_pe(SHMEM_TEAM_GPU), shmem_my_pe());
    T_TRUE(SHMEM_TEAM_GPU == SHMEM_DEVICE_TEAM_WORLD);
    T_EQ(shmem_team_get_space(SHMEM_TEAM_CPU, &s), 0);
    T_TRUE(s == SHMEM_SPACE_CPU);
    T_EQ(shmem_team_get_space(SHMEM_TEAM_GPU, &s), 0);
    T_TRUE(s == SHMEM_SPACE_GPU);
}

T(an_odd_size_is_one_block)
{
    const shmem_space_config_t config = { SHMEM_DEVICE_CPU, 101, 0 };
    shmem_space_t s;
    void *p;

    T_EQ(shmem_space_create(&config, &s, NULL), 0);
    p = shmem_space_malloc(s, 101);
    T_TRUE(p && space_of(p) == s);
    T_EQ(shmem_space_destroy(s), 0);    /* with its block */
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(spaces_of_host_memory);
    T_RUN(spaces_of_device_memory);
    T_RUN(what_cannot_be_had_is_refused_on_all);
    T_RUN(a_default_space_takes_what_shmem_malloc_allocates);
    T_RUN(teams_of_the_predefined_spaces);
    T_RUN(an_odd_size_is_one_block);
    shmem_finalize();
    return T_DONE();
}
