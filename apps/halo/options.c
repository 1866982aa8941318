/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

int options_refuse(const char *fmt, ...)
{
    char text[240];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';           /* one line, whatever the words are */
    if (app.me == 0)
        fprintf(stderr, "%s: %s; try --help [H-E-USAGE]\n", app.name, text);
    return 2;
}

/* ---- values: true, or what is wanted instead ---- */

static bool number(const struct option_row *row, const char *text, char *want,
                   size_t room)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (end != text && !*end && !errno && n >= row->least && n <= row->most) {
        *(long *)row->at = n;
        return true;
    }
    snprintf(want, room, "a number from %ld to %ld", row->least, row->most);
    return false;
}

static bool real(const struct option_row *row, const char *text, char *want,
                 size_t room)
{
    char *end;
    double x = strtod(text, &end);

    if (end != text && !*end && x > 0 && x < 1e300) {
        *(double *)row->at = x;
        return true;
    }
    snprintf(want, room, "a number above 0");
    return false;
}

enum { SIZE_MOST = 1 << 20 };

/* As many as there are to be; those left out are 1. */
static bool sizes(const struct option_row *row, const char *text, char *want,
                  size_t room)
{
    long got[8] = { 0 };
    int n = 0, most = (int)row->most;

    for (bool more = true; more && n < most; n++) {
        char *end;

        errno = 0;
        got[n] = strtol(text, &end, 10);
        if (end == text || errno || got[n] < row->least || got[n] > SIZE_MOST)
            break;
        more = *end == 'x';
        text = end + more;
        if (!more && !*end) {
            for (int i = 0; i < most; i++)
                ((long *)row->at)[i] = i <= n ? got[i] : 1;
            return true;
        }
    }
    snprintf(want, room, "%s, of numbers from %ld to %d", row->value,
             row->least, SIZE_MOST);
    return false;
}

/* Old names of modes, which stay, in the order of halo_mode_names. */
static const char *const old_modes[] = { "cpu", "hd", "pss", "st", "rst",
                                         NULL };

/* The number of a word of so many letters; -1. */
static int find(const char *const *words, const char *text, size_t len)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return i;
    return -1;
}

static bool words(const struct option_row *row, const char *text, char *want,
                  size_t room)
{
    bool several = row->kind == OPTION_WORDS;
    unsigned set = 0;
    int i = 0;

    for (;;) {
        size_t len = several ? strcspn(text, ",") : strlen(text);

        i = find(row->words, text, len);
        if (i < 0 && several)
            i = find(old_modes, text, len);
        if (i < 0)
            break;
        set |= 1u << i;
        if (!text[len]) {
            if (several)
                *(unsigned *)row->at = set;
            else
                *(int *)row->at = i;
            return true;
        }
        text += len + 1;
    }
    snprintf(want, room, several ? "some of" : "one of");
    for (i = 0; row->words[i]; i++) {
        size_t used = strlen(want);

        snprintf(want + used, room - used, "%s %s", i ? "," : "",
                 row->words[i]);
    }
    return false;
}

static bool value(const struct option_row *row, const char *text, char *want,
                  size_t room)
{
    switch (row->kind) {
    case OPTION_NUMBER: return number(row, text, want, room);
    case OPTION_REAL:   return real(row, text, want, room);
    case OPTION_SIZES:  return sizes(row, text, want, room);
    default:            return words(row, text, want, room);
    }
}

/* ---- the words of the command line ---- */

/* The row that a word names, and its value if that is behind a =. */
static const struct option_row *named(const struct option_row *rows,
                                      const char *word, const char **text)
{
    size_t len = strcspn(word, "=");

    *text = NULL;
    for (; rows->name; rows++) {
        if (rows->letter && word[0] == '-' && word[1] == rows->letter &&
            !word[2])
            return rows;
        if (strncmp(word, "--", 2) || strlen(rows->name) != len - 2 ||
            strncmp(word + 2, rows->name, len - 2))
            continue;
        if (word[len])
            *text = word + len + 1;
        return rows;
    }
    return NULL;
}

static void help(const struct about *about,
                 const struct option_row *const tables[2])
{
    puts(about->text);
    for (int t = 0; t < 2; t++)
        for (const struct option_row *row = tables[t]; row->name; row++) {
            char left[48], letter[5] = "    ";

            if (row->letter)
                snprintf(letter, sizeof letter, "-%c, ", row->letter);
            snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name,
                     row->value ? " " : "", row->value ? row->value : "");
            printf("  %-25s ", left);
            for (const char *c = row->about; *c; c++)
                if (*c == '\n')
                    printf("\n%28s", "");
                else
                    putchar(*c);
            putchar('\n');
        }
    puts(about->columns);
}

static int read_areas(int argc, char **argv,
                      const struct option_row *const tables[2])
{
    char want[160];

    for (int i = 1; i < argc; i++) {
        const char *text;
        const struct option_row *row = named(tables[0], argv[i], &text);

        if (!row)
            row = named(tables[1], argv[i], &text);
        if (argv[i][0] != '-')
            return options_refuse("argument %.60s: not expected", argv[i]);
        if (!row || (row->kind == OPTION_FLAG && text))
            return options_refuse("option %.60s: unknown%s", argv[i],
                                  row ? ", it has no value" : "");
        if (row->kind == OPTION_FLAG) {
            *(bool *)row->at = true;
            continue;
        }
        if (!text && i + 1 == argc)
            return options_refuse("option %.60s: its value is missing",
                                  argv[i]);
        text = text ? text : argv[++i];
        if (!value(row, text, want, sizeof want))
            return options_refuse("--%s %.60s: say %s", row->name, text,
                                  want);
    }
    return 0;
}

int options_read(int argc, char **argv, const struct about *about,
                 const struct option_row *rows, struct common *out)
{
    static const char *const verify[] = { "all", "last", "none", NULL };
    static const char *const pack[] = { "fused", "apart", NULL };
    static const char *modes[HALO_MODES + 1];
    const unsigned all = (1u << HALO_MODES) - 1;
    int apart = 0, status;
    const struct option_row common[] = {
        { "mode", 'm', OPTION_WORDS, &out->modes, 0, 0, modes, "LIST",
          "who drives the exchange (all):\n"
          "cpu         the host, which computes, too\n"
          "host        the host\n"
          "put-signal  the stream, by puts with signal\n"
          "send        the stream, by matched messages\n"
          "ready-send  the same, by ready sends, with two sets of buffers\n"
          "part        the stream, by partitioned messages, whose parts\n"
          "            the kernel that packs makes ready\n"
          "ki          one kernel of the device for a whole run\n"
          "kt          the same, by puts that the host has posted and the\n"
          "            kernel triggers" },
        { "groups", 0, OPTION_NUMBER, &out->groups, 0, 1024, NULL, "N",
          "groups of the kernel of part, ki and kt (0: as many as there\n"
          "are cores for a PE)" },
        { "pack", 0, OPTION_WORD, &apart, 0, 0, pack, "WORD",
          "a kernel packs for all neighbours: fused, or for each\n"
          "apart (fused)" },
        { "warmup", 'w', OPTION_NUMBER, &out->warmup, 0, 1000000, NULL, "N",
          "steps before a mode's first timed ones (10)" },
        { "trials", 't', OPTION_NUMBER, &out->trials, 1, TRIALS_MAX, NULL,
          "N", "timed runs of each mode, taking turns (5)" },
        { "verify", 'V', OPTION_WORD, &out->verify, 0, 0, verify, "WORD",
          "which runs are compared with the host's: all, last,\n"
          "none (last)" },
        { "seed", 0, OPTION_NUMBER, &out->seed, 0, 1000000000, NULL, "N",
          "other values to begin with (1)" },
        { "json", 'j', OPTION_FLAG, &out->json, 0, 0, NULL, NULL,
          "one JSON object instead of the table" },
        { "spoil", 0, OPTION_NUMBER, &out->spoil, 0, 1000000000, NULL, "N",
          "the last PE sends a wrong value in its N-th round, from\n"
          "0: to test the check" },
        { "help", 'h', OPTION_FLAG, &out->help, 0, 0, NULL, NULL,
          "this text" },
        { .name = NULL }
    };
    const struct option_row *const tables[2] = { rows, common };

    for (int i = 0; i < HALO_MODES; i++)
        modes[i] = halo_mode_names[i];
    *out = (struct common){ .modes = all, .all = all, .warmup = 10,
                            .trials = 5, .seed = 1, .spoil = -1,
                            .verify = VERIFY_LAST };
    status = read_areas(argc, argv, tables);
    out->apart = apart;
    if (status == 0 && out->help) {
        if (app.me == 0)
            help(about, tables);
        return OPTIONS_DONE;
    }
    return status;
}

/* Takes modes out where all were chosen; refuses them where a list has them. */
static int leave_out(struct common *o, unsigned modes, const char *names,
                     const char *why)
{
    if (o->modes != o->all)
        return options_refuse("--mode %s: %s", names, why);
    o->modes &= ~modes;
    o->all &= ~modes;
    if (app.me == 0 && !o->json)
        printf("# without %s: %s\n", names, why);
    return 0;
}

int options_fit(struct common *o, struct device *d,
                const struct persistent *kernels)
{
    const unsigned calling = 1u << HALO_PART | 1u << HALO_KI | 1u << HALO_KT;
    char text[320];
    const char *why;
    int status = 0;

    if (o->modes >> HALO_CPU & 1 && d->gpu) {
        snprintf(text, sizeof text, "the host does not compute in memory of %s",
                 d->info.name);
        status = leave_out(o, 1u << HALO_CPU, "cpu", text);
    }
    if (status || !(o->modes & calling))
        return status;
    why = device_open_persistent(d, kernels);
    if (!app_sum(why != NULL))
        return 0;
    snprintf(text, sizeof text, "the kernel for %s: %s", d->info.name,
             why ? why : "another PE has none");
    return leave_out(o, calling, "part, ki, kt", text);
}

void options_spoilt(const struct common *o, long first, long last)
{
    const char *none = o->verify == VERIFY_NONE
                     ? "no run is compared (--verify none)"
                     : last < first ? "nothing is sent" : NULL;

    if (o->spoil < 0)
        return;
    if (app.me == 0 && none)
        app_die("VERIFY", "--spoil %ld: nothing wrong was found: %s",
                o->spoil, none);
    if (app.me == 0)
        app_die("VERIFY", "--spoil %ld: nothing wrong was found: no run that "
                "is compared has a round of that number: the first one has "
                "rounds %ld to %ld", o->spoil, first, last);
    shmem_barrier_all();        /* PE 0 ends the job */
}
