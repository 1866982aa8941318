/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: waits and tests compare as C does, for each type, operator and
 * value near an edge, and searches of a set leave no member out. */
#include "unit.h"

#include "core/core_cmp.h"

#include <limits.h>

static const int ops[] = {
    SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT,
    SHMEM_CMP_LE
};
enum { OPS = 6 };

/* Bit patterns whose reading as any type is near an edge, and some others. */
static const uint64_t patterns[] = {
    0, 1, 2, 0x7e, 0x7f, 0x80, 0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001,
    0xffff, 0x10000, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
    0xfffffffe, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
    0x8000000000000000, 0x8000000000000001, 0xffffffff80000000,
    0xffffffffffff8000, 0xfffffffffffffffe, 0xffffffffffffffff,
    0x123456789abcdef0, 0xfedcba9876543210
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* The order in C of a and b: one engine's answer must be the same. */
#define DEFINE(NAME, T)                                                     \
    static bool plain_##NAME(T a, int op, T b)                              \
    {                                                                       \
        return op == SHMEM_CMP_EQ ? a == b : op == SHMEM_CMP_NE ? a != b :  \
               op == SHMEM_CMP_GT ? a > b : op == SHMEM_CMP_GE ? a >= b :   \
               op == SHMEM_CMP_LT ? a < b : a <= b;                         \
    }                                                                       \
    static void try_##NAME(T a, int op, T b)                                \
    {                                                                       \
        bool want = plain_##NAME(a, op, b);                                 \
        struct core_wait_set s = {                                          \
            .ivars = &a, .n = 1, .cmp = op, .values = &b,                   \
            .elem_size = sizeof(T), .is_signed = (T)-1 < (T)1               \
        };                                                                  \
                                                                            \
        if (core_cmp_holds(CORE_KEY(T, a), op, CORE_KEY(T, b)) != want ||   \
            core_wait_set_all(&s) != want) {                                \
            fprintf(stderr, #T ": %lld and %lld, comparison %d\n",          \
                    (long long)a, (long long)b, op);                        \
            T_EQ(core_cmp_holds(CORE_KEY(T, a), op, CORE_KEY(T, b)), want); \
            T_EQ(core_wait_set_all(&s), want);                              \
        }                                                                   \
    }                                                                       \
    static void all_##NAME(void)                                            \
    {                                                                       \
        for (int o = 0; o < OPS; o++)                                       \
            for (int i = 0; i < PATTERNS; i++)                              \
                for (int j = 0; j < PATTERNS; j++)                          \
                    try_##NAME((T)patterns[i], ops[o], (T)patterns[j]);     \
    }
SHMEMI_AMO_TYPES(DEFINE)
SHMEMI_WAIT_OLD_TYPES(DEFINE)

T(every_type_and_operator_compares_as_in_c)
{
#define CALL(NAME, T) all_##NAME();
    SHMEMI_AMO_TYPES(CALL)
    SHMEMI_WAIT_OLD_TYPES(CALL)
}

/* ---- sets ---- */

enum { N = 9 };
static int ivars[N];
static int status[N];

static struct core_wait_set set_of(int cmp, const int *values, bool each)
{
    return (struct core_wait_set){
        .ivars = ivars, .n = N, .status = status, .cmp = cmp,
        .values = values, .each_value = each, .elem_size = sizeof(int),
        .is_signed = true
    };
}

T(random_sets_agree_with_a_loop)
{
    size_t got[N], want[N], n, one;
    bool empty, none;
    int values[N];

    for (int round = 0; round < 20000; round++) {
        bool each = T_RAND() % 2;
        struct core_wait_set s = set_of(ops[T_RAND() % OPS], values, each);

        n = 0;
        none = true;
        for (int i = 0; i < N; i++) {
            ivars[i] = (int)(T_RAND() % 3) - 1;
            values[i] = (int)(T_RAND() % 3) - 1;
            status[i] = T_RAND() % 3 == 0 ? (int)(T_RAND() | 1) : 0;
        }
        if (round % 50 == 0)    /* none */
            memset(status, 0xff, sizeof status);
        for (int i = 0; i < N; i++) {
            if (status[i])
                continue;
            none = false;
            if (plain_int(ivars[i], s.cmp, values[each ? i : 0]))
                want[n++] = (size_t)i;
        }
        memset(got, 0xff, sizeof got);
        empty = !none;
        T_EQ(core_wait_set_some(&s, got, &empty), n);
        T_EQ(empty, none);
        T_MEM(got, want, n * sizeof *got);
        empty = !none;
        one = core_wait_set_any(&s, &empty);
        T_EQ(empty, none);
        if (n)
            T_TRUE(one < N && !status[one] &&
                   plain_int(ivars[one], s.cmp, values[each ? one : 0]));
        else
            T_EQ(one, SIZE_MAX);
        one = 0;
        for (int i = 0; i < N; i++)
            one += status[i] == 0;
        T_EQ(core_wait_set_all(&s), n == one);
    }
}

T(a_set_of_nothing_is_empty_and_complete)
{
    int value = 1;
    struct core_wait_set s = set_of(SHMEM_CMP_EQ, &value, false);
    size_t index = 7;
    bool empty = false;

    s.n = 0;
    s.ivars = NULL;
    s.status = NULL;
    T_EQ(core_wait_set_all(&s), 1);
    T_EQ(core_wait_set_any(&s, &empty), SIZE_MAX);
    T_TRUE(empty);
    empty = false;
    T_EQ(core_wait_set_some(&s, &index, &empty), 0);
    T_TRUE(empty);
    T_EQ(index, 7);
}

/* Each that stays satisfied is found by a caller that asks again and again,
 * also when it asks of a second set in between. */
static void search_again(size_t n, bool two_sets)
{
    static uint64_t many[64], value = 5;
    struct core_wait_set s = {
        .ivars = many, .n = n, .cmp = SHMEM_CMP_EQ, .values = &value,
        .elem_size = 8
    }, other = s;
    int found[64] = { 0 };
    size_t i;
    bool empty;

    other.n = 3;
    for (i = 0; i < n; i++)
        many[i] = value;
    for (size_t searches = 0; searches < 8 * n; searches++) {
        i = core_wait_set_any(&s, &empty);
        if (!T_LT(i, n))
            return;
        found[i]++;
        if (two_sets)
            T_LT(core_wait_set_any(&other, &empty), 3);
    }
    for (i = 0; i < n; i++)
        T_LT(0, found[i]);
}

T(a_satisfied_element_hides_no_other)
{
    for (size_t n = 1; n <= 64; n++) {
        search_again(n, false);
        search_again(n, true);
    }
}

int main(void)
{
    T_RUN(every_type_and_operator_compares_as_in_c);
    T_RUN(random_sets_agree_with_a_loop);
    T_RUN(a_set_of_nothing_is_empty_and_complete);
    T_RUN(a_satisfied_element_hides_no_other);
    return T_DONE();
}
