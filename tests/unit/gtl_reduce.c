/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the device combines elements of every type by every operation
 * as the processor does, at every length, in place, and for the odd values of
 * a type; what has no meaning is refused. */
#include "gtl_test.h"

#include "coll/coll.h"

#include <complex.h>
#include <float.h>
#include <math.h>

enum { MOST = 1100, ROOM = MOST * 16 };

static const size_t lengths[] = { 0, 1, 2, 31, 64, 65, 257, MOST };
static const size_t sizes[COLL_TYPES] = {
    1, 2, 4, 8, 1, 2, 4, 8, sizeof(float), sizeof(double),
    sizeof(long double), sizeof(float complex), sizeof(double complex)
};
static const enum coll_type host_type[GTL_TYPES] = {
    [GTL_I8] = COLL_I8, [GTL_I16] = COLL_I16, [GTL_I32] = COLL_I32,
    [GTL_I64] = COLL_I64, [GTL_U8] = COLL_U8, [GTL_U16] = COLL_U16,
    [GTL_U32] = COLL_U32, [GTL_U64] = COLL_U64, [GTL_FLOAT] = COLL_FLOAT,
    [GTL_DOUBLE] = COLL_DOUBLE, [GTL_COMPLEXF] = COLL_COMPLEXF,
    [GTL_COMPLEXD] = COLL_COMPLEXD
};
static const enum coll_ops host_op[GTL_REDUCTIONS] = {
    [GTL_RED_AND] = COLL_AND, [GTL_RED_OR] = COLL_OR,
    [GTL_RED_XOR] = COLL_XOR, [GTL_RED_MAX] = COLL_MAX,
    [GTL_RED_MIN] = COLL_MIN, [GTL_RED_SUM] = COLL_SUM,
    [GTL_RED_PROD] = COLL_PROD
};

static _Alignas(16) char a[ROOM], b[ROOM], want[ROOM], got[ROOM];
static char *there;             /* room for three */

static const double odd[] = {
    0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX,
    FLT_MIN, FLT_TRUE_MIN, 1.5, DBL_MAX, DBL_TRUE_MIN
};

static double some_number(void)
{
    uint64_t r = T_RAND();

    return r % 2 ? odd[r / 2 % (sizeof odd / sizeof *odd)]
                 : (double)(int64_t)T_RAND() / (1 << (r >> 40) % 30);
}

static void fill(char *to, enum gtl_type type)
{
    static const uint64_t edges[] = {
        0, 1, 0x7f80, 0x80, 0x7fff8000, 0x8000000000000000, UINT64_MAX
    };
    uint64_t r, w;

    for (size_t i = 0; i < ROOM; i += 8) {
        r = T_RAND();
        w = r % 3 ? T_RAND() : edges[r / 3 % 7];
        memcpy(to + i, &w, 8);
    }
    if (type == GTL_FLOAT || type == GTL_COMPLEXF)
        for (size_t i = 0; i < ROOM / sizeof(float); i++)
            ((float *)(void *)to)[i] = (float)some_number();
    else if (type >= GTL_FLOAT)
        for (size_t i = 0; i < ROOM / sizeof(double); i++)
            ((double *)(void *)to)[i] = some_number();
}

/* Equal bits, or both no numbers. */
static bool same(enum gtl_type type, size_t n)
{
    size_t bytes = n * sizes[host_type[type]];
    float f, g;
    double d, e;

    if (type < GTL_FLOAT)
        return !memcmp(got, want, bytes);
    if (type == GTL_FLOAT || type == GTL_COMPLEXF) {
        for (size_t i = 0; i < bytes; i += sizeof f) {
            memcpy(&f, got + i, sizeof f);
            memcpy(&g, want + i, sizeof g);
            if (memcmp(&f, &g, sizeof f) && !(isnan(f) && isnan(g)))
                return false;
        }
        return true;
    }
    for (size_t i = 0; i < bytes; i += sizeof d) {
        memcpy(&d, got + i, sizeof d);
        memcpy(&e, want + i, sizeof e);
        if (memcmp(&d, &e, sizeof d) && !(isnan(d) && isnan(e)))
            return false;
    }
    return true;
}

/* where: 0 apart, 1 in place of a, 2 in place of b. */
static void try(enum gtl_reduction op, enum gtl_type type, size_t n,
                int where)
{
    size_t bytes = n * sizes[host_type[type]];
    char *out = there + (where == 1 ? 0 : where == 2 ? ROOM : 2 * ROOM);
    struct gtl_reduce r = { op, type, out, there, there + ROOM, n };

    fill(a, type);
    fill(b, type);
    memset(want, 0x5a, ROOM);
    if (where)
        memcpy(want, where == 1 ? a : b, ROOM);
    T_EQ(gtl_copy_now(there, a, ROOM), 0);
    T_EQ(gtl_copy_now(there + ROOM, b, ROOM), 0);
    T_EQ(gtl_fill_now(there + 2 * ROOM, 0x5a, ROOM), 0);
    coll_ops[host_op[op]][host_type[type]](want, a, b, n);
    T_EQ(gtl->reduce(&r, some_stream), 0);
    T_EQ(gtl->stream_sync(some_stream), 0);
    T_EQ(gtl_copy_now(got, out, ROOM), 0);
    if (!T_TRUE(same(type, n)) ||
        !T_MEM(got + bytes, want + bytes, ROOM - bytes))
        fprintf(stderr, "  operation %d, type %d, %zu elements, place %d\n",
                (int)op, (int)type, n, where);
}

T(all_types_and_operations)
{
    struct gtl_reduce r = { .out = there, .a = there, .b = there, .n = 1 };

    for (int op = 0; op < GTL_REDUCTIONS; op++)
        for (int type = 0; type < GTL_TYPES; type++) {
            r.op = (enum gtl_reduction)op;
            r.type = (enum gtl_type)type;
            if (!coll_ops[host_op[op]][host_type[type]]) {
                T_EQ(gtl->reduce(&r, some_stream), -EINVAL);
                continue;
            }
            for (int k = 0; k < 8; k++)
                try(r.op, r.type, lengths[k], (int)(T_RAND() % 3));
        }
}

T(what_is_none_is_refused)
{
    struct gtl_reduce r = { .type = GTL_TYPES, .out = there, .a = there,
                            .b = there, .n = 1 };

    T_EQ(gtl->reduce(&r, some_stream), -EINVAL);
    r.type = GTL_I8;
    r.op = GTL_REDUCTIONS;
    T_EQ(gtl->reduce(&r, some_stream), -EINVAL);
}

int main(void)
{
    int status;

    if (!open_device(&status))
        return status;
    there = device_memory(3 * ROOM);
    if (is_host() || gtl_device.kernels) {
        T_RUN(all_types_and_operations);
        T_RUN(what_is_none_is_refused);
    } else {
        T_EQ(gtl->reduce(&(struct gtl_reduce){ .out = there, .a = there,
                                               .b = there, .n = 1 },
                         some_stream), -ENOSYS);
    }
    gtl->free(there);
    close_device();
    return T_DONE();
}
