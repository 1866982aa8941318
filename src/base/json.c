/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON.  The statistics of calls and the tools call it; it knows no
 * contents, and leaves errors of the file to the caller's fclose(). */
#include "base/json.h"

#include <string.h>

void json_string(FILE *to, const char *text, size_t most)
{
    putc('"', to);
    for (size_t n = strnlen(text, most); n; n--, text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            putc('\\', to);
        if (c < ' ' || c == 127)
            fprintf(to, "\\u%04x", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

static void begin(struct json *j, const char *key)
{
    if (j->follows)
        putc(',', j->to);
    if (j->depth)
        fprintf(j->to, "\n%*s", (int)j->depth, "");
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
        fprintf(j->to, "\n%*s", (int)j->depth, "");
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
