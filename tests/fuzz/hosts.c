/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's host list and host file. */
#include "fuzz.h"

/* The launcher is no library: its files are compiled in here. */
#include "../../tools/oshrun/say.c"
#include "../../tools/oshrun/hosts.c"

static void check_and_free(struct list *l)
{
    for (int i = 0; i < l->n; i++) {
        FUZZ_CHECK(l->host[i].slots > 0 && *l->host[i].name);
        free(l->host[i].name);
    }
    free(l->host);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct list in_list = { NULL, 0 }, in_file = { NULL, 0 };
    char *text = fuzz_text(data, size);
    const char *bad;
    FILE *f;

    bad = read_list(&in_list, text);
    FUZZ_CHECK(bad ? bad >= text && bad <= text + strlen(text) : in_list.n > 0);
    check_and_free(&in_list);
    f = size ? fmemopen(text, size, "r") : NULL;
    if (f) {
        FUZZ_CHECK(read_lines(&in_file, f) >= 0);
        fclose(f);
    }
    check_and_free(&in_file);
    free(text);
}
