/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a library that may be absent is bound whole or not at all, and
 * the log says what is missing when asked. */
#include "unit.h"

#include "base/dl.h"
#include "base/log.h"

#include <errno.h>

static double (*cosine)(double);
static double (*power)(double, double);
static void (*missing)(void);

static const struct dl_sym good[] = {
    { "cos", &cosine }, { "pow", &power }
};
static const struct dl_sym lacking[] = {
    { "cos", &cosine }, { "sluice_no_such_symbol", &missing }, { "pow", &power }
};

static const char *const there[] = { "libm.so.6", NULL };
static const char *const second[] = {
    "libsluice_no_such.so.7", "libm.so.6", NULL
};
static const char *const nowhere[] = {
    "libsluice_no_such.so.7", "libsluice_neither.so", NULL
};
static const char *const none[] = { NULL };
/* The first is there and lacks a symbol, the second has both. */
static const char *const poor_first[] = { "libdl.so.2", "libm.so.6", NULL };

static void *const untouched = &cosine;

T(every_slot_is_filled)
{
    void *handle = NULL;

    T_EQ(dl_open(there, good, 2, &handle), 0);
    T_NE(handle, NULL);
    if (T_TRUE(cosine && power)) {
        T_EQ(cosine(0), 1.0);
        T_EQ(power(2, 10), 1024.0);
    }
    dl_close(handle);
    dl_close(NULL);
}

T(the_names_are_tried_in_turn)
{
    void *handle = NULL;

    cosine = NULL;
    T_EQ(dl_open(second, good, 2, &handle), 0);
    T_TRUE(cosine);
    dl_close(handle);
    power = NULL;
    handle = NULL;
    T_EQ(dl_open(poor_first, good, 2, &handle), 0);
    T_TRUE(power);
    dl_close(handle);
}

T(an_absent_library_is_an_ordinary_answer)
{
    void *handle = untouched;
    int rc[3];

    log_choose(LOG_INFO, ~0u);
    unit_capture();
    rc[0] = dl_open(nowhere, good, 2, &handle);
    rc[1] = dl_open(none, good, 2, &handle);
    T_STR(unit_captured(), "");
    log_choose(LOG_DEBUG, ~0u);
    unit_capture();
    rc[2] = dl_open(nowhere, good, 2, &handle);
    T_HAS(unit_captured(), "base] dlopen: libsluice_no_such.so.7: ");
    T_HAS(unit_state.text, "libsluice_neither.so: ");
    for (int i = 0; i < 3; i++)
        T_EQ(rc[i], -ENOENT);
    T_EQ(handle, untouched);
    log_choose(LOG_WARN, ~0u);
}

T(a_library_that_lacks_a_symbol_fills_no_slot)
{
    void *handle = untouched;
    int rc;

    cosine = NULL;
    power = NULL;
    log_choose(LOG_INFO, ~0u);
    unit_capture();
    rc = dl_open(there, lacking, 3, &handle);
    T_HAS(unit_captured(), "libm.so.6 lacks sluice_no_such_symbol\n");
    T_EQ(rc, -ENOSYS);
    log_choose(LOG_WARN, ~0u);
    T_EQ(unit_lines(unit_state.text), 1);
    T_TRUE(!cosine && !power && !missing);
    T_EQ(handle, untouched);
}

T(this_program_is_not_static)
{
    T_TRUE(!dl_static());
}

int main(void)
{
    T_RUN(this_program_is_not_static);
    T_RUN(every_slot_is_filled);
    T_RUN(the_names_are_tried_in_turn);
    T_RUN(an_absent_library_is_an_ordinary_answer);
    T_RUN(a_library_that_lacks_a_symbol_fills_no_slot);
    return T_DONE();
}
