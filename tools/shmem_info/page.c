/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - writes sections and rows as text or as JSON.  The pages of
 * shmem_info call it; it knows none of their contents. */
#include "page.h"

#include <ctype.h>
#include <stdio.h>

static struct json json = { .to = NULL };
static bool uses_json, is_open, in_section;

void page_use_json(void)
{
    uses_json = true;
}

struct json *page_json(void)
{
    return uses_json ? &json : NULL;
}

void page_open(void)
{
    if (!is_open && uses_json) {
        json.to = stdout;
        json_object(&json, NULL);
    }
    is_open = true;
}

bool page_is_open(void)
{
    return is_open;
}

void page_close_section(void)
{
    if (in_section && uses_json)
        json_close_object(&json);
    in_section = false;
}

const char *page_key(const char *title, char key[PAGE_KEY])
{
    size_t n = 0;

    for (; title[n] && n + 1 < PAGE_KEY; n++)
        key[n] = isalnum((unsigned char)title[n])
                 ? (char)tolower((unsigned char)title[n]) : '_';
    key[n] = '\0';
    return key;
}

void page_section(const char *title)
{
    bool first = !is_open;
    char key[PAGE_KEY];

    page_open();
    page_close_section();
    if (uses_json) {
        json_object(&json, page_key(title, key));
    } else {
        printf("%s%s\n", first ? "" : "\n", title);
    }
    in_section = true;
}

void page_row(const char *name, const char *fmt, ...)
{
    char text[2048], key[PAGE_KEY];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (uses_json)
        json_text(&json, page_key(name, key), text);
    else
        printf("  %-14s %s\n", name, text[0] ? text : "-");
}

void page_close(void)
{
    page_close_section();
    if (uses_json && is_open)
        json_close_object(&json);
    is_open = false;
}
