/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the one line that says why a job ended. */
#include "job.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ", like 3 other PEs: 1-3" when others ended in the same way meanwhile. */
static void others_alike(const struct job *j, char *buf, size_t size)
{
    bool *set = must(calloc((size_t)j->n, sizeof(*set)));
    int how = j->pe[j->culprit].wstatus & 0xff7f;     /* core or not */
    char list[384];
    int i, n = 0;

    for (i = 0; i < j->n; i++)
        if (i != j->culprit && j->pe[i].ended &&
            (j->pe[i].wstatus & 0xff7f) == how) {
            set[i] = true;
            n++;
        }
    pe_list(list, sizeof(list), set, j->n);
    buf[0] = '\0';
    if (n)
        snprintf(buf, size, ", like %d other PE%s: %s", n, n > 1 ? "s" : "",
                 list);
    free(set);
}

/* "; ending the other 3 PEs", or nothing when none is left. */
static void others_ended(const struct job *j, char *buf, size_t size)
{
    buf[0] = '\0';
    if (j->alive == 1)
        snprintf(buf, size, "; ending the other PE");
    else if (j->alive)
        snprintf(buf, size, "; ending the other %d PEs", j->alive);
}

static void how_it_died(int wstatus, char *buf, size_t size)
{
    int sig = WTERMSIG(wstatus);

    snprintf(buf, size, "was killed by signal %d (%s%s)", sig, strsignal(sig),
             WCOREDUMP(wstatus) ? ", core dumped" : "");
}

/* Of a PE that used the library. */
static const char *advice(const struct pe *p)
{
    int sig = WTERMSIG(p->wstatus);

    return p->joined && (sig == SIGSEGV || sig == SIGBUS) &&
           !getenv("SHMEM_CHECK") ? "; SHMEM_CHECK=1 finds some causes" : "";
}

/* All PEs have come to the same end, and one has said something: the program
 * refuses, say, its arguments.  How the PEs ended explains nothing then. */
static bool said_together(const struct job *j)
{
    bool spoke = false;

    for (int i = 0; i < j->n; i++) {
        if (!j->pe[i].ended || j->pe[i].wstatus != j->pe[j->culprit].wstatus)
            return false;
        spoke |= j->pe[i].err.spoke;
    }
    return spoke;
}

void job_report(struct job *j)
{
    const struct pe *p = j->culprit >= 0 ? &j->pe[j->culprit] : NULL;
    char alike[512], rest[64], died[128];

    merge_flush(j->merge, true);
    if (j->reported || j->cause == NONE)
        return;
    j->reported = true;
    others_ended(j, rest, sizeof(rest));
    switch (j->cause) {
    case BY_SIGNAL:
        others_alike(j, alike, sizeof(alike));
        how_it_died(p->wstatus, died, sizeof(died));
        say("S-E-PEDIED", "PE %d (%s, pid %d) %s%s%s%s", j->culprit, j->host,
            (int)p->pid, died, alike, rest, advice(p));
        break;
    case BY_STATUS:
        if (p->err.said_error || said_together(j))
            break;                  /* the PEs have said it better */
        others_alike(j, alike, sizeof(alike));
        say("S-E-PEEXIT", "PE %d (%s, pid %d) exited with status %d%s%s",
            j->culprit, j->host, (int)p->pid, WEXITSTATUS(p->wstatus), alike,
            rest);
        break;
    case BY_SILENCE:
        say("S-E-NOFINI", "%sPE %d (%s, pid %d) %s without shmem_finalize, and "
            "others may wait for it%s", p->ended ? "" : "a process of ",
            j->culprit, j->host, (int)p->pid,
            p->ended ? "exited with status 0 but" : "ended", rest);
        break;
    case BY_ABSENCE:
        say("S-E-NOFINI", "PE %d (%s, pid %d) exited with status 0 %s, and "
            "others wait for it in shmem_init%s", j->culprit, j->host,
            (int)p->pid, p->joined ? "after shmem_finalize"
                                   : "without shmem_init", rest);
        break;
    case BY_TIMEOUT:
        say("S-E-TIMEOUT", "the job has run for %g s, the --timeout; ending its "
            "%d PE%s", (double)j->o->timeout_ms / 1000, j->alive,
            j->alive == 1 ? "" : "s");
        break;
    case BY_ABORT:
        if (j->o->verbose)
            say(NULL, "PE %d ended the job with status %d%s", j->culprit,
                j->status, rest);
        break;
    case BY_USER:
    case BY_READER:
    case BY_START:
    case NONE:
        break;
    }
}
