/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for and tests of variables: the public functions, typed by macros, and
 * the steps that all types share.  A wait goes through core's waiter, so that
 * it sleeps, is woken, and is reported when it lasts. */
#include "api/api.h"
#include "core/core_cmp.h"
#include "core/core_rma.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h.
 *   shmem_TYPENAME_test shmem_TYPENAME_test_all
 *   shmem_TYPENAME_test_all_vector shmem_TYPENAME_test_any
 *   shmem_TYPENAME_test_any_vector shmem_TYPENAME_test_some
 *   shmem_TYPENAME_test_some_vector shmem_TYPENAME_wait_until
 *   shmem_TYPENAME_wait_until_all shmem_TYPENAME_wait_until_all_vector
 *   shmem_TYPENAME_wait_until_any shmem_TYPENAME_wait_until_any_vector
 *   shmem_TYPENAME_wait_until_some shmem_TYPENAME_wait_until_some_vector
 *   shmem_TYPENAME_wait
 * Their generic names of C11 and C++:
 *   shmem_test shmem_test_all shmem_test_all_vector shmem_test_any
 *   shmem_test_any_vector shmem_test_some shmem_test_some_vector
 *   shmem_wait_until_all shmem_wait_until_all_vector shmem_wait_until_any
 *   shmem_wait_until_any_vector shmem_wait_until_some
 *   shmem_wait_until_some_vector */

#define LOAD(T, p, device_only) CORE_KEY(T, CORE_LOAD(T, p, device_only))

static inline void need_one(const char *call, const void *ivar, size_t size,
                            int cmp)
{
    core_need_symmetric(call, "ivar", ivar, size);
    core_need_aligned(call, ivar, size);
    core_need_cmp(call, cmp);
}

/* A test that holds ends like a wait. */
static inline int seen(int holds)
{
    if (holds)
        xport_flush();
    return holds;
}

/* In a trace, a test counts where it holds. */
static inline int found(const char *call, const void *at, size_t bytes,
                        int holds)
{
    if (holds)
        CORE_TRACE_SEEN(call, at, bytes);
    return seen(holds);
}

#define API_WAIT_ONE(NAME, T)                                               \
    void pshmem_##NAME##_wait_until(T *ivar, int cmp, T cmp_value)          \
    {                                                                       \
        CORE_TRACE_WAIT(__func__, ivar, sizeof *ivar);                      \
                                                                            \
        need_one(__func__, ivar, sizeof *ivar, cmp);                        \
        if (!seen(core_cmp_holds(LOAD(T, ivar, core_device_only(ivar)), cmp, \
                                 CORE_KEY(T, cmp_value))))                  \
            CORE_WAIT_KEY(__func__, ivar, T, cmp, CORE_KEY(T, cmp_value));  \
    }                                                                       \
    int pshmem_##NAME##_test(T *ivar, int cmp, T cmp_value)                 \
    {                                                                       \
        need_one(__func__, ivar, sizeof *ivar, cmp);                        \
        core_progress(__func__);                                            \
        return found(__func__, ivar, sizeof *ivar,                          \
                     core_cmp_holds(LOAD(T, ivar, core_device_only(ivar)),  \
                                    cmp, CORE_KEY(T, cmp_value)));          \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_wait_until) API_ALIAS(shmem_##NAME##_test)
SHMEMI_AMO_TYPES(API_WAIT_ONE)
SHMEMI_WAIT_OLD_TYPES(API_WAIT_ONE)

static void need_set(const char *call, struct core_wait_set *s)
{
    size_t size = (size_t)s->elem_size, bytes;

    core_need_up(call);
    if (s->n == 0)
        return;
    bytes = core_bytes(call, s->n, size);
    core_need_symmetric(call, "ivars", s->ivars, bytes);
    core_need_aligned(call, s->ivars, size);
    core_need_local(call, s->each_value ? "cmp_values" : "cmp_value",
                    s->values, s->each_value ? bytes : size);
    core_need_cmp(call, s->cmp);
    core_wait_set_begin(call, s);
}

static void wait_all(const char *call, struct core_wait_set *s)
{
    CORE_TRACE_WAIT(call, s->ivars, s->n * (size_t)s->elem_size);
    struct core_waiter w = core_wait_set_waiter(call, s);

    need_set(call, s);
    while (!core_wait_set_all(s))
        core_wait_step(&w);
    core_wait_over(&w);
    core_wait_set_end(s);
}

static size_t wait_any(const char *call, struct core_wait_set *s)
{
    CORE_TRACE_WAIT(call, s->ivars, s->n * (size_t)s->elem_size);
    struct core_waiter w = core_wait_set_waiter(call, s);
    bool empty;
    size_t i;

    need_set(call, s);
    while ((i = core_wait_set_any(s, &empty)) == SIZE_MAX && !empty)
        core_wait_step(&w);
    core_wait_over(&w);
    core_wait_set_end(s);
    return i;
}

static size_t wait_some(const char *call, struct core_wait_set *s,
                        size_t *indices)
{
    CORE_TRACE_WAIT(call, s->ivars, s->n * (size_t)s->elem_size);
    struct core_waiter w = core_wait_set_waiter(call, s);
    bool empty;
    size_t n;

    need_set(call, s);
    core_need_local(call, "indices", indices, s->n * sizeof *indices);
    while ((n = core_wait_set_some(s, indices, &empty)) == 0 && !empty)
        core_wait_step(&w);
    core_wait_over(&w);
    core_wait_set_end(s);
    return n;
}

static int found_set(const char *call, const struct core_wait_set *s, int holds)
{
    return found(call, s->ivars, s->n * (size_t)s->elem_size, holds);
}

static int test_all(const char *call, struct core_wait_set *s)
{
    int all;

    need_set(call, s);
    core_progress(call);
    all = core_wait_set_all(s);
    core_wait_set_end(s);
    return found_set(call, s, all);
}

static size_t test_any(const char *call, struct core_wait_set *s)
{
    bool empty;
    size_t i;

    need_set(call, s);
    core_progress(call);
    i = core_wait_set_any(s, &empty);
    core_wait_set_end(s);
    found_set(call, s, i != SIZE_MAX);
    return i;
}

static size_t test_some(const char *call, struct core_wait_set *s,
                        size_t *indices)
{
    bool empty;
    size_t n;

    need_set(call, s);
    core_progress(call);
    core_need_local(call, "indices", indices, s->n * sizeof *indices);
    n = core_wait_set_some(s, indices, &empty);
    core_wait_set_end(s);
    found_set(call, s, n > 0);
    return n;
}

#define SET(T, vals, each)                                                  \
    (&(struct core_wait_set){ .ivars = ivars, .n = nelems, .status = status, \
                              .cmp = cmp, .values = vals, .each_value = each, \
                              .elem_size = sizeof(T),                       \
                              .is_signed = (T)-1 < (T)1 })

#define API_SET_FORMS(NAME, T, VERB, R, PRE, SUFFIX, CMP_PARAM, VALS, EACH) \
    R pshmem_##NAME##_##VERB##_all##SUFFIX(                                 \
        T *ivars, size_t nelems, const int *status, int cmp, CMP_PARAM)     \
    {                                                                       \
        API_RETURN_##R PRE##_all(__func__, SET(T, VALS, EACH));             \
    }                                                                       \
    size_t pshmem_##NAME##_##VERB##_any##SUFFIX(                            \
        T *ivars, size_t nelems, const int *status, int cmp, CMP_PARAM)     \
    {                                                                       \
        return PRE##_any(__func__, SET(T, VALS, EACH));                     \
    }                                                                       \
    size_t pshmem_##NAME##_##VERB##_some##SUFFIX(                           \
        T *ivars, size_t nelems, size_t *indices, const int *status,        \
        int cmp, CMP_PARAM)                                                 \
    {                                                                       \
        return PRE##_some(__func__, SET(T, VALS, EACH), indices);           \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_##VERB##_all##SUFFIX)                          \
    API_ALIAS(shmem_##NAME##_##VERB##_any##SUFFIX)                          \
    API_ALIAS(shmem_##NAME##_##VERB##_some##SUFFIX)
#define API_RETURN_void
#define API_RETURN_int return

#define API_SETS(NAME, T)                                                   \
    API_SET_FORMS(NAME, T, wait_until, void, wait, , T cmp_value,           \
                  &cmp_value, false)                                        \
    API_SET_FORMS(NAME, T, wait_until, void, wait, _vector,                 \
                  const T *cmp_values, cmp_values, true)                    \
    API_SET_FORMS(NAME, T, test, int, test, , T cmp_value, &cmp_value,      \
                  false)                                                    \
    API_SET_FORMS(NAME, T, test, int, test, _vector, const T *cmp_values,   \
                  cmp_values, true)
SHMEMI_AMO_TYPES(API_SETS)
/* Beyond the standard. */
SHMEMI_WAIT_OLD_TYPES(API_SETS)

/* Deprecated: waits while the variable equals the value. */
#define API_WAIT_NE(NAME, T)                                                \
    void pshmem_##NAME##_wait(T *ivar, T cmp_value)                         \
    {                                                                       \
        pshmem_##NAME##_wait_until(ivar, SHMEM_CMP_NE, cmp_value);          \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_wait)
SHMEMI_WAIT_NE_TYPES(API_WAIT_NE)

void pshmem_wait(long *ivar, long cmp_value)
{
    pshmem_long_wait_until(ivar, SHMEM_CMP_NE, cmp_value);
}
API_ALIAS(shmem_wait)

void pshmem_wait_until(long *ivar, int cmp, long cmp_value)
{
    pshmem_long_wait_until(ivar, cmp, cmp_value);
}
API_ALIAS(shmem_wait_until)
