/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON.  The statistics of calls and the tools call it; it knows no
 * contents, and leaves errors of the file to the caller's fclose(). */
#include "base/json.h"

#include <string.h>

/* Bytes of the UTF-8 character that n bytes begin with, n > 0; 0 if they begin
 * with none: a stray byte, a longer form than needed, a surrogate, too large. */
static size_t character(const unsigned char *p, size_t n)
{
    size_t len = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 :
                 *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

    if (len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
        (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}

/* A byte that is no text is written as the replacement character: a reader
 * would refuse the whole file. */
void json_string(FILE *to, const char *text, size_t most)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t len;

    putc('"', to);
    for (size_t n = strnlen(text, most); n; n -= len, p += len) {
        len = character(p, n);
        if (!len) {
            fputs("\\ufffd", to);
            len = 1;
        } else if (*p < ' ' || *p == 127) {
            fprintf(to, "\\u%04x", *p);
        } else {
            if (*p == '"' || *p == '\\')
                putc('\\', to);
            fwrite(p, 1, len, to);
        }
    }
    putc('"', to);
}

static void begin_line(const struct json *j)
{
    if (!j->one_line)
        fprintf(j->to, "\n%*s", (int)j->depth, "");
}

static void begin(struct json *j, const char *key)
{
    if (j->follows)
        fputs(j->one_line ? ", " : ",", j->to);
    if (j->depth)
        begin_line(j);
    j->follows = true;
    if (!key)
        return;
    json_string(j->to, key, SIZE_MAX);
    fputs(": ", j->to);
}

static void open_with(struct json *j, const char *key, char c)
{
    begin(j, key);
    putc(c, j->to);
    j->depth++;
    j->follows = false;
}

static void close_with(struct json *j, char c)
{
    j->depth--;
    if (j->follows)
        begin_line(j);
    putc(c, j->to);
    j->follows = true;
    if (!j->depth)
        putc('\n', j->to);
}

void json_object(struct json *j, const char *key)
{
    open_with(j, key, '{');
}

void json_list(struct json *j, const char *key)
{
    open_with(j, key, '[');
}

void json_close_object(struct json *j)
{
    close_with(j, '}');
}

void json_close_list(struct json *j)
{
    close_with(j, ']');
}

void json_text(struct json *j, const char *key, const char *value)
{
    begin(j, key);
    json_string(j->to, value, SIZE_MAX);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    fprintf(j->to, "%llu", (unsigned long long)value);
}

void json_integer(struct json *j, const char *key, int64_t value)
{
    begin(j, key);
    fprintf(j->to, "%lld", (long long)value);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin(j, key);
    fputs(value ? "true" : "false", j->to);
}
