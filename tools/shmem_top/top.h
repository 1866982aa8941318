/* SPDX-License-Identifier: BSD-3-Clause */
/* top.h - what the parts of shmem_top share.  Threads: one. */
#ifndef SHMEM_TOP_TOP_H
#define SHMEM_TOP_TOP_H

#include "base/status_page.h"

#include <stdbool.h>
#include <stdio.h>

/* A PE of this host, with its last two answers. */
struct pe {
    int pid;
    struct status_page *page;   /* as the PE maps it */
    struct status_page now, before;     /* before.at_ns 0: no earlier answer */
    uint64_t cpu_ns, cpu_before_ns;     /* of the process, at these answers */
    uint64_t cpu_read_ns;               /* and at the last request */
    uint64_t request;             /* the number of the last request */
    char state;                 /* of the process, as ps prints it; 0: ended */
    bool answered;              /* now is of the last request */
};

struct pes {
    struct pe *at;
    size_t n;
};

/* ---- find.c ---- */

/* Adds PEs that are not in the list: with the process numbers pids, which ends
 * with 0, or with NULL all of this user, and sorts it by job and PE. */
void find_pes(struct pes *all, const int *pids);
/* Takes the PEs out that have ended. */
void forget_ended(struct pes *all);

/* ---- query.c ---- */

/* Queries all at once, and waits a moment for the answers. */
void query_pes(struct pes *all);

/* The PEs go on counting; no answer is read. */
void keep_counting(struct pes *all);

/* ---- rate.c ---- */

/* Of the time between the two answers. */
struct rates {
    double seconds;             /* 0: there are no two answers */
    double cpu;                 /* processors, 1 is a whole one */
    double calls, bytes[PROFILE_PEERS]; /* a second */
    double in_calls, waiting;   /* of the time, of all threads together */
};
struct rates rates_of(const struct pe *p);
/* The calls of PEs [p, end) with the most time, and their share of it. */
enum { TOP_CALLS = 4 };
struct share {
    char call[PROFILE_CALL];
    double count, ns;           /* a second */
};
unsigned shares_of(const struct pe *p, const struct pe *end,
                   struct share out[TOP_CALLS]);

/* ---- table.c, list.c ---- */

/* One job's, [p, end).  lines, columns: how much room there is, 0 for enough. */
void print_table(const struct pe *p, const struct pe *end, int lines,
                 int columns);
/* All jobs as one line of JSON. */
void print_list(const struct pes *all);
/* "stopped by a signal" and the like in place of what a PE does, or NULL. */
const char *why_silent(const struct pe *p);

#endif
