/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints every line of the library and of its tools to standard error.  Called
 * by all layers from any thread.  A line is one write(2), so lines of several
 * threads and PEs do not mix; no call here changes errno. */
#include "base/log.h"
#include "base/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct err_text err_texts[ERR_CODES] = {
#define ERR(name, what, cure) { #name, what, cure },
#include "base/err_defs.h"
#undef ERR
};

static const char *const layer_names[LOG_LAYERS] = {
    "base", "rt", "gtl", "heap", "xport", "progress", "sm", "ofi", "diag",
    "core", "coll", "stream", "msg", "kernel", "api"
};

static int speaker_pe = -1;
static const char *speaker_tool;
static char speaker_host[256] = "";
static enum log_level max_level = LOG_WARN;
static unsigned layer_mask = ~0u;
void (*log_stalled)(const char *text);
/* Ends the next error line, then none. */
static const char *cause;

void log_identify(int pe, const char *host)
{
    size_t len = strnlen(host, sizeof speaker_host - 1);

    memcpy(speaker_host, host, len);
    speaker_host[len] = '\0';
    speaker_pe = pe;
}

int log_pe(void)
{
    return speaker_pe;
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
    max_level = level;
    layer_mask = layers;
}

bool log_on(enum log_level level, enum log_layer layer)
{
    return level <= max_level && (layer_mask >> layer & 1);
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

void log_blame(const char *text)
{
    __atomic_store_n(&cause, text, __ATOMIC_RELAXED);
}

void log_begin(struct line *l)
{
    line_begin(l);
    if (speaker_tool)
        line_addf(l, "%s: ", speaker_tool);
    else if (speaker_pe >= 0)
        line_addf(l, "sluice: PE %d (%s): ", speaker_pe, log_host());
    else
        line_addf(l, "sluice: (%s): ", log_host());
}

__attribute__((format(printf, 3, 0)))
static void print_coded(char level, enum err_code code, const char *fmt,
                        va_list ap)
{
    int saved = errno;
    const char *why = NULL;
    struct line l, tail;
    size_t head;

    log_begin(&l);
    head = l.n;
    errno = saved;              /* for %m */
    line_vprintf(&l, fmt, ap);
    if (code == ERR_STALL && level == 'W' && log_stalled)
        log_stalled(l.at + head);
    if (level == 'E')
        why = __atomic_exchange_n(&cause, NULL, __ATOMIC_RELAXED);
    line_begin(&tail);
    if (why)
        line_addf(&tail, " (%.100s)", why);
    line_addf(&tail, " [S-%c-%s]", level, err_texts[code].name);
    /* The code is what a user searches for: a long text gives way to it. */
    if (l.n > LINE_SIZE - 2 - tail.n)
        l.n = LINE_SIZE - 2 - tail.n;
    line_add(&l, tail.at);
    line_write(&l, STDERR_FILENO);
    errno = saved;
}

void log_error(enum err_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_coded('E', code, fmt, ap);
    va_end(ap);
}

void log_warn(enum err_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_coded('W', code, fmt, ap);
    va_end(ap);
}

void log_print(const char *fmt, ...)
{
    int saved = errno;
    struct line l;
    va_list ap;

    log_begin(&l);
    errno = saved;
    va_start(ap, fmt);
    line_vprintf(&l, fmt, ap);
    va_end(ap);
    line_write(&l, STDERR_FILENO);
    errno = saved;
}

static uint64_t start_ns;       /* 0: shmem_init was not called */

void log_start_clock(void)
{
    start_ns = clock_ns();
}

void log_line(enum log_layer layer, const char *fmt, ...)
{
    uint64_t us = start_ns ? (clock_ns() - start_ns) / 1000 : 0;
    int saved = errno;
    struct line l;
    va_list ap;

    line_begin(&l);
    if (speaker_pe >= 0)
        line_addf(&l, "[%d %s ", speaker_pe, log_host());
    else
        line_addf(&l, "[- %s ", log_host());
    if (start_ns)
        line_addf(&l, "%llu.%d ms ", (unsigned long long)us / 1000,
                  (int)(us / 100 % 10));
    line_addf(&l, "%s] ", layer_names[layer]);
    errno = saved;
    va_start(ap, fmt);
    line_vprintf(&l, fmt, ap);
    va_end(ap);
    line_write(&l, STDERR_FILENO);
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
