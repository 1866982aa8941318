/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_reduce.c - the loops of reductions on the software device; soft_run.c
 * calls them. Built with vectorisation. */
#include "gtl/soft/soft_int.h"

#if defined(__clang__)
/* It warns of each loop that it cannot vectorise: without optimisation, all. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define DEVICE static
#define TEXT(...) __VA_ARGS__
#include "gtl/reduce.inc"

#define LOOP(name, type, value)                                             \
    static void loop_##name(void *out, const void *x, const void *y,        \
                            uint64_t n)                                     \
    {                                                                       \
        const type *from_a = x, *from_b = y;                                \
        type *to = out;                                                     \
                                                                            \
        INDEPENDENT                                                         \
        for (uint64_t i = 0; i < n; i++) {                                  \
            type a = from_a[i], b = from_b[i];                              \
                                                                            \
            to[i] = value;                                                  \
        }                                                                   \
    }
GTL_LOOPS(LOOP)

#define NAMED(name, type, value) loop_##name,
static void (*const loops[])(void *out, const void *a, const void *b,
                             uint64_t n) = { GTL_LOOPS(NAMED) };

void gtl_soft_reduce_run(const struct gtl_soft_command *c)
{
    loops[c->loop](c->out, c->a, c->b, c->count);
}
