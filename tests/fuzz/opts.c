/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's command line: one argument on each line. */
#include "fuzz.h"

#include <setjmp.h>

/* A refusal ends the process; here it ends the input. */
static jmp_buf refused;
static _Noreturn void leave(int status)
{
    longjmp(refused, status + 1);
}
#define exit leave
#define puts(text) ((void)(text))
#define fputs(text, to) ((void)(text))

/* The launcher is no library: its files are compiled in here. */
#include "../../tools/oshrun/say.c"
#include "../../tools/oshrun/other_launchers.c"
#include "../../tools/oshrun/opts.c"

enum { ARGS = 64 };

static void read_line(const char *line, size_t len)
{
    FUZZ_CHECK(len > 0 && line[len - 1] == '\n');
    FUZZ_CHECK(!memchr(line, '\n', len - 1));
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static struct opts o;
    static char *text;
    char *argv[ARGS + 1] = { "oshrun" }, *save = NULL;
    int argc = 1;

    redirect_messages(read_line);
    text = fuzz_text(data, size);
    for (char *p = strtok_r(text, "\n", &save); p && argc < ARGS;
         p = strtok_r(NULL, "\n", &save))
        argv[argc++] = p;
    if (!setjmp(refused)) {
        opts_parse(&o, argc, argv);
        FUZZ_CHECK(o.n >= 0 && o.ppn >= 0 && o.timeout_ms >= 0 && o.argv[0]);
    }
    free(o.exports);
    o.exports = NULL;
    free(text);
}
