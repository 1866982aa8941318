/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: splits of random teams have the members, numbers and
 * translations of a model, and destroyed teams give their memory back.
 * PEs: 1 2 4 7 16 */
#include "../t.h"

#include <limits.h>
#include <shmem.h>

enum { DEPTH = 4, ROUNDS = 60, MANY = 3000 };

struct model {
    shmem_team_t team;
    int n, start, stride;       /* in world numbers */
};

/* Where world PE pe is in the model's team, or -1. */
static int number_in(const struct model *m, int pe)
{
    for (int i = 0; i < m->n; i++)
        if (m->start + i * m->stride == pe)
            return i;
    return -1;
}

static void check_team(const struct model *m)
{
    int me = number_in(m, shmem_my_pe()), world = shmem_n_pes();

    if (me < 0) {
        T_TRUE(m->team == SHMEM_TEAM_INVALID);
        T_EQ(shmem_team_my_pe(m->team), -1);
        T_EQ(shmem_team_n_pes(m->team), -1);
        return;
    }
    T_EQ(shmem_team_my_pe(m->team), me);
    T_EQ(shmem_team_n_pes(m->team), m->n);
    for (int i = -1; i <= m->n; i++)
        T_EQ(shmem_team_translate_pe(m->team, i, SHMEM_TEAM_WORLD),
             i < 0 || i == m->n ? -1 : m->start + i * m->stride);
    for (int pe = 0; pe < world; pe++)
        T_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, m->team),
             number_in(m, pe));
    T_EQ(shmem_team_sync(m->team), 0);
}

/* The same draw on all PEs: T_RAND follows one seed. */
static void draw(const struct model *parent, struct model *out, int *start,
                 int *stride, int *size)
{
    do {
        *start = (int)(T_RAND() % (unsigned)parent->n);
        *stride = (int)(T_RAND() % 9) - 4;
        *size = 1 + (int)(T_RAND() % (unsigned)parent->n);
    } while (*start + *stride * (*size - 1) < 0 ||
             *start + *stride * (*size - 1) >= parent->n ||
             (*stride == 0 && *size != 1));
    out->n = *size;
    out->start = parent->start + *start * parent->stride;
    out->stride = parent->stride * *stride;
}

T(strided)
{
    struct model m[DEPTH + 1] = {
        { SHMEM_TEAM_WORLD, shmem_n_pes(), 0, 1 }
    };
    int start, stride, size, depth;

    for (int r = 0; r < ROUNDS; r++) {
        for (depth = 0; depth < DEPTH; depth++) {
            draw(&m[depth], &m[depth + 1], &start, &stride, &size);
            /* A PE outside has no parent to split; the others go on. */
            if (m[depth].team == SHMEM_TEAM_INVALID) {
                m[depth + 1].team = SHMEM_TEAM_INVALID;
                continue;
            }
            T_EQ(shmem_team_split_strided(m[depth].team, start, stride, size,
                                          NULL, 0, &m[depth + 1].team), 0);
            check_team(&m[depth + 1]);
        }
        while (depth > 0)
            shmem_team_destroy(m[depth--].team);
        shmem_barrier_all();
    }
}

/* Of one PE, of a team whose own stride multiplies. */
T(any_stride_of_one)
{
    static const int strides[] = { 0, 5, INT_MAX, INT_MIN };
    int half = (shmem_n_pes() + 1) / 2;
    shmem_team_t even, one;

    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, half > 1 ? 2 : 1, half,
                                  NULL, 0, &even), 0);
    for (int i = 0; i < 4 && even != SHMEM_TEAM_INVALID; i++) {
        T_EQ(shmem_team_split_strided(even, half - 1, strides[i], 1, NULL, 0,
                                      &one), 0);
        T_EQ(one != SHMEM_TEAM_INVALID,
             shmem_team_my_pe(even) == half - 1);
        if (one == SHMEM_TEAM_INVALID)
            continue;
        T_EQ(shmem_team_n_pes(one), 1);
        T_EQ(shmem_team_translate_pe(one, 0, even), half - 1);
        shmem_team_sync(one);
        shmem_team_destroy(one);
    }
    shmem_team_destroy(even);
}

T(rows_and_columns)
{
    int n = shmem_n_pes(), me = shmem_my_pe();

    for (int range = 1; range <= n + 2; range++) {
        struct model x, y;
        int width = range < n ? range : n, row = me / width, col = me % width;

        T_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, range, NULL, 0, &x.team,
                                 NULL, 0, &y.team), 0);
        x.start = row * width;
        x.stride = 1;
        x.n = n - x.start < width ? n - x.start : width;
        y.start = col;
        y.stride = width;
        y.n = (n - col + width - 1) / width;
        check_team(&x);
        check_team(&y);
        shmem_team_destroy(x.team);
        shmem_team_destroy(y.team);
    }
}

T(invalid_arguments)
{
    shmem_team_t t = SHMEM_TEAM_WORLD, u = SHMEM_TEAM_WORLD;
    int n = shmem_n_pes();
    static const int bad[][3] = {
        { 0, 1, 0 }, { 0, 1, -1 }, { -1, 1, 1 }, { 0, 0, 2 }, { 0, -1, 2 }
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        T_NE(shmem_team_split_strided(SHMEM_TEAM_WORLD, bad[i][0], bad[i][1],
                                      bad[i][2], NULL, 0, &t), 0);
        T_TRUE(t == SHMEM_TEAM_INVALID);
    }
    T_NE(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &t),
         0);
    T_NE(shmem_team_split_strided(SHMEM_TEAM_WORLD, n, 1, 1, NULL, 0, &t), 0);
    T_NE(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &t),
         0);
    T_NE(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &t, NULL, 0, &u),
         0);
    T_TRUE(t == SHMEM_TEAM_INVALID && u == SHMEM_TEAM_INVALID);
    T_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
    T_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

T(configuration)
{
    shmem_team_config_t c = { 7 }, got = { -1 };
    shmem_team_t t;

    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), &c,
                                  SHMEM_TEAM_NUM_CONTEXTS, &t), 0);
    T_EQ(shmem_team_get_config(t, 0, NULL), 0);
    T_EQ(shmem_team_get_config(t, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    T_EQ(got.num_contexts, 7);
    T_NE(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS,
                               &got), 0);
    shmem_team_destroy(t);
}

/* Contexts number PEs as their team does. */
T(contexts)
{
    static long from;
    int n = shmem_n_pes(), me = shmem_my_pe();
    shmem_team_t t, of;
    shmem_ctx_t ctx;

    T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &t),
         0);
    T_EQ(shmem_team_create_ctx(t, 0, &ctx), 0);
    T_EQ(shmem_ctx_get_team(ctx, &of), 0);
    T_TRUE(of == t);
    T_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of), 0);
    T_TRUE(of == SHMEM_TEAM_WORLD);
    T_NE(shmem_ctx_get_team(SHMEM_CTX_INVALID, &of), 0);
    T_TRUE(of == SHMEM_TEAM_INVALID);
    T_NE(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx), 0);
    T_TRUE(ctx == SHMEM_CTX_INVALID);
    T_EQ(shmem_team_create_ctx(t, SHMEM_CTX_NOSTORE, &ctx), 0);
    from = -1;
    shmem_barrier_all();
    shmem_ctx_long_p(ctx, &from, me, me);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    T_EQ(from, n - 1 - me);
    T_EQ(shmem_ctx_long_g(ctx, &from, n - 1 - me), n - 1 - me);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_destroy(ctx);
    for (int pe = 0; pe < n; pe++)
        T_TRUE(shmem_team_ptr(t, &from, pe) == shmem_ptr(&from, n - 1 - pe));
    T_TRUE(shmem_team_ptr(SHMEM_TEAM_INVALID, &from, 0) == NULL);
    shmem_team_destroy(t);
}

/* Thousands at once, and again after they are gone. */
T(many)
{
    static shmem_team_t teams[MANY];
    int n = shmem_n_pes(), most = n > 8 ? MANY / 2 : MANY;  /* by memory */

    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < most; i++) {
            T_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, i % n, 1,
                                          n - i % n, NULL, 0, &teams[i]), 0);
            T_TRUE((teams[i] != SHMEM_TEAM_INVALID) ==
                   (shmem_my_pe() >= i % n));
        }
        for (int i = 0; i < most; i++)
            shmem_team_destroy(teams[i]);
    }
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), shmem_n_pes());
    T_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), shmem_my_pe());
    T_LE(shmem_team_n_pes(SHMEM_TEAM_SHARED), shmem_n_pes());
    T_RUN(strided);
    T_RUN(any_stride_of_one);
    T_RUN(rows_and_columns);
    T_RUN(invalid_arguments);
    T_RUN(configuration);
    T_RUN(contexts);
    T_RUN(many);
    shmem_finalize();
    return T_DONE();
}
