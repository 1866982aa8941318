/* SPDX-License-Identifier: BSD-3-Clause */
/* t.h - what a test program needs, in one header.
 *
 * T(name) defines a test, T_RUN(name) runs it, `return T_DONE();` ends main
 * with 0, 1 (a check failed) or 77 (everything was skipped).  A check that
 * fails prints file, line, expression and both values and goes on, so that a
 * thread is still joined and a barrier still met.  T_SKIP(reason) leaves the
 * test it stands in.  After T_PE(shmem_my_pe()) every line names the PE.
 * Checks may be made from any thread; the rest belongs to main's. */
#ifndef T_H
#define T_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define T_UNUSED __attribute__((unused))
struct t_state {
    const char *name;           /* the test that runs */
    int pe, ran, skipped;       /* pe -1: not said */
    atomic_int failed;          /* relaxed: read where the threads have ended */
    bool skip, seeded;          /* skip: the present test left by T_SKIP */
    uint64_t seed, random;
};
/* One for all files of a program: what fails in any of them counts. */
struct t_state t_state __attribute__((weak)) = { .pe = -1 };

#define T(test)      static void test(void)
#define T_RUN(test)  t_run(#test, test)
#define T_DONE()     t_done()
#define T_PE(number) ((void)(t_state.pe = (number)))
#define T_SKIP(reason) do { t_skip(reason); return; } while (0)

#define T_TRUE(a)    t_true((a) ? true : false, #a, __FILE__, __LINE__)
#define T_EQ(a, b)   t_order(T_VAL(a), "==", T_VAL(b), #a, #b, T_HERE)
#define T_NE(a, b)   t_order(T_VAL(a), "!=", T_VAL(b), #a, #b, T_HERE)
#define T_LT(a, b)   t_order(T_VAL(a), "<", T_VAL(b), #a, #b, T_HERE)
#define T_LE(a, b)   t_order(T_VAL(a), "<=", T_VAL(b), #a, #b, T_HERE)
#define T_STR(a, b)  t_str((a), (b), #a, #b, T_HERE)
#define T_MEM(a, b, size) t_mem((a), (b), (size), #a, #b, T_HERE)
#define T_HERE       __FILE__, __LINE__
/* The seed, the same on all PEs that one launcher started on this host, and the
 * next number from it; T_SEED=n in the environment replays. */
#define T_SEED()     t_seed()
#define T_RAND()     t_rand()

/* A value of any arithmetic or pointer type, to compare and to print. */
struct t_val {
    enum { T_INT, T_UINT, T_FLOAT, T_POINTER } kind;
    int64_t i;
    uint64_t u;
    long double f;
};

static T_UNUSED struct t_val t_int(long long i)
{
    return (struct t_val){ i < 0 ? T_INT : T_UINT, i, (uint64_t)i, i };
}

static T_UNUSED struct t_val t_uint(unsigned long long u)
{
    return (struct t_val){ T_UINT, (int64_t)u, u, u };
}

static T_UNUSED struct t_val t_float(long double f)
{
    return (struct t_val){ T_FLOAT, 0, 0, f };
}

static T_UNUSED struct t_val t_pointer(const volatile void *p)
{
    uint64_t u = (uintptr_t)p;

    return (struct t_val){ T_POINTER, (int64_t)u, u, u };
}

#define T_VAL(x) _Generic((x), \
    char: t_int, signed char: t_int, short: t_int, int: t_int, long: t_int, \
    long long: t_int, _Bool: t_uint, unsigned char: t_uint, \
    unsigned short: t_uint, unsigned: t_uint, unsigned long: t_uint, \
    unsigned long long: t_uint, float: t_float, double: t_float, \
    long double: t_float, default: t_pointer)(x)

/* True when a line may be printed: a loop over megabytes must not flood. */
static T_UNUSED bool t_fail(void)
{
    int n = atomic_fetch_add_explicit(&t_state.failed, 1, memory_order_relaxed);

    if (n == 20)
        fprintf(stderr, "more checks fail; the first 20 are above\n");
    return n < 20;
}

/* "file:line: PE 3: test: " */
static T_UNUSED const char *t_where(char *out, size_t size, const char *file,
                                    int line)
{
    char pe[24] = "";

    if (t_state.pe >= 0)
        snprintf(pe, sizeof pe, "PE %d: ", t_state.pe);
    snprintf(out, size, "%s:%d: %s%s%s", file, line, pe,
             t_state.name ? t_state.name : "", t_state.name ? ": " : "");
    return out;
}

static T_UNUSED bool t_true(bool ok, const char *expr, const char *file,
                            int line)
{
    char where[256];

    if (!ok && t_fail())
        fprintf(stderr, "%s%s is false\n",
                t_where(where, sizeof where, file, line), expr);
    return ok;
}

static T_UNUSED const char *t_show(char *out, size_t size, struct t_val v)
{
    if (v.kind == T_FLOAT)
        snprintf(out, size, "%.17Lg", v.f);
    else if (v.kind == T_POINTER)
        snprintf(out, size, "0x%" PRIx64, v.u);
    else if (v.kind == T_INT)
        snprintf(out, size, "%" PRId64, v.i);
    else
        snprintf(out, size, "%" PRIu64, v.u);
    return out;
}

/* -1, 0, 1; 2 where a NaN has no order. */
static T_UNUSED int t_compare(struct t_val a, struct t_val b)
{
    if (a.kind == T_FLOAT || b.kind == T_FLOAT)
        return a.f < b.f ? -1 : a.f > b.f ? 1 : a.f == b.f ? 0 : 2;
    if (a.kind == T_INT || b.kind == T_INT) {
        if (a.kind != b.kind)
            return a.kind == T_INT ? -1 : 1;    /* only T_INT is negative */
        return a.i < b.i ? -1 : a.i > b.i;
    }
    return a.u < b.u ? -1 : a.u > b.u;
}

static T_UNUSED bool t_order(struct t_val a, const char *op, struct t_val b,
                             const char *ea, const char *eb, const char *file,
                             int line)
{
    int c = t_compare(a, b);
    bool ok = !strcmp(op, "==") ? c == 0 : !strcmp(op, "!=") ? c != 0 :
              !strcmp(op, "<") ? c == -1 : c == -1 || c == 0;
    char where[256], va[64], vb[64];

    if (!ok && t_fail())
        fprintf(stderr, "%s%s %s %s: %s and %s\n",
                t_where(where, sizeof where, file, line), ea, op, eb,
                t_show(va, sizeof va, a), t_show(vb, sizeof vb, b));
    return ok;
}

static T_UNUSED bool t_str(const char *a, const char *b, const char *ea,
                           const char *eb, const char *file, int line)
{
    char where[256];
    bool ok = a == b || (a && b && !strcmp(a, b));

    if (!ok && t_fail())
        fprintf(stderr, "%s%s == %s: \"%s\" and \"%s\"\n",
                t_where(where, sizeof where, file, line), ea, eb,
                a ? a : "(null)", b ? b : "(null)");
    return ok;
}

static T_UNUSED bool t_mem(const void *a, const void *b, size_t size,
                           const char *ea, const char *eb, const char *file,
                           int line)
{
    const unsigned char *x = a, *y = b;
    char where[256];
    size_t i = 0, bad = 0;

    for (size_t k = size; k-- > 0; )
        if (x[k] != y[k]) {
            i = k;
            bad++;
        }
    if (bad && t_fail())
        fprintf(stderr, "%s%s and %s: %zu of %zu bytes differ, first byte %zu: "
                "0x%02x and 0x%02x\n", t_where(where, sizeof where, file, line),
                ea, eb, bad, size, i, x[i], y[i]);
    return bad == 0;
}

/* Of this process, in KiB; -1: not known. */
static T_UNUSED long t_resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

/* Sleeps, while this process runs: time in which it was stopped or had no
 * processor, which the watchdog forgives, does not count. */
static T_UNUSED void t_run_for(int seconds)
{
    for (int i = 0; i < seconds * 20; i++)
        usleep(50000);
}

static T_UNUSED void t_skip(const char *reason)
{
    t_state.skip = true;
    if (t_state.pe <= 0)        /* once for all PEs */
        fprintf(stderr, "skip: %s%s%s\n", t_state.name ? t_state.name : "",
                t_state.name ? ": " : "", reason);
}

static T_UNUSED void t_run(const char *name, void (*test)(void))
{
    t_state.name = name;
    t_state.skip = false;
    t_state.ran++;
    test();
    t_state.skipped += t_state.skip;
    t_state.name = NULL;
}

static T_UNUSED int t_done(void)
{
    if (atomic_load_explicit(&t_state.failed, memory_order_relaxed))
        return 1;
    return t_state.skipped && t_state.skipped == t_state.ran ? 77 : 0;
}

#include "t_seed.h"

#endif
