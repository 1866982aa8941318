/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a line that is built without stdio reads as printf() would
 * write it, is cut where it does not fit, and always ends with a zero. */
#include "unit.h"

#include "base/line.h"

#include <errno.h>
#include <limits.h>

#define SAME(...)                                                           \
    do {                                                                    \
        char expect[512];                                                   \
        struct line l;                                                      \
                                                                            \
        line_begin(&l);                                                     \
        line_addf(&l, __VA_ARGS__);                                         \
        snprintf(expect, sizeof expect, __VA_ARGS__);                       \
        T_STR(l.at, expect);                                                \
        T_EQ(l.n, strlen(expect));                                          \
    } while (0)

T(it_formats_as_printf_does)
{
    int here;

    SAME("plain text");
    SAME("%s and %s", "one", "");
    SAME("%d %i %u", INT_MIN, INT_MAX, UINT_MAX);
    SAME("%ld %lld", LONG_MIN, LLONG_MAX);
    SAME("%lu %llu %zu", ULONG_MAX, ULLONG_MAX, SIZE_MAX);
    SAME("%td %zx %llx", PTRDIFF_MIN, SIZE_MAX, 0xdeadbeefULL);
    SAME("%x%%%c|", 0x1fu, 'q');
    SAME("%.3s|%.*s|%.0s|", "abcdef", 2, "xyz", "none");
    SAME("%p", (void *)&here);
}

T(what_it_does_not_know_ends_the_piece)
{
    struct line l;
    const char *fmt = "%d %5d %s";

    line_begin(&l);
    line_addf(&l, fmt, 1, 2, "three");
    T_STR(l.at, "1 %?");
    line_add(&l, "; next");
    T_STR(l.at, "1 %?; next");
}

T(what_does_not_fit_is_cut)
{
    static char big[3 * LINE_SIZE];
    struct line l;

    memset(big, 'x', sizeof big - 1);
    line_begin(&l);
    line_addf(&l, "%s%d", big, 12345);
    T_EQ(l.n, LINE_SIZE - 2);
    T_EQ(strlen(l.at), LINE_SIZE - 2);
    line_add(&l, "more");
    T_EQ(l.n, LINE_SIZE - 2);
    line_begin(&l);
    big[LINE_SIZE - 4] = '\0';
    line_add(&l, big);
    line_addf(&l, "%d", 12345);
    T_STR(l.at + LINE_SIZE - 4, "12");
}

T(quantities_have_one_form)
{
    struct line l;

    line_begin(&l);
    line_add_bytes(&l, 10239);
    line_add(&l, ", ");
    line_add_bytes(&l, 10240);
    line_add(&l, ", ");
    line_add_bytes(&l, (uint64_t)1 << 40);
    T_STR(l.at, "10239 bytes, 10 KiB, 1024 GiB");
    T_EQ(line_seconds(1499999999), 1);
    T_EQ(line_seconds(1500000000), 2);
}

T(a_line_is_written_whole_and_leaves_errno)
{
    struct line l;
    const char *text;

    line_begin(&l);
    line_add(&l, "one\ntwo");
    unit_capture();
    errno = ENOENT;
    line_write(&l, STDERR_FILENO);
    T_EQ(errno, ENOENT);
    text = unit_captured();
    T_STR(text, "one?two\n");
    T_STR(l.at, "one?two");
}

int main(void)
{
    T_RUN(it_formats_as_printf_does);
    T_RUN(what_it_does_not_know_ends_the_piece);
    T_RUN(what_does_not_fit_is_cut);
    T_RUN(quantities_have_one_form);
    T_RUN(a_line_is_written_whole_and_leaves_errno);
    return T_DONE();
}
