/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment: lines NAME=value, NAME being what follows SHMEM_. */
#include "fuzz.h"

#include "base/env.h"
#include "base/log.h"

extern char **environ;

enum { LINES = 64, LINE = 4096 };

static char lines[LINES][LINE];
static char *table[LINES + 1];

static FILE *nowhere(void)
{
    static FILE *f;

    if (!f)
        f = fopen("/dev/null", "w");
    return f ? f : stderr;
}

static void read_line(const char *text)
{
    FUZZ_CHECK(strlen(text) < 512);
}

static void fill(const char *text)
{
    int n = 0;

    for (; *text && n < LINES; n++) {
        size_t len = strcspn(text, "\n");

        snprintf(lines[n], LINE, "SHMEM_%.*s", (int)(len < LINE ? len : LINE),
                 text);
        table[n] = lines[n];
        text += len + (text[len] == '\n');
    }
    table[n] = NULL;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), **was = environ, *end;
    size_t bytes;

    fill(text);
    environ = table;
    if (!env_load())
        FUZZ_CHECK(env.CHECK_ALLOC >= 0 && env.PPN >= 0 && env.PPN <= 1048576);
    env_print(nowhere(), size);
    env_report_unknown(read_line);
    environ = was;
    for (int rest = 0; rest < 2; rest++)
        if (!env_parse_size(text, rest, &bytes))
            FUZZ_CHECK(bytes < (size_t)1 << 63);
    env_parse_number(text, &end);
    FUZZ_CHECK(end >= text && end <= text + strlen(text));
    log_choose(LOG_WARN, ~0u);
    free(text);
}
