/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - the table of shmem_top: a row for each PE, and under it which PEs
 * are waited for and which calls take the time.  Called by main.c. */
#include "top.h"

#include <stdlib.h>
#include <string.h>

/* The lines of a job that are no rows of PEs. */
enum { OTHER_LINES = 5, NUMBER = 16 };

/* "1.25k": at most five characters. */
static const char *number(double v, char text[NUMBER])
{
    static const char units[] = " kMGTP";
    int i = 0;

    for (; v >= 999.5 && units[i + 1]; i++)
        v /= 1000;
    snprintf(text, NUMBER, v < 0.05 ? "0" : v < 9.995 && i ? "%.2f" :
             v < 99.95 ? "%.1f" : "%.0f", v);
    if (i)
        snprintf(text + strlen(text), NUMBER - strlen(text), "%c", units[i]);
    return text;
}

static void print_percent(double part)
{
    char text[NUMBER];

    snprintf(text, sizeof text, "%.0f%%", part * 100);
    printf(" %6s", text);
}

const char *why_silent(const struct pe *p)
{
    return !p->state || p->state == 'Z' ? "has ended"
           : p->state == 'T' || p->state == 't' ? "is stopped by a signal"
           : !p->answered ? "does not answer" : NULL;
}

/* A line of the terminal holds no more. */
static void print_rest(const char *text, int columns, int used)
{
    int room = columns > used + 8 ? columns - used : columns ? 8 : 0;

    if (room)
        printf("%.*s\n", room, text);
    else
        printf("%s\n", text);
}

enum { ROW_HEAD = 60 };
static void print_row(const struct pe *p, int columns)
{
    const char *silent = why_silent(p);
    struct rates r = rates_of(p);
    char text[NUMBER], all[2 * LINE_SIZE];

    printf("%5u %8d", p->page->pe, p->pid);
    if (r.seconds > 0) {
        print_percent(r.cpu);
        printf(" %7s", number(r.calls, text));
        printf(" %7s", number(r.bytes[PROFILE_SELF] + r.bytes[PROFILE_NODE],
                              text));
        printf(" %7s", number(r.bytes[PROFILE_NETWORK], text));
        print_percent(r.waiting);
    } else {
        printf(" %6s %7s %7s %7s %6s", "-", "-", "-", "-", "-");
    }
    snprintf(all, sizeof all, "%s%s", silent ? silent : p->now.report,
             silent ? "" : p->now.memory);
    printf("  ");
    print_rest(all, columns, ROW_HEAD - 6);
}

/* "PE 2 by 3 PEs", the most wanted first. */
struct wanted {
    int pe;
    unsigned by;
};

static int most_first(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    return x->by != y->by ? (x->by < y->by ? 1 : -1)
                          : (x->pe > y->pe) - (x->pe < y->pe);
}

static void add_wanted(struct wanted *all, size_t *n, int pe)
{
    size_t i = 0;

    while (i < *n && all[i].pe != pe)
        i++;
    if (i == *n)
        all[(*n)++] = (struct wanted){ .pe = pe };
    all[i].by++;
}

static void print_wanted(const struct pe *p, const struct pe *end)
{
    struct wanted *all = calloc((size_t)(end - p) * STATUS_AWAITED,
                                sizeof *all);
    size_t n = 0;

    for (; all && p < end; p++)
        for (unsigned i = 0; !why_silent(p) && i < p->now.n_awaited &&
                             i < STATUS_AWAITED; i++)
            add_wanted(all, &n, p->now.awaited[i]);
    if (n)
        qsort(all, n, sizeof *all, most_first);
    printf("waited for:");
    for (size_t i = 0; i < n && i < 6; i++)
        printf("%s PE %d by %u", i ? "," : "", all[i].pe, all[i].by);
    puts(n > 6 ? ", ..." : n ? "" : " no PE");
    free(all);
}

static void print_calls(const struct pe *p, const struct pe *end)
{
    struct share top[TOP_CALLS];
    unsigned n = shares_of(p, end, top);
    char text[NUMBER];

    printf("most time: ");
    for (unsigned i = 0; i < n; i++)
        printf("%s %s %.0f%% (%s/s)", i ? "," : "", top[i].call,
               top[i].ns / 1e7 / (double)(end - p), number(top[i].count, text));
    puts(n ? "" : " no call has ended");
}

static void print_program(const struct pe *p)
{
    char path[32], name[64] = "?";
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/comm", p->pid);
    f = fopen(path, "re");
    if (f && fgets(name, sizeof name, f))
        name[strcspn(name, "\n")] = '\0';
    if (f)
        fclose(f);
    printf("%s", name);
}

void print_table(const struct pe *p, const struct pe *end, int lines,
                 int columns)
{
    int rows = (int)(end - p), most = lines ? lines - OTHER_LINES : rows;

    print_program(p);
    printf(": job %s, %d of %u PEs on this host\n",
           p->page->job[0] ? p->page->job : "of one process", rows,
           p->page->n_pes);
    printf("%5s %8s %6s %7s %7s %7s %6s  what it does\n", "PE", "PID", "CPU",
           "calls/s", "node/s", "net/s", "waits");
    most = most < 1 ? 1 : most < rows ? most : rows;
    for (int i = 0; i < most; i++)
        print_row(p + i, columns);
    if (most < rows)
        printf("and %d more PEs, for which the screen has no room\n",
               rows - most);
    print_wanted(p, end);
    print_calls(p, end);
}
