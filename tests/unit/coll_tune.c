/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each word of SHMEM_COLL_... chooses the algorithm of that name,
 * and without one every team and size gets one of the same. */
#include "unit.h"

#include "base/env.h"
#include "coll/coll_int.h"

#include <limits.h>

/* The words of each variable, as its row lists them. */
#define ENV(room, NAME, kind, def, least, most, help) { #NAME, help },
static const struct {
    const char *name, *help;
} rows[] = {
#include "base/env_defs.h"
};
#undef ENV

#define KIND_NAME(NAME, ALGS) [COLL_##NAME] = "COLL_" #NAME,
#define ALG_NAME(NAME, WORD) [COLL_##NAME] = WORD,
static const char *const kinds[COLL_KINDS] = {
    COLL_KIND_LIST(KIND_NAME, COLL_NO_ALG)
};
static const char *const names[COLL_ALGS] = { COLL_ALG_LIST(ALG_NAME) };

static struct core_ctl ctl;     /* where a PE publishes its choices */

static const char *help_of(int kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, kinds[kind]))
            return rows[i].help;
    T_TRUE(!"a kind has a row");
    return ":";
}

/* Word number i of the row, or false when there are fewer. */
static bool word_of(int kind, int i, char *out, size_t size)
{
    const char *w = help_of(kind);

    for (; i > 0; i--) {
        w += strcspn(w, "|:");
        if (*w++ != '|')
            return false;
    }
    snprintf(out, size, "%.*s", (int)strcspn(w, "|:"), w);
    return true;
}

/* What the library has for a collective's words ends where its row ends. */
T(each_row_has_as_many_words_as_algorithms)
{
    char word[16];
    int n;

    for (int k = 0; k < COLL_KINDS; k++) {
        for (n = 0; word_of(k, n, word, sizeof word); n++) {
            enum coll_alg alg = coll_alg_at((enum coll_kind)k, n);

            T_STR(alg < COLL_ALGS ? names[alg] : "none", word);
        }
        if (!T_EQ(coll_alg_at((enum coll_kind)k, n), COLL_ALGS))
            fprintf(stderr, "the row of SHMEM_%s in env_defs.h lacks a word "
                    "that coll_alg.h has\n", kinds[k]);
        T_EQ(coll_alg_at((enum coll_kind)k, n + 20), COLL_ALGS);
    }
}

static void set(int kind, const char *word)
{
    char full[64];

    snprintf(full, sizeof full, "SHMEM_%s", kinds[kind]);
    if (word)
        setenv(full, word, 1);
    else
        unsetenv(full);
    T_EQ(env_load(), 0);
    coll_open();
}

static const int sizes_of_teams[] = {
    1, 2, 3, 4, 5, 8, 9, 16, 17, 64, 65, 1000, INT_MAX
};
enum { TEAMS = sizeof sizes_of_teams / sizeof *sizes_of_teams };

static struct core_nodes nodes = { .runs = true };
/* Where the members are: together, each on its own node, several on some. */
static const struct place {
    bool mapped;
    struct core_nodes *nodes;
} together = { true, NULL }, apart = { false, NULL },
  grouped = { false, &nodes };

/* fn(kind, what was chosen) for teams and sizes all over the range. */
static void each_choice(int kind, const struct place *p,
                        void (*fn)(int kind, enum coll_alg alg))
{
    for (int i = 0; i < TEAMS; i++) {
        struct core_team t = { .n_pes = sizes_of_teams[i],
                               .mapped = p->mapped, .nodes = p->nodes };

        for (int shift = 0; shift < 64; shift++) {
            fn(kind, coll_choose(kind, &t, ((size_t)1 << shift) - 1));
            fn(kind, coll_choose(kind, &t, (size_t)1 << shift));
        }
        fn(kind, coll_choose(kind, &t, SIZE_MAX));
    }
}

/* A place where that algorithm can serve. */
static const struct place *place_for(const char *word)
{
    return strcmp(word, "nodes") ? &together : &grouped;
}

static const char *wanted;

static void is_wanted(int kind, enum coll_alg alg)
{
    (void)kind;
    T_STR(names[alg], wanted);
}

T(each_word_chooses_what_it_says)
{
    char word[32];

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        T_TRUE(word_of(kind, 0, word, sizeof word));
        T_STR(word, "auto");
        for (int i = 1; word_of(kind, i, word, sizeof word); i++) {
            set(kind, word);
            wanted = word;
            each_choice(kind, place_for(word), is_wanted);
        }
        set(kind, NULL);
    }
}

static void is_of_its_kind(int kind, enum coll_alg alg)
{
    char word[32];
    bool found = false;

    T_NE(alg, COLL_AUTO);
    for (int i = 1; word_of(kind, i, word, sizeof word) && !found; i++)
        found = !strcmp(word, names[alg]);
    if (!found)
        fprintf(stderr, "%s for %s\n", names[alg], kinds[kind]);
    T_TRUE(found);
}

T(every_team_and_size_has_an_algorithm)
{
    for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        core_status.oversubscribed = oversubscribed;
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            set(kind, oversubscribed ? "AUTO" : NULL);
            each_choice(kind, &together, is_of_its_kind);
            each_choice(kind, &apart, is_of_its_kind);
            each_choice(kind, &grouped, is_of_its_kind);
        }
    }
}

static void needs_no_memory(int kind, enum coll_alg alg)
{
    (void)kind;
    T_NE(alg, COLL_PULL);
    T_NE(alg, COLL_SPLIT);
    T_NE(alg, COLL_NODES);
}

static void is_flat(int kind, enum coll_alg alg)
{
    (void)kind;
    T_NE(alg, COLL_NODES);
}

/* Where an algorithm cannot serve, asked for or not, another one does. */
T(far_members_share_no_memory)
{
    char word[32];

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        for (int i = 0; word_of(kind, i, word, sizeof word); i++) {
            set(kind, word);
            each_choice(kind, &apart, needs_no_memory);
            each_choice(kind, &together, is_flat);
        }
        set(kind, NULL);
    }
    nodes.runs = false;
    set(COLL_FCOLLECT, "nodes");
    each_choice(COLL_FCOLLECT, &grouped, needs_no_memory);
    set(COLL_FCOLLECT, NULL);
    nodes.runs = true;
}

T(one_variable_leaves_the_other_kinds_alone)
{
    struct core_team t = { .n_pes = 4 };
    enum coll_alg was[COLL_KINDS];

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        set(kind, NULL);
        was[kind] = coll_choose(kind, &t, 100);
    }
    set(COLL_REDUCE, "ring");
    for (int kind = 0; kind < COLL_KINDS; kind++)
        T_EQ(coll_choose(kind, &t, 100),
             kind == COLL_REDUCE ? COLL_RING : was[kind]);
    set(COLL_REDUCE, NULL);
}

/* A peer compares one word with its own: no two settings may give the same. */
T(every_setting_is_distinct)
{
    enum { MOST = COLL_KINDS * 8 };
    uint64_t seen[MOST];
    char word[32];
    int n = 0;

    set(0, NULL);
    seen[n++] = ctl.choices;
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        for (int i = 1; word_of(kind, i, word, sizeof word); i++) {
            set(kind, word);
            seen[n++] = ctl.choices;
        }
        set(kind, NULL);
        T_EQ(ctl.choices, seen[0]);
    }
    for (const char *const *w = (const char *[]){ "gather", "dissemination",
                                                  "nodes", NULL }; *w; w++) {
        setenv("SHMEM_COLL_SYNC", *w, 1);
        set(0, NULL);
        seen[n++] = ctl.choices;
    }
    unsetenv("SHMEM_COLL_SYNC");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            T_NE(seen[i], seen[k]);
}

int main(void)
{
    core_ctl = &ctl;
    T_RUN(each_word_chooses_what_it_says);
    T_RUN(every_team_and_size_has_an_algorithm);
    T_RUN(far_members_share_no_memory);
    T_RUN(one_variable_leaves_the_other_kinds_alone);
    T_RUN(each_row_has_as_many_words_as_algorithms);
    T_RUN(every_setting_is_distinct);
    return T_DONE();
}
