/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h - a page of shmem_info as text or, with --json, as one JSON object, on
 * standard output.  Threads: one. */
#ifndef SHMEM_INFO_PAGE_H
#define SHMEM_INFO_PAGE_H

#include "base/json.h"

#include <stdarg.h>

/* Before a page: it is JSON. */
void page_use_json(void);
/* The writer of the page's JSON, or NULL: it is text. */
struct json *page_json(void);

/* Opens the page, if it is JSON: its other calls do that, too. */
void page_open(void);
bool page_is_open(void);
/* The key that stands for a title or a row's name: "NUMA node" is numa_node. */
enum { PAGE_KEY = 32 };
const char *page_key(const char *title, char key[PAGE_KEY]);
/* A title of text, an object of JSON. */
void page_section(const char *title);
void page_row(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Of JSON: the next value is one of the page itself. */
void page_close_section(void);
/* After the last section. */
void page_close(void);

#endif
