/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - every line the library prints.
 * Any thread may call it; a line is one write(2) to stderr, so lines of
 * several threads and PEs do not mix.  Errors and warnings are always shown
 * and end with their code; the lower levels are chosen by SHMEM_LOG.
 * Who detects an error logs it, once; who propagates it stays silent. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

enum log_room {
    LOG_BASE, LOG_RT, LOG_GTL, LOG_HEAP, LOG_XPORT, LOG_SM, LOG_OFI,
    LOG_CORE, LOG_COLL, LOG_STREAM, LOG_API, LOG_ROOMS
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

/* Who speaks: a PE number (negative: not known yet) and a host name. */
void log_identify(int pe, const char *host);
const char *log_host(void);
/* A tool speaks: its errors and warnings begin "name: ". */
void log_tool(const char *name);
/* The next error line ends with "(text)", before the code; NULL: takes that
 * back.  text stays where it is. */
void log_blame(const char *text);

/* Which levels and rooms (bits 1 << log_room) are shown below warnings. */
void log_choose(enum log_level level, unsigned rooms);
bool log_on(enum log_level level, enum log_room room);
/* Index of the room with that name, or -1; and the other way round. */
int log_room_index(const char *name);
const char *log_room_name(int room);

/* "sluice: PE 3 (host): text [S-E-CODE]"; %m is the present errno. */
void log_error(enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same without a code: what the user has asked for. */
void log_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "[3 host room] text" */
void log_line(enum log_room room, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define log_info(room, ...) log_at(LOG_INFO, room, __VA_ARGS__)
#define log_debug(room, ...) log_at(LOG_DEBUG, room, __VA_ARGS__)
#ifdef SLUICE_TRACE
#define log_trace(room, ...) log_at(LOG_TRACE, room, __VA_ARGS__)
#else
#define log_trace(room, ...) ((void)0)
#endif
#define log_at(level, room, ...)             \
    do {                                     \
        if (log_on(level, room))             \
            log_line(room, __VA_ARGS__);     \
    } while (0)

/* "1.5 GiB" for 1610612736; buf holds at least 24 bytes and is returned. */
const char *log_size(char *buf, double bytes);

#endif
