/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - every line the library prints.
 * Any thread may call it; a line is one write(2) to stderr, so lines of
 * several threads and PEs do not mix.  Errors and warnings are always shown
 * and end with their code; the lower levels are chosen by SHMEM_LOG.
 * The function that detects an error logs it, once; its callers are silent. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/line.h"

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

enum log_layer {
    LOG_BASE, LOG_RT, LOG_GTL, LOG_HEAP, LOG_XPORT, LOG_PROGRESS, LOG_SM,
    LOG_OFI, LOG_DIAG, LOG_CORE, LOG_COLL, LOG_STREAM, LOG_MSG, LOG_KERNEL,
    LOG_API, LOG_LAYERS
};

enum err_code {
#define ERR(name, what, cure) ERR_##name,
#include "base/err_defs.h"
#undef ERR
    ERR_CODES
};

struct err_text {
    const char *name, *what, *cure;
};
extern const struct err_text err_texts[ERR_CODES];

/* The start of lines: a PE number (negative: not known yet), a host name. */
void log_identify(int pe, const char *host);
const char *log_host(void);
/* The number of log_identify(), or -1. */
int log_pe(void);
/* Gets the text of each ERR_STALL warning, too; NULL: it goes nowhere else. */
extern void (*log_stalled)(const char *text);
/* A tool speaks: its errors and warnings begin "name: ". */
void log_tool(const char *name);
/* The next error line ends with "(text)", before the code; NULL: takes that
 * back.  text stays where it is. */
void log_blame(const char *text);

/* Which levels and layers (bits 1 << log_layer) are shown below warnings. */
void log_choose(enum log_level level, unsigned layers);
bool log_on(enum log_level level, enum log_layer layer);
/* Index of the layer with that name, or -1; and the other way round. */
int log_layer_index(const char *name);
const char *log_layer_name(int layer);

/* "sluice: PE 3 (host): text [S-E-CODE]"; %m is the present errno. */
void log_error(enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same without a code: output that the user has asked for. */
void log_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Begins a line "sluice: PE 3 (host): " that line_write() ends.  Signal-safe
 * once a host is known. */
void log_begin(struct line *l);
/* "[3 host layer] text" */
void log_line(enum log_layer layer, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Lines of log_info() and so on have the milliseconds from here on. */
void log_start_clock(void);

#define log_info(layer, ...) log_at(LOG_INFO, layer, __VA_ARGS__)
#define log_debug(layer, ...) log_at(LOG_DEBUG, layer, __VA_ARGS__)
#ifdef SLUICE_TRACE
#define log_trace(layer, ...) log_at(LOG_TRACE, layer, __VA_ARGS__)
#else
#define log_trace(layer, ...) ((void)0)
#endif
#define log_at(level, layer, ...)             \
    do {                                     \
        if (log_on(level, layer))             \
            log_line(layer, __VA_ARGS__);     \
    } while (0)

/* "1.5 GiB" for 1610612736; buf holds at least 24 bytes and is returned. */
const char *log_size(char *buf, double bytes);

#endif
