/* SPDX-License-Identifier: BSD-3-Clause */
/* What 7 PEs print, as oshrun reads it: the first byte of a line is the PE. */
#include "fuzz.h"

/* The launcher is no library: its files are compiled in here. */
#include "../../tools/oshrun/say.c"
#include "../../tools/oshrun/stream.c"
#define parse merge_parse
#include "../../tools/oshrun/merge.c"
#undef parse

enum { PES = 7 };

void fuzz_one(const uint8_t *data, size_t size)
{
    struct sink sink = { .fd = -1 };
    struct merge *m = merge_open(&sink, PES);
    const uint8_t *end = data + size, *next;

    for (; m && data < end; data = next) {
        /* Of its own size, so that what reads past its end is seen. */
        char *line;
        size_t len;

        next = memchr(data + 1, '\n', (size_t)(end - data - 1));
        next = next ? next + 1 : end;
        len = (size_t)(next - data) - 1;
        line = malloc(len + !len);
        if (!line)
            break;
        memcpy(line, data + 1, len);
        merge_take(m, *data % PES, line, len);
        free(line);
    }
    if (m)
        merge_flush(m, true);
    free(m);
    free(sink.data);
}
