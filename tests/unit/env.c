/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the environment table takes what shmem_env(7) says, refuses
 * the rest with the allowed values, and knows where each value is from. */
#include "unit.h"

#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <locale.h>

extern char **environ;

/* Forgets every variable of ours. */
static void clear(void)
{
    char name[128];

    for (char **e = environ; *e; ) {
        size_t len = strcspn(*e, "=");

        if ((!strncmp(*e, "SHMEM_", 6) || !strncmp(*e, "SMA_", 4)) &&
            len < sizeof name) {
            memcpy(name, *e, len);
            name[len] = '\0';
            unsetenv(name);
            e = environ;
        } else {
            e++;
        }
    }
}

#define ENV(layer, NAME, kind, def, least, most, help) #NAME,
static const char *const names[] = {
#include "base/env_defs.h"
};
#undef ENV
enum { ROWS = sizeof names / sizeof *names };

static const char *said;        /* by the last load() */

static int load(void)
{
    int rc;

    unit_capture();
    rc = env_load();
    said = unit_captured();
    return rc;
}

static int load_with(const char *name, const char *value)
{
    clear();
    setenv(name, value, 1);
    return load();
}

/* Silently 0, and the value is there. */
#define GIVES(name, value, member, want)        \
    do {                                        \
        T_EQ(load_with(name, value), 0);        \
        T_STR(said, "");                        \
        T_EQ(env.member, want);                 \
    } while (0)

/* -EINVAL and one line with the name, the value and the allowed ones. */
static void refused(const char *name, const char *value, const char *hint)
{
    char expect[128];

    if (!T_EQ(load_with(name, value), -EINVAL))
        fprintf(stderr, "  that was %s=\"%s\"\n", name, value);
    T_EQ(unit_lines(said), 1);
    snprintf(expect, sizeof expect, "): %s is \"%s\": ", name, value);
    T_HAS(said, expect);
    T_HAS(said, hint);
    T_HAS(said, " [S-E-ENV]\n");
}

T(sizes_follow_the_grammar)
{
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {
        { "1", 1 }, { "123456", 123456 }, { "1k", 1024 }, { "1K", 1024 },
        { "2m", 2 << 20 }, { "2M", 2 << 20 }, { "3g", (size_t)3 << 30 },
        { "3G", (size_t)3 << 30 }, { "4t", (size_t)4 << 40 },
        { "4T", (size_t)4 << 40 }, { "3.1M", 3250586 }, { ".5m", 1 << 19 },
        { "5.", 5 }, { "1.5k", 1536 }, { "0.1", 1 }, { "1.0001k", 1025 },
        { "4503599627370497", 4503599627370497 },
        { "1023.5t", 1125350151028736 },
        /* What follows the multiplier does not count, by the standard. */
        { "512mb", 512 << 20 }, { "1k 2", 1024 },
    };
    static const char *const bad[] = {
        "k", "m1", "-1", "+1", " 1", "1x", "1 k", "0x10", "0X1k", ".", ".k",
        "-0", "inf", "nan", "infk", "1e400", "8388608t", "9223372036854775808",
    };
    size_t bytes;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bytes = 7;
        T_EQ(env_parse_size(good[i].text, true, &bytes), 0);
        T_EQ(bytes, good[i].bytes);
        GIVES("SHMEM_SYMMETRIC_SIZE", good[i].text, SYMMETRIC_SIZE,
              good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bytes = 7;
        T_EQ(env_parse_size(bad[i], true, &bytes), -EINVAL);
        T_EQ(bytes, 7);
        if (*bad[i])
            refused("SHMEM_SYMMETRIC_SIZE", bad[i], "k, m, g or t, like 512m");
    }
    refused("SHMEM_SYMMETRIC_SIZE", "0", "a number from 1 to 8388607t");
    /* Where the standard has no say it does count. */
    T_EQ(env_parse_size("8k", false, &bytes), 0);
    T_EQ(bytes, 8192);
    T_EQ(env_parse_size("8kfoo", false, &bytes), -EINVAL);
    T_EQ(env_parse_size("8kb", false, &bytes), -EINVAL);
    T_EQ(env_parse_size("8k ", false, &bytes), -EINVAL);
    T_EQ(bytes, 8192);
    GIVES("SHMEM_DEVICE_MEMORY", "64m", DEVICE_MEMORY, (size_t)64 << 20);
    refused("SHMEM_DEVICE_MEMORY", "64mb", "k, m, g or t, like 512m");
    refused("SHMEM_SYMMETRIC_SIZE", "0k", "a number from 1 to 8388607t");
}

/* A program may have called setlocale() before it starts the library. */
T(a_decimal_comma_of_the_program_changes_nothing)
{
    char dir[] = "/tmp/unit_env_XXXXXX", command[512];

    if (!mkdtemp(dir))
        T_SKIP("no folder for a locale");
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\n"
             "thousands_sep \"\"\\ngrouping -1\\nEND LC_NUMERIC\\n' >comma && "
             "localedef -c -i ./comma -f ANSI_X3.4-1968 ./xx_XX >log 2>&1",
             dir);
    if (system(command) < 0)
        T_SKIP("no shell");
    setenv("LOCPATH", dir, 1);
    if (setlocale(LC_NUMERIC, "xx_XX")) {
        GIVES("SHMEM_SYMMETRIC_SIZE", "3.1M", SYMMETRIC_SIZE, 3250586);
        refused("SHMEM_SYMMETRIC_SIZE", "3,1M", "like 512m or 3.1G");
    } else {
        fprintf(stderr, "no locale with a decimal comma; not tested\n");
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", dir);
    T_EQ(system(command), 0);
}

T(flags_know_their_words)
{
    static const char *const yes[] = {
        "1", "y", "yes", "on", "true", "Y", "YES", "On", "TRUE"
    };
    static const char *const no[] = {
        "0", "n", "no", "off", "false", "N", "No", "OFF", "False"
    };
    static const char *const bad[] = { "2", "maybe", "ye", "yess", " 1", "-" };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        GIVES("SHMEM_CHECK", yes[i], CHECK, true);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        GIVES("SHMEM_STATIC_DATA", no[i], STATIC_DATA, false);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("SHMEM_CHECK", bad[i], "want 1, yes, on, true or 0, no, off, "
                "false");
}

T(numbers_stay_within_their_bounds)
{
    static const char *const bad[] = {
        "-1", "1000001", "x", "5x", "1.5", "99999999999999999999", "0x5"
    };

    GIVES("SHMEM_SPIN_US", "0", SPIN_US, 0);
    GIVES("SHMEM_SPIN_US", "1000000", SPIN_US, 1000000);
    GIVES("SHMEM_SPIN_US", "017", SPIN_US, 17);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("SHMEM_SPIN_US", bad[i], "from 0 to 1000000");
}

T(words_are_those_of_the_row_in_any_case)
{
    static const char *const words[] = {
        "auto", "push", "pull", "binomial", "pipeline"
    };

    for (int i = 0; i < 5; i++)
        GIVES("SHMEM_COLL_BROADCAST", words[i], COLL_BROADCAST, i);
    GIVES("SHMEM_COLL_BROADCAST", "PuLL", COLL_BROADCAST, 2);
    refused("SHMEM_COLL_BROADCAST", "pul", "auto|push|pull|binomial|pipeline");
    refused("SHMEM_COLL_BROADCAST", "pulls", "auto|push|pull|");
    refused("SHMEM_COLL_BROADCAST", "ring", "auto|push|pull|");
    refused("SHMEM_COLL_BROADCAST", "push|pull", "auto|push|pull|");
    refused("SHMEM_COLL_BROADCAST", "algorithm", "auto|push|pull|");
}

T(any_value_of_the_variables_of_the_standard_means_yes)
{
    GIVES("SHMEM_VERSION", " ", VERSION, true);
    GIVES("SHMEM_INFO", "0", INFO, true);
    GIVES("SHMEM_DEBUG", "no", DEBUG, true);
    clear();
    T_EQ(load(), 0);
    T_TRUE(!env.VERSION && !env.INFO && !env.DEBUG);
}

T(an_empty_variable_is_unset)
{
    clear();
    for (int i = 0; i < ROWS; i++) {
        char name[64];

        snprintf(name, sizeof name, "SHMEM_%s", names[i]);
        setenv(name, "", 1);
    }
    setenv("SMA_INFO", "", 1);
    setenv("SHMEM_NO_SUCH", "", 1);
    T_EQ(load(), 0);
    T_STR(said, "");
    T_TRUE(!env.VERSION && !env.INFO && !env.CHECK && env.STATIC_DATA);
    T_EQ(env.SYMMETRIC_SIZE, 0);
    T_EQ(env.SPIN_US, 20);
    T_TRUE(!env_is_set("SYMMETRIC_SIZE"));
    unit_capture();
    env_warn_unknown();
    T_STR(unit_captured(), "");
    setenv("SMA_SYMMETRIC_SIZE", "3k", 1);
    T_EQ(load(), 0);
    T_EQ(env.SYMMETRIC_SIZE, 3072);
}

T(the_older_prefix_serves_where_it_ever_did)
{
    GIVES("SMA_SYMMETRIC_SIZE", "3k", SYMMETRIC_SIZE, 3072);
    T_TRUE(env_is_set("SYMMETRIC_SIZE"));
    setenv("SHMEM_SYMMETRIC_SIZE", "5k", 1);
    T_EQ(load(), 0);
    T_EQ(env.SYMMETRIC_SIZE, 5120);
    refused("SMA_SYMMETRIC_SIZE", "bad", "like 512m or 3.1G");
    GIVES("SMA_INFO", "1", INFO, true);
    GIVES("SMA_SPIN_US", "77", SPIN_US, 20);
    T_TRUE(!env_is_set("SPIN_US"));
}

T(every_bad_value_is_reported_at_once)
{
    clear();
    setenv("SHMEM_SPIN_US", "x", 1);
    setenv("SHMEM_CHECK", "x", 1);
    setenv("SHMEM_LOG", "loud", 1);
    T_EQ(load(), -EINVAL);
    T_EQ(unit_lines(said), 3);
    T_HAS(said, "SHMEM_SPIN_US is \"x\"");
    T_HAS(said, "SHMEM_CHECK is \"x\"");
    T_HAS(said, "SHMEM_LOG is \"loud\"");
}

T(the_log_variable_chooses_levels_and_layers)
{
    T_EQ(load_with("SHMEM_LOG", "debug:heap,sm"), 0);
    T_TRUE(log_on(LOG_DEBUG, LOG_HEAP));
    T_TRUE(log_on(LOG_INFO, LOG_SM));
    T_TRUE(!log_on(LOG_TRACE, LOG_HEAP));
    T_TRUE(!log_on(LOG_INFO, LOG_CORE));
    T_EQ(load_with("SHMEM_LOG", "INFO"), 0);
    T_TRUE(log_on(LOG_INFO, LOG_API));
    T_TRUE(!log_on(LOG_DEBUG, LOG_API));
    refused("SHMEM_LOG", "debug:kitchen", ":layer,layer of base rt gtl heap "
            "xport progress sm ofi diag core coll stream msg kernel api "
            "[S-E-ENV]");
    refused("SHMEM_LOG", "debug:heapheapheapheap", ":layer,layer");
    refused("SHMEM_LOG", "debug:heap,", ":layer,layer");
    refused("SHMEM_LOG", "debugging", "error, warn, info");
    T_EQ(load_with("SHMEM_DEBUG", "1"), 0);
    T_TRUE(log_on(LOG_DEBUG, LOG_CORE));
    setenv("SHMEM_LOG", "warn", 1);         /* the more exact one wins */
    T_EQ(load(), 0);
    T_TRUE(!log_on(LOG_DEBUG, LOG_CORE));
    clear();
    T_EQ(load(), 0);
    T_TRUE(!log_on(LOG_INFO, LOG_CORE));
}

static const char *warned(const char *name)
{
    clear();
    setenv(name, "1", 1);
    unit_capture();
    env_warn_unknown();
    return unit_captured();
}

T(unknown_names_are_warned_of_with_the_likely_one)
{
    const char *text = warned("SHMEM_SYMETRIC_SIZE");

    T_HAS(text, "SHMEM_SYMETRIC_SIZE is set but no such variable is known; is "
          "SHMEM_SYMMETRIC_SIZE meant? [S-W-ENV]\n");
    T_HAS(warned("SHMEM_SPIN_UX"), "is SHMEM_SPIN_US meant?");
    T_HAS(warned("SHMEM_CHEK_ALLOC"), "is SHMEM_CHECK_ALLOC meant?");
    T_HAS(warned("SHMEM_SPIN_XYZ"), "shmem_info lists them");
    text = warned("SHMEM_NOTHING_LIKE_THAT");
    T_HAS(text, "SHMEM_NOTHING_LIKE_THAT is set but no such variable is known; "
          "shmem_info lists them [S-W-ENV]\n");
    T_EQ(unit_lines(text), 1);
    T_EQ(unit_lines(warned("SHMEM_A_NAME_MUCH_TOO_LONG_TO_BE_ONE_OF_OURS_AT_"
                           "ALL")), 1);
    T_EQ(unit_lines(warned("SHMEM_")), 1);
    T_STR(warned("SHMEM_SYMMETRIC_SIZE"), "");
    T_STR(warned("SHMEM_LAUNCHER"), "");    /* a tool's */
    T_STR(warned("SHMEMISH"), "");
}

/* The line of the printed table that names the variable. */
static const char *row_with(const char *name, size_t auto_size)
{
    static char table[UNIT_TEXT], line[512];
    FILE *f = fmemopen(table, sizeof table, "w");
    char full[64];
    char *at;

    env_print(f, auto_size);
    fclose(f);
    snprintf(full, sizeof full, "\nSHMEM_%s ", name);
    at = strstr(table, full);
    snprintf(line, sizeof line, "%.*s", at ? (int)strcspn(at + 1, "\n") : 0,
             at ? at + 1 : "");
    return line;
}

static const char *row(const char *name)
{
    return row_with(name, 0);
}

T(the_table_shows_every_value_and_its_source)
{
    clear();
    T_EQ(load(), 0);
    T_STR(said, "");            /* every default is a legal value */
    for (int i = 0; i < ROWS; i++)
        T_HAS(row(names[i]), " default ");
    T_HAS(row("SYMMETRIC_SIZE"), " auto ");
    T_HAS(row_with("SYMMETRIC_SIZE", (size_t)301 << 20), " 301m ");
    T_HAS(row_with("SYMMETRIC_SIZE", 4097), " 4097 ");
    T_HAS(row_with("SYMMETRIC_SIZE", (size_t)5 << 50), " 5120t ");
    T_HAS(row("STATIC_DATA"), " 1 ");
    T_HAS(row("COLL_SYNC"), " auto ");
    T_HAS(row("LAUNCHER"), " - ");
    setenv("SMA_SYMMETRIC_SIZE", "3k", 1);
    setenv("SHMEM_SPIN_US", "33", 1);
    setenv("SHMEM_COLL_REDUCE", "ring", 1);
    setenv("SHMEM_CC", "tcc", 1);
    T_EQ(load(), 0);
    T_HAS(row("SYMMETRIC_SIZE"), " 3k           SMA_ ");
    T_HAS(row_with("SYMMETRIC_SIZE", 77), " 3k           SMA_ ");
    T_HAS(row("SPIN_US"), " 33           SHMEM_ ");
    T_HAS(row("COLL_REDUCE"), " ring         SHMEM_ ");
    T_HAS(row("CC"), " tcc          SHMEM_ ");
}

T(the_manual_gets_an_item_for_each_row)
{
    static char text[UNIT_TEXT];
    FILE *f = fmemopen(text, sizeof text, "w");
    char item[64];

    env_print_mdoc(f);
    fclose(f);
    for (int i = 0; i < ROWS; i++) {
        snprintf(item, sizeof item, ".It Ev SHMEM_%s Pq ", names[i]);
        if (!T_HAS(text, item))
            fprintf(stderr, "  is its layer in sections[] of src/base/env.c?\n");
    }
    T_HAS(text, "number from 0 to 1000000; default 20\nMicroseconds that a wait");
    T_HAS(text, ".Ss Network between nodes\n.Bl -tag -width Ds\n.It Ev "
            "SHMEM_OFI_PROVIDER Pq ofi; text");
    T_HAS(text, "word; default auto\nauto|dissemination|gather|nodes: algo");
}

T(variables_of_others_are_passed_on)
{
    setenv("SLURM_NTASKS", "4", 1);
    T_STR(env_foreign("SLURM_NTASKS"), "4");
    unsetenv("SLURM_NTASKS");
    T_STR(env_foreign("SLURM_NTASKS"), NULL);
}

/* A name of env.h is the number of its word in the row: a word that only one of
 * the two has gives all that follow another meaning. */
T(names_of_words_are_in_the_order_of_their_rows)
{
    GIVES("SHMEM_DEVICE", "auto", DEVICE, ENV_DEVICE_AUTO);
    GIVES("SHMEM_DEVICE", "cuda", DEVICE, ENV_DEVICE_CUDA);
    GIVES("SHMEM_DEVICE", "hip", DEVICE, ENV_DEVICE_HIP);
    GIVES("SHMEM_DEVICE", "software", DEVICE, ENV_DEVICE_SOFTWARE);
    GIVES("SHMEM_DEVICE", "none", DEVICE, ENV_DEVICE_NONE);
    GIVES("SHMEM_DEVICE", "host", DEVICE, ENV_DEVICE_HOST);
    GIVES("SHMEM_DEFAULT_SPACE", "cpu", DEFAULT_SPACE, ENV_SPACE_CPU);
    GIVES("SHMEM_DEFAULT_SPACE", "gpu", DEFAULT_SPACE, ENV_SPACE_GPU);
    GIVES("SHMEM_DEVICE_GRAIN", "auto", DEVICE_GRAIN, ENV_GRAIN_AUTO);
    GIVES("SHMEM_DEVICE_GRAIN", "coarse", DEVICE_GRAIN, ENV_GRAIN_COARSE);
    GIVES("SHMEM_DEVICE_GRAIN", "fine", DEVICE_GRAIN, ENV_GRAIN_FINE);
    GIVES("SHMEM_DEVICE_GRAIN", "uncached", DEVICE_GRAIN, ENV_GRAIN_UNCACHED);
    GIVES("SHMEM_HUGEPAGES", "off", HUGEPAGES, ENV_PAGES_OFF);
    GIVES("SHMEM_HUGEPAGES", "thp", HUGEPAGES, ENV_PAGES_THP);
    GIVES("SHMEM_HUGEPAGES", "2m", HUGEPAGES, ENV_PAGES_2M);
    GIVES("SHMEM_HUGEPAGES", "1g", HUGEPAGES, ENV_PAGES_1G);
}

int main(void)
{
    T_RUN(sizes_follow_the_grammar);
    T_RUN(a_decimal_comma_of_the_program_changes_nothing);
    T_RUN(flags_know_their_words);
    T_RUN(numbers_stay_within_their_bounds);
    T_RUN(words_are_those_of_the_row_in_any_case);
    T_RUN(names_of_words_are_in_the_order_of_their_rows);
    T_RUN(any_value_of_the_variables_of_the_standard_means_yes);
    T_RUN(an_empty_variable_is_unset);
    T_RUN(the_older_prefix_serves_where_it_ever_did);
    T_RUN(every_bad_value_is_reported_at_once);
    T_RUN(the_log_variable_chooses_levels_and_layers);
    T_RUN(unknown_names_are_warned_of_with_the_likely_one);
    T_RUN(the_table_shows_every_value_and_its_source);
    T_RUN(the_manual_gets_an_item_for_each_row);
    T_RUN(variables_of_others_are_passed_on);
    return T_DONE();
}
