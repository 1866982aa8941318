/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds lines of text without stdio, so that a signal handler can report.
 * Called by the log, by diag and by the callbacks that describe objects.
 * Nothing here may allocate, lock or change errno. */
#include "base/line.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Two bytes are left for the newline and the final zero. */
static size_t space_left(const struct line *l)
{
    return LINE_SIZE - 2 - l->n;
}

static void add_bytes(struct line *l, const char *text, size_t len)
{
    if (len > space_left(l))
        len = space_left(l);
    memcpy(l->at + l->n, text, len);
    l->n += len;
    l->at[l->n] = '\0';
}

void line_add(struct line *l, const char *text)
{
    add_bytes(l, text, strlen(text));
}

static void add_number(struct line *l, uint64_t v, unsigned base)
{
    char digits[24];
    size_t i = sizeof digits;

    do {
        digits[--i] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    add_bytes(l, digits + i, sizeof digits - i);
}

static void add_signed(struct line *l, int64_t v)
{
    if (v < 0)
        line_add(l, "-");
    add_number(l, v < 0 ? -(uint64_t)v : (uint64_t)v, 10);
}

/* The part between the % and the conversion character. */
struct conversion {
    size_t most;                /* characters of a %s */
    bool is_long;               /* l, ll, z, t: all are 64 bits wide */
};

/* Reads that part, and the argument of a precision; returns the position of the
 * conversion character. */
static const char *read_conversion(const char *fmt, struct conversion *c,
                                   int precision)
{
    *c = (struct conversion){ .most = SIZE_MAX };
    if (*fmt == '.' && fmt[1] == '*') {
        c->most = (size_t)precision;
        fmt += 2;
    } else if (*fmt == '.') {
        for (c->most = 0, fmt++; *fmt >= '0' && *fmt <= '9'; fmt++)
            c->most = c->most * 10 + (size_t)(*fmt - '0');
    }
    while (*fmt == 'l' || *fmt == 'z' || *fmt == 't') {
        c->is_long = true;
        fmt++;
    }
    return fmt;
}

_Static_assert(sizeof(long) == sizeof(long long) &&
               sizeof(size_t) == sizeof(long) &&
               sizeof(ptrdiff_t) == sizeof(long),
               "l, ll, z and t are read alike");

void line_addf(struct line *l, const char *fmt, ...)
{
    struct conversion c;
    const char *text, *next;
    va_list ap;
    char one;

    va_start(ap, fmt);
    while ((next = strchr(fmt, '%'))) {
        add_bytes(l, fmt, (size_t)(next - fmt));
        fmt = next + 1;
        fmt = read_conversion(fmt, &c, fmt[0] == '.' && fmt[1] == '*'
                                       ? va_arg(ap, int) : 0);
        switch (*fmt++) {
        case 's':
            text = va_arg(ap, const char *);
            add_bytes(l, text, strnlen(text, c.most));
            break;
        case 'c':
            one = (char)va_arg(ap, int);
            add_bytes(l, &one, 1);
            break;
        case 'd':
        case 'i':
            add_signed(l, c.is_long ? va_arg(ap, long) : va_arg(ap, int));
            break;
        case 'u':
            add_number(l, c.is_long ? va_arg(ap, unsigned long)
                                    : va_arg(ap, unsigned), 10);
            break;
        case 'x':
            add_number(l, c.is_long ? va_arg(ap, unsigned long)
                                    : va_arg(ap, unsigned), 16);
            break;
        case 'p':
            line_add(l, "0x");
            add_number(l, (uintptr_t)va_arg(ap, void *), 16);
            break;
        case '%':
            line_add(l, "%");
            break;
        default:                /* no argument after this one is known */
            line_add(l, "%?");
            va_end(ap);
            return;
        }
    }
    line_add(l, fmt);
    va_end(ap);
}

void line_vprintf(struct line *l, const char *fmt, va_list ap)
{
    size_t space = space_left(l);
    int n = vsnprintf(l->at + l->n, space + 1, fmt, ap);

    if (n > 0)
        l->n += (size_t)n < space ? (size_t)n : space;
}

void line_add_bytes(struct line *l, uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB" };
    unsigned u = 0;

    for (; u < 3 && bytes >= 10240; u++)
        bytes /= 1024;
    line_addf(l, "%llu %s", (unsigned long long)bytes, units[u]);
}

void line_write(struct line *l, int fd)
{
    int saved = errno;

    for (size_t i = 0; i < l->n; i++)
        if ((unsigned char)l->at[i] < ' ')
            l->at[i] = '?';
    l->at[l->n] = '\n';
    while (write(fd, l->at, l->n + 1) < 0 && errno == EINTR)
        ;
    l->at[l->n] = '\0';
    errno = saved;
}
