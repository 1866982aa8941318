/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: numbers of members and world PEs are each other's inverse, also
 * for strides below one, and only triplets within the parent are teams. */
#include "unit.h"

#include "core/core_team.h"

#include <errno.h>
#include <limits.h>

enum { WORLD = 40 };

T(members_and_world_numbers_are_inverse)
{
    for (int start = 0; start < WORLD; start++)
        for (int stride = -WORLD; stride <= WORLD; stride++)
            for (int n = 1; n < 8; n++) {
                struct core_team t = {
                    .n_pes = n, .start = start, .stride = stride
                };
                int member[WORLD], last = start + (n - 1) * stride;

                if (last < 0 || last >= WORLD || (stride == 0 && n > 1))
                    continue;
                memset(member, 0xff, sizeof member);
                for (int i = 0; i < n; i++)
                    member[core_team_world_pe(&t, i)] = i;
                for (int pe = 0; pe < WORLD; pe++)
                    if (core_team_member(&t, pe) != member[pe])
                        T_EQ(core_team_member(&t, pe), member[pe]);
            }
}

T(a_triplet_lies_within_its_parent)
{
    struct core_team p = { .n_pes = 10, .stride = 3, .start = 5 };

    for (int start = -3; start < 13; start++)
        for (int stride = -12; stride < 13; stride++)
            for (int n = -2; n < 13; n++) {
                bool inside = n >= 1 && (stride || n == 1);

                for (int i = 0; i < n; i++)
                    inside = inside && start + i * stride >= 0 &&
                             start + i * stride < 10;
                if (core_team_triplet(&p, start, stride, n) !=
                    (inside ? 0 : -EINVAL)) {
                    fprintf(stderr, "%d, %d, %d:\n", start, stride, n);
                    T_EQ(core_team_triplet(&p, start, stride, n),
                         inside ? 0 : -EINVAL);
                }
            }
    /* Products beyond an int. */
    T_EQ(core_team_triplet(&p, 0, INT_MAX, 3), -EINVAL);
    T_EQ(core_team_triplet(&p, 0, 65536, 65537), -EINVAL);
    T_EQ(core_team_triplet(&p, 0, 1 << 30, 5), -EINVAL);
    T_EQ(core_team_triplet(&p, 9, INT_MIN, 3), -EINVAL);
    T_EQ(core_team_triplet(&p, 0, 1, INT_MAX), -EINVAL);
    T_EQ(core_team_triplet(&p, 0, 1, INT_MIN), -EINVAL);
    T_EQ(core_team_triplet(&p, INT_MAX, 1, 1), -EINVAL);
    T_EQ(core_team_triplet(&p, INT_MIN, 1, 1), -EINVAL);
    T_EQ(core_team_triplet(&p, 3, INT_MAX, 1), 0);
}

T(rounds_reach_everybody)
{
    for (int n = 1; n < 5000; n++) {
        int rounds = core_team_rounds(n);

        T_LE(n, 1 << rounds);
        if (rounds)
            T_LT(1 << (rounds - 1), n);
    }
    T_EQ(core_team_rounds(INT_MAX), 31);
    T_LT(core_team_rounds(INT_MAX), CORE_ROUNDS);
}

T(a_team_is_known_while_it_exists)
{
    struct core_team *a, *b, fake = { .n_pes = 3 };

    core_world.n_pes = 8;
    core_world.my_pe = 5;
    T_EQ(xport_open(8), 0);
    a = core_team_new(1, 2, 3);
    b = core_team_new(6, -1, 4);
    if (!a || !b) {
        T_TRUE(a && b);
        return;
    }
    T_EQ(a->my_pe, 2);
    T_EQ(b->my_pe, 1);
    T_TRUE(core_team_known(a) && core_team_known(b));
    T_TRUE(core_team_known(&core_world) && core_team_known(&core_shared));
    T_TRUE(!core_team_known(&fake));
    core_team_free(a);
    T_TRUE(!core_team_known(a));
    T_TRUE(core_team_known(b));
    a = core_team_new(0, 2, 3);
    T_EQ(a->my_pe, -1);
    core_team_free_all();
    T_TRUE(!core_team_known(b));
    T_TRUE(core_team_known(&core_world));
    xport_close();
}

static const uint32_t *table(uint32_t a, uint32_t b, uint32_t c)
{
    static uint32_t t[3];

    t[0] = a;
    t[1] = b;
    t[2] = c;
    return t;
}

/* Three PEs mapped at three places; their words are found there. */
T(words_are_found_wherever_they_lie)
{
    static _Alignas(64) char heap[3][1 << 16];
    struct core_team *t;

    T_EQ(xport_open(6), 0);
    for (int i = 0; i < 3; i++)
        xport_routes[2 * i + 1].map[HEAP_HOST] = (uintptr_t)heap[i];
    t = core_team_new(1, 2, 3);
    core_team_set_areas(t, table(5, 5, 5));
    T_EQ(t->area_of, NULL);
    for (int i = 0; i < 3; i++)
        T_EQ(core_team_area_of(t, i), heap[i] + 5 * 64);
    core_team_free(t);
    t = core_team_new(1, 2, 3);
    core_team_set_areas(t, table(5, 9, 5));
    T_EQ(core_team_area_of(t, 0), heap[0] + 5 * 64);
    T_EQ(core_team_area_of(t, 1), heap[1] + 9 * 64);
    T_EQ(core_team_area_of(t, 2), heap[2] + 5 * 64);
    core_team_free(t);
    xport_close();
}

/* Every (parity, round) has its own bytes, behind the words and within what
 * core_team_area_size() asks for. */
T(scratch_pieces_do_not_overlap)
{
    static _Alignas(64) char heap[1 << 18];
    struct core_team t = { .stride = 1 };
    char *at, *next = NULL;

    T_EQ(xport_open(1), 0);
    xport_routes[0].map[HEAP_HOST] = (uintptr_t)heap;
    for (t.n_pes = 1; t.n_pes < 3000; t.n_pes = t.n_pes * 2 + 1) {
        next = (char *)(core_team_area_of(&t, 0) + 1);
        for (unsigned parity = 0; parity < 2; parity++)
            for (int r = 0; r <= core_team_rounds(t.n_pes); r++) {
                at = core_team_scratch(&t, 0, parity, r);
                T_EQ(at, next);
                next = at + CORE_PIECE;
            }
        T_EQ(next - heap, core_team_area_size(t.n_pes));
    }
    T_LT(next - heap, (long)sizeof heap);
    xport_close();
}

T(handles_name_the_predefined_teams)
{
    struct core_team other;

    T_EQ(core_team_get(SHMEM_TEAM_WORLD), &core_world);
    T_EQ(core_team_get(SHMEM_TEAM_SHARED), &core_shared);
    T_EQ(core_team_get(SHMEM_TEAM_INVALID), NULL);
    T_EQ(core_team_handle(&core_world), SHMEM_TEAM_WORLD);
    T_EQ(core_team_handle(&core_shared), SHMEM_TEAM_SHARED);
    T_EQ(core_team_handle(NULL), SHMEM_TEAM_INVALID);
    T_EQ(core_team_get(core_team_handle(&other)), &other);
}

int main(void)
{
    T_RUN(members_and_world_numbers_are_inverse);
    T_RUN(a_triplet_lies_within_its_parent);
    T_RUN(rounds_reach_everybody);
    T_RUN(a_team_is_known_while_it_exists);
    T_RUN(words_are_found_wherever_they_lie);
    T_RUN(scratch_pieces_do_not_overlap);
    T_RUN(handles_name_the_predefined_teams);
    return T_DONE();
}
