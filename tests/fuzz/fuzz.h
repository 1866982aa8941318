/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.h - what the targets share.
 *
 * A target tests/fuzz/<name>.c defines fuzz_one(), which feeds the bytes to one
 * reader and must come back, whatever they are; what the reader promises is
 * checked with FUZZ_CHECK.  `make fuzz` links it with libFuzzer; `make check`
 * runs it over tests/fuzz/corpus/<name>/, each file of which was interesting
 * once. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_one(const uint8_t *data, size_t size);
/* By this name libFuzzer calls it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}

#define FUZZ_CHECK(x) \
    ((x) ? (void)0 : fuzz_broken(#x, __FILE__, __LINE__))

static inline void fuzz_broken(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s is false\n", file, line, what);
    abort();
}

/* The bytes as a string of exactly that size, to free: what reads past its end
 * is seen. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
