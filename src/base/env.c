/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the environment, once, by the table of env_defs.h.  Called at init
 * and by the tools; every other file reads the struct `env`.  A bad value is
 * an error of init, an unknown name a warning. */
#include "base/env.h"
#include "base/json.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum env_kind {
    KIND_any, KIND_flag, KIND_int, KIND_size, KIND_word, KIND_text,
    KIND_path, KIND_report
};
enum env_source { FROM_DEFAULT, FROM_SHMEM, FROM_SMA };

struct row {
    const char *layer, *name;
    enum env_kind kind;
    const char *def, *least, *most, *help;
    void *value;
};

struct env_table env;

static const struct row rows[] = {
#define ENV(layer, NAME, kind, def, least, most, help) \
    { #layer, #NAME, KIND_##kind, def, least, most, help, &env.NAME },
#include "base/env_defs.h"
#undef ENV
};
enum { ROWS = sizeof rows / sizeof *rows };

static enum env_source sources[ROWS];

static const char *const source_names[] = { "default", "SHMEM_", "SMA_" };

/* The variables of 1.6 have an older SMA_ spelling; SHMEM_ wins. */
bool env_has_sma(const char *name, size_t len)
{
    static const char *const names[] = {
        "VERSION", "INFO", "SYMMETRIC_SIZE", "DEBUG"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], name, len))
            return true;
    return false;
}

/* Empty is as good as unset: a script clears a variable so. */
static const char *get(const char *prefix, const char *name)
{
    char full[64];
    const char *v;

    snprintf(full, sizeof full, "%s%s", prefix, name);
    v = getenv(full);
    return v && *v ? v : NULL;
}

static const char *look_up(const char *name, enum env_source *source)
{
    const char *v = get("SHMEM_", name);

    *source = FROM_SHMEM;
    if (!v && env_has_sma(name, strlen(name))) {
        v = get("SMA_", name);
        *source = FROM_SMA;
    }
    if (!v)
        *source = FROM_DEFAULT;
    return v;
}

const char *env_foreign(const char *name)
{
    return getenv(name);
}

bool env_foreign_default(const char *name, const char *value)
{
    return !env_foreign(name) && setenv(name, value, 1) == 0;
}

bool env_foreign_raise(const char *name, const char *value)
{
    const char *was = env_foreign(name);

    return was && strtoull(was, NULL, 0) < strtoull(value, NULL, 0) &&
           setenv(name, value, 1) == 0;
}

bool env_is_set(const char *name)
{
    enum env_source source;

    return look_up(name, &source) != NULL;
}

double env_parse_number(const char *text, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double v = strtod_l(text, end, c);

    freelocale(c);
    return v;
}

int env_parse_size(const char *text, bool rest, size_t *out)
{
    static const char units[] = "kmgt";
    const char *unit;
    char *end;
    double v;

    if (!isdigit((unsigned char)*text) &&
        !(*text == '.' && isdigit((unsigned char)text[1])))
        return -EINVAL;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return -EINVAL;
    v = env_parse_number(text, &end);
    if (*end) {
        unit = strchr(units, tolower((unsigned char)*end));
        if (!unit || (end[1] && !rest))
            return -EINVAL;
        v = ldexp(v, 10 * (int)(unit - units + 1));
    }
    v = ceil(v);
    if (!(v < 0x1p63))
        return -EINVAL;
    *out = (size_t)v;
    return 0;
}

static int parse_flag(const char *text, bool *out)
{
    static const char *const yes[] = { "1", "y", "yes", "on", "true" };
    static const char *const no[] = { "0", "n", "no", "off", "false" };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (!strcasecmp(text, yes[i])) {
            *out = true;
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        if (!strcasecmp(text, no[i])) {
            *out = false;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_int(const struct row *r, const char *text, long *out)
{
    char *end;
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (errno || end == text || *end)
        return -EINVAL;
    if (*r->least && v < strtol(r->least, NULL, 10))
        return -EINVAL;
    if (*r->most && v > strtol(r->most, NULL, 10))
        return -EINVAL;
    *out = v;
    return 0;
}

static int parse_bounded_size(const struct row *r, const char *text,
                              size_t *out)
{
    bool rest = strstr(r->name, "SYMMETRIC_SIZE") != NULL;
    size_t v, bound;

    if (!*text) {               /* an empty default: chosen at run time */
        *out = 0;
        return 0;
    }
    if (env_parse_size(text, rest, &v))
        return -EINVAL;
    if (*r->least && !env_parse_size(r->least, false, &bound) && v < bound)
        return -EINVAL;
    if (*r->most && !env_parse_size(r->most, false, &bound) && v > bound)
        return -EINVAL;
    *out = v;
    return 0;
}

static int parse_word(const struct row *r, const char *text, int *out)
{
    size_t len = strlen(text), n;
    const char *w = r->help;

    for (int i = 0; ; i++) {
        n = strcspn(w, "|: ");
        if (n == len && !strncasecmp(w, text, n)) {
            *out = i;
            return 0;
        }
        if (w[n] != '|')
            return -EINVAL;
        w += n + 1;
    }
}

/* A program may change its directory, also between two starts: the directory of
 * the first one counts.  A path stays, for a handler of signals may read it. */
static char directory[PATH_MAX];

static const char *anchored(const struct row *r, const char *text)
{
    static char *paths[ROWS];
    char *path, **kept = &paths[r - rows];

    if (!*text || *text == '/' || !directory[0] ||
        strlen(directory) + strlen(text) + 2 > PATH_MAX ||
        asprintf(&path, "%s/%s", directory, text) < 0)
        return text;
    if (*kept && !strcmp(*kept, path))
        free(path);
    else
        *kept = path;
    return *kept;
}

static int parse_report(const struct row *r, const char *text, env_report *out)
{
    size_t len = strlen(text);
    bool named = len > 5 && !strcmp(text + len - 5, ".json");

    out->file = named ? anchored(r, text) : NULL;
    out->on = true;
    return named ? 0 : parse_flag(text, &out->on);
}

static int parse(const struct row *r, const char *text)
{
    switch (r->kind) {
    case KIND_any:
        *(env_any *)r->value = text != r->def;
        return 0;
    case KIND_flag:
        *(env_flag *)r->value = false;
        return *text ? parse_flag(text, r->value) : 0;
    case KIND_int:
        return parse_int(r, text, r->value);
    case KIND_size:
        return parse_bounded_size(r, text, r->value);
    case KIND_word:
        return parse_word(r, text, r->value);
    case KIND_text:
        *(env_text *)r->value = text;
        return 0;
    case KIND_path:
        *(env_path *)r->value = anchored(r, text);
        return 0;
    case KIND_report:
        return parse_report(r, text, r->value);
    }
    return -EINVAL;
}

static void complain(const struct row *r, const char *text)
{
    const char *pre = sources[r - rows] == FROM_SMA ? "SMA_" : "SHMEM_";
    const char *hint = "see shmem_env(7)";

    switch (r->kind) {
    case KIND_flag:
        hint = "want 1, yes, on, true or 0, no, off, false";
        break;
    case KIND_report:
        hint = "want 1, yes, on, true or 0, no, off, false, or the name of a "
               "file that ends in .json";
        break;
    case KIND_size:
        log_error(ERR_ENV, "%s%s is \"%s\": want a number from %s to %s, with "
                  "an optional k, m, g or t, like 512m or 3.1G", pre, r->name,
                  text, *r->least ? r->least : "1",
                  *r->most ? r->most : "8388607t");
        return;
    case KIND_int:
        log_error(ERR_ENV, "%s%s is \"%s\": want a whole number from %s to %s",
                  pre, r->name, text, *r->least ? r->least : "0",
                  *r->most ? r->most : "any");
        return;
    case KIND_word:
        log_error(ERR_ENV, "%s%s is \"%s\": want one of %.*s", pre, r->name,
                  text, (int)strcspn(r->help, ": "), r->help);
        return;
    default:
        break;
    }
    log_error(ERR_ENV, "%s%s is \"%s\": %s", pre, r->name, text, hint);
}

/* level[:layer,layer] */
static int choose_log(const char *text)
{
    static const char *const levels[] = {
        "error", "warn", "info", "debug", "trace"
    };
    size_t len = strcspn(text, ":"), n;
    const char *p = text + len;
    unsigned layers = 0;
    char layer[16];
    int level = -1, i;

    for (i = 0; i < 5; i++)
        if (strlen(levels[i]) == len && !strncasecmp(text, levels[i], len))
            level = i;
    if (level < 0)
        return -EINVAL;
    while (*p) {
        p++;
        n = strcspn(p, ",");
        if (n >= sizeof layer)
            return -EINVAL;
        memcpy(layer, p, n);
        layer[n] = '\0';
        i = log_layer_index(layer);
        if (i < 0)
            return -EINVAL;
        layers |= 1u << i;
        p += n;
    }
    log_choose(level, layers ? layers : ~0u);
#ifndef SLUICE_TRACE
    if (level == LOG_TRACE)
        log_warn(ERR_ENV, "SHMEM_LOG is \"%s\": this build has no trace lines "
                 "(configure --enable-trace); those of debug are printed", text);
#endif
    return 0;
}

static void complain_log(void)
{
    char layers[128] = "";
    size_t len = 0;

    for (int i = 0; i < LOG_LAYERS && len < sizeof layers; i++)
        len += (size_t)snprintf(layers + len, sizeof layers - len, " %s",
                                log_layer_name(i));
    log_error(ERR_ENV, "SHMEM_LOG is \"%s\": want error, warn, info, debug or "
              "trace, then optionally :layer,layer of%s", env.LOG, layers);
}

const char *env_name(int i)
{
    return i < ROWS ? rows[i].name : NULL;
}

/* A file of the name "1" is not what was meant. */
static int check_trace(void)
{
    enum env_source source;
    const char *text = look_up("TRACE", &source);
    bool on;

    if (!text || parse_flag(text, &on))
        return 0;
    if (!on) {
        env.TRACE = "";
        return 0;
    }
    log_error(ERR_ENV, "SHMEM_TRACE is \"%s\": want the name of a file, like "
              "trace.json", text);
    return -EINVAL;
}

int env_load(void)
{
    const char *text;
    int rc = 0;

    if (!directory[0] && !getcwd(directory, sizeof directory))
        directory[0] = '\0';
    for (int i = 0; i < ROWS; i++) {
        text = look_up(rows[i].name, &sources[i]);
        if (!text)
            text = rows[i].def;
        if (parse(&rows[i], text)) {
            complain(&rows[i], text);
            rc = -EINVAL;
        }
    }
    if (choose_log(env.LOG)) {
        complain_log();
        rc = -EINVAL;
    }
    if (check_trace())
        rc = -EINVAL;
    if (env.DEBUG && !env_is_set("LOG"))
        log_choose(LOG_DEBUG, ~0u);
    return rc;
}

/* As the user would write it, to the byte: "512m". */
static void show_size(size_t bytes, char *out, size_t size)
{
    static const char units[] = " kmgt";
    int i = 0;

    if (!bytes) {
        snprintf(out, size, "auto");
        return;
    }
    for (; i < 4 && bytes % 1024 == 0; i++)
        bytes /= 1024;
    snprintf(out, size, i ? "%zu%c" : "%zu", bytes, units[i]);
}

/* Without the directory. */
static const char *as_written(const struct row *r)
{
    enum env_source source;
    const char *text = look_up(r->name, &source);

    return text ? text : r->def;
}

/* As the user would write it; "" for an empty text. */
static const char *value_text(const struct row *r, size_t auto_size, char *buf,
                              size_t size)
{
    size_t bytes;

    switch (r->kind) {
    case KIND_any:
    case KIND_flag:
        if (r->kind == KIND_flag && !*r->def &&
            sources[r - rows] == FROM_DEFAULT)
            return "auto";
        snprintf(buf, size, "%d", *(bool *)r->value);
        break;
    case KIND_int:
        snprintf(buf, size, "%ld", *(long *)r->value);
        break;
    case KIND_size:
        bytes = *(size_t *)r->value;
        if (!bytes && r->value == &env.SYMMETRIC_SIZE)
            bytes = auto_size;
        show_size(bytes, buf, size);
        break;
    case KIND_word: {
        const char *w = r->help;

        for (int i = *(int *)r->value; i > 0; i--)
            w += strcspn(w, "|") + 1;
        snprintf(buf, size, "%.*s", (int)strcspn(w, "|: "), w);
        break;
    }
    case KIND_report: {
        const env_report *v = r->value;

        if (v->file)
            return as_written(r);
        snprintf(buf, size, "%d", v->on);
        break;
    }
    case KIND_text:
        return *(env_text *)r->value;
    case KIND_path:
        return **(env_path *)r->value ? as_written(r) : "";
    }
    return buf;
}

void env_print(FILE *to, size_t auto_size)
{
    const char *value;
    char buf[32];

    fprintf(to, "%-30s %-12s %-8s %s\n", "variable", "value", "source",
            "meaning");
    for (int i = 0; i < ROWS; i++) {
        value = value_text(&rows[i], auto_size, buf, sizeof buf);
        fprintf(to, "SHMEM_%-24s %-12s %-8s %s\n", rows[i].name,
                *value ? value : "-", source_names[sources[i]], rows[i].help);
    }
}

static const char *const kind_names[] = {
    "any", "flag", "number", "size", "word", "text", "path", "report"
};

void env_write(struct json *to, size_t auto_size)
{
    char name[64], buf[32];

    json_list(to, "environment");
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "SHMEM_%s", rows[i].name);
        json_object(to, NULL);
        json_text(to, "name", name);
        json_text(to, "value", value_text(&rows[i], auto_size, buf,
                                          sizeof buf));
        json_text(to, "source", sources[i] == FROM_DEFAULT ? "default"
                                                           : "environment");
        json_text(to, "type", kind_names[rows[i].kind]);
        json_text(to, "default", rows[i].def);
        json_text(to, "layer", rows[i].layer);
        json_text(to, "meaning", rows[i].help);
        json_close_object(to);
    }
    json_close_list(to);
}

/* "kind", with the bounds of a number and the default. */
static void print_kind(FILE *to, const struct row *r)
{
    fputs(kind_names[r->kind], to);
    if (r->kind == KIND_int)
        fprintf(to, " from %s to %s", r->least, r->most);
    if (*r->def)
        fprintf(to, "; default %s", r->def);
}

/* Sections of shmem_env(7): the layers whose variables belong together.  The
 * page lacks the rows of a layer that none of them names.  The last one takes
 * the aliases, whose help begins with ALIAS. */
#define ALIAS "the same as "
static const struct section {
    const char *title, *layers;
} sections[] = {
    { "Start-up and diagnostics", " api base rt " },
    { "Symmetric memory", " heap " },
    { "Devices", " gtl " },
    { "Waiting and checking", " core diag progress " },
    { "Streams and messages between streams", " stream msg " },
    { "Communication inside kernels", " kernel " },
    { "Network between nodes", " ofi " },
    { "Algorithms of collectives", " coll " },
    { "Tools", " oshrun oshcc " },
    { "Other names of the same variables", NULL },
};

static bool is_in(const struct row *r, const struct section *s)
{
    bool alias = strncmp(r->help, ALIAS, strlen(ALIAS)) == 0;
    char layer[24];

    if (alias || !s->layers)
        return alias && !s->layers;
    snprintf(layer, sizeof layer, " %s ", r->layer);
    return strstr(s->layers, layer) != NULL;
}

static void print_item(FILE *to, const struct row *r)
{
    fprintf(to, ".It Ev SHMEM_%s Pq %s; ", r->name, r->layer);
    print_kind(to, r);
    /* Words and forms are as they must be typed. */
    if (r->kind == KIND_word || r->kind == KIND_text)
        fprintf(to, "\n%s.\n", r->help);
    else
        fprintf(to, "\n%c%s.\n", toupper((unsigned char)*r->help),
                r->help + 1);
}

void env_print_mdoc(FILE *to)
{
    const size_t count = sizeof sections / sizeof *sections;

    for (const struct section *s = sections; s < sections + count; s++) {
        fprintf(to, ".Ss %s\n.Bl -tag -width Ds\n", s->title);
        for (const struct row *r = rows; r < rows + ROWS; r++)
            if (is_in(r, s))
                print_item(to, r);
        fputs(".El\n", to);
    }
}
