/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024 };

const struct err_text err_texts[ERR_CODES] = {
#define ERR(name, what, cure) { #name, what, cure },
#include "base/err_defs.h"
#undef ERR
};

static const char *const layer_names[LOG_LAYERS] = {
    "base", "rt", "gtl", "heap", "xport", "progress", "sm", "ofi", "diag",
    "core", "coll", "stream", "msg", "api"
};

static int speaker_pe = -1;
static const char *speaker_tool;
static char speaker_host[256] = "";
static enum log_level shown_level = LOG_WARN;
static unsigned shown_layers = ~0u;
/* Ends the next error line, then none. */
static const char *cause;

void log_identify(int pe, const char *host)
{
    size_t len = strnlen(host, sizeof speaker_host - 1);

    memcpy(speaker_host, host, len);
    speaker_host[len] = '\0';
    speaker_pe = pe;
}

void log_tool(const char *name)
{
    speaker_tool = name;
}

const char *log_host(void)
{
    if (!speaker_host[0] &&
        gethostname(speaker_host, sizeof speaker_host - 1) < 0)
        strcpy(speaker_host, "localhost");
    return speaker_host;
}

void log_choose(enum log_level level, unsigned layers)
{
    shown_level = level;
    shown_layers = layers;
}

bool log_on(enum log_level level, enum log_layer layer)
{
    return level <= shown_level && (shown_layers >> layer & 1);
}

int log_layer_index(const char *name)
{
    for (int i = 0; i < LOG_LAYERS; i++)
        if (!strcmp(name, layer_names[i]))
            return i;
    return -1;
}

const char *log_layer_name(int layer)
{
    return layer_names[layer];
}

/* Appends at *at, never past the end: a piece that does not fit is cut. */
__attribute__((format(printf, 3, 0)))
static void append(char *line, size_t *at, const char *fmt, va_list ap)
{
    size_t room = LINE_MAX_BYTES - 1 - *at;    /* one byte for the newline */
    int n = vsnprintf(line + *at, room, fmt, ap);

    if (n > 0)
        *at += (size_t)n < room ? (size_t)n : room - 1;
}

__attribute__((format(printf, 3, 4)))
static void appendf(char *line, size_t *at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    append(line, at, fmt, ap);
    va_end(ap);
}

void log_blame(const char *text)
{
    __atomic_store_n(&cause, text, __ATOMIC_RELAXED);
}

static void put_line(char *line, size_t at)
{
    ssize_t n;

    for (size_t i = 0; i < at; i++)     /* what users pass may hold newlines */
        if ((unsigned char)line[i] < ' ')
            line[i] = '?';
    line[at++] = '\n';
    do {
        n = write(STDERR_FILENO, line, at);
    } while (n < 0 && errno == EINTR);
}

/* Who speaks. */
static void begin(char *line, size_t *at)
{
    int saved = errno;

    if (speaker_tool)
        appendf(line, at, "%s: ", speaker_tool);
    else if (speaker_pe >= 0)
        appendf(line, at, "sluice: PE %d (%s): ", speaker_pe, log_host());
    else
        appendf(line, at, "sluice: (%s): ", log_host());
    errno = saved;
}

__attribute__((format(printf, 3, 0)))
static void coded(char level, enum err_code code, const char *fmt, va_list ap)
{
    char line[LINE_MAX_BYTES], tail[128];
    int saved = errno, tail_len;
    const char *why = NULL;
    size_t at = 0;

    begin(line, &at);
    append(line, &at, fmt, ap);
    if (level == 'E')
        why = __atomic_exchange_n(&cause, NULL, __ATOMIC_RELAXED);
    /* The code is what a user searches for: a long text gives way to it. */
    tail_len = snprintf(tail, sizeof tail, "%s%s%s [S-%c-%s]", why ? " (" : "",
                        why ? why : "", why ? ")" : "", level,
                        err_texts[code].name);
    if (at > LINE_MAX_BYTES - 2 - (size_t)tail_len)
        at = LINE_MAX_BYTES - 2 - (size_t)tail_len;
    memcpy(line + at, tail, (size_t)tail_len);
    put_line(line, at + (size_t)tail_len);
    errno = saved;
}

void log_error(enum err_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    coded('E', code, fmt, ap);
    va_end(ap);
}

void log_warn(enum err_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    coded('W', code, fmt, ap);
    va_end(ap);
}

void log_print(const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    int saved = errno;
    size_t at = 0;
    va_list ap;

    begin(line, &at);
    va_start(ap, fmt);
    append(line, &at, fmt, ap);
    va_end(ap);
    put_line(line, at);
    errno = saved;
}

void log_line(enum log_layer layer, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    int saved = errno;
    size_t at = 0;
    va_list ap;

    if (speaker_pe >= 0)
        appendf(line, &at, "[%d %s %s] ", speaker_pe, log_host(),
                layer_names[layer]);
    else
        appendf(line, &at, "[- %s %s] ", log_host(), layer_names[layer]);
    errno = saved;
    va_start(ap, fmt);
    append(line, &at, fmt, ap);
    va_end(ap);
    put_line(line, at);
    errno = saved;
}

const char *log_size(char *buf, double bytes)
{
    static const char units[][4] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t u = 0;

    while (bytes >= 1024 && u + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        u++;
    }
    snprintf(buf, 24, u && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes,
             units[u]);
    return buf;
}
