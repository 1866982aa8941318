/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - writes JSON (RFC 8259) to a file, one value a line, or all of an
 * outermost value in one line.  The statistics and the tools describe
 * themselves with it; a trace, of which a line is an event, shares
 * json_string().  Threads: one writer belongs to one thread. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *to;
    bool one_line;
    unsigned depth;
    bool follows;               /* another value of the same object or list */
};

/* key: NULL in a list, and for the outermost value.  The calls that open an
 * object or a list are each followed by one that closes it. */
void json_object(struct json *j, const char *key);
void json_list(struct json *j, const char *key);
void json_close_object(struct json *j);
void json_close_list(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_integer(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);

/* The string alone, of at most so many bytes. */
void json_string(FILE *to, const char *text, size_t most);

#endif
