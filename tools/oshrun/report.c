/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - prints the one line that says why a job ended.  The supervisor
 * calls it once, when the first cause is known and the PEs' own lines are
 * out. */
#include "job.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ", like 3 other PEs: 1-3" when others ended in the same way meanwhile. */
static void same_exit_text(const struct job *j, char *buf, size_t size)
{
    bool *set = must(calloc((size_t)j->n, sizeof(*set)));
    int how = j->pe[j->failed_pe].wstatus & 0xff7f;     /* core or not */
    char list[384];
    int i, n = 0;

    for (i = 0; i < j->n; i++)
        if (i != j->failed_pe && j->pe[i].ended &&
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
static void ending_others_text(const struct job *j, char *buf, size_t size)
{
    int others = j->alive;

    if (j->failed_pe >= 0 && !j->pe[j->failed_pe].ended)
        others--;
    buf[0] = '\0';
    if (others == 1)
        snprintf(buf, size, "; ending the other PE");
    else if (others > 1)
        snprintf(buf, size, "; ending the other %d PEs", others);
}

static void exit_reason_text(int wstatus, char *buf, size_t size)
{
    int sig = WTERMSIG(wstatus);

    snprintf(buf, size, "was killed by signal %d (%s%s)", sig, strsignal(sig),
             WCOREDUMP(wstatus) ? ", core dumped" : "");
}

/* Of a PE that used the library. */
static const char *advice(const struct pe *p)
{
    int sig = WTERMSIG(p->wstatus);

    if (!p->joined || (sig != SIGSEGV && sig != SIGBUS && sig != SIGILL &&
                       sig != SIGFPE && sig != SIGABRT))
        return "";
    if (getenv("SHMEM_CHECK"))
        return getenv("SHMEM_BACKTRACE") ? "" : "; SHMEM_BACKTRACE=1 prints where";
    return getenv("SHMEM_BACKTRACE")
           ? "; SHMEM_CHECK=1 finds some causes"
           : "; SHMEM_BACKTRACE=1 prints where, SHMEM_CHECK=1 finds some causes";
}

/* All PEs have come to the same end, and one has said something: the program
 * refuses, say, its arguments.  How the PEs ended explains nothing then. */
static bool all_printed_reason(const struct job *j)
{
    bool has_output = false;

    for (int i = 0; i < j->n; i++) {
        if (!j->pe[i].ended || j->pe[i].wstatus != j->pe[j->failed_pe].wstatus)
            return false;
        has_output |= j->pe[i].err.has_output;
    }
    return has_output;
}

void job_report(struct job *j)
{
    const struct pe *p = j->failed_pe >= 0 ? &j->pe[j->failed_pe] : NULL;
    char same_exit[512], rest[64], died[128];

    merge_flush(j->merge, true);
    if (j->reported || j->cause == NONE)
        return;
    j->reported = true;
    ending_others_text(j, rest, sizeof(rest));
    switch (j->cause) {
    case BY_SIGNAL:
        same_exit_text(j, same_exit, sizeof(same_exit));
        exit_reason_text(p->wstatus, died, sizeof(died));
        say("S-E-PEDIED", "PE %d (%s, pid %d) %s%s%s%s", j->failed_pe, j->host,
            (int)p->pid, died, same_exit, rest, advice(p));
        break;
    case BY_STATUS:
        if (!j->files && (p->err.printed_error || all_printed_reason(j)))
            break;                  /* the PEs have said it better */
        same_exit_text(j, same_exit, sizeof(same_exit));
        say("S-E-PEEXIT", "PE %d (%s, pid %d) exited with status %d%s%s",
            j->failed_pe, j->host, (int)p->pid, WEXITSTATUS(p->wstatus),
            same_exit, rest);
        break;
    case BY_SILENCE:
        say("S-E-NOFINI", "%sPE %d (%s, pid %d) %s without shmem_finalize, and "
            "others may wait for it%s", p->ended ? "" : "a process of ",
            j->failed_pe, j->host, (int)p->pid,
            p->ended ? "exited with status 0 but" : "ended", rest);
        break;
    case BY_ABSENCE:
        say("S-E-NOFINI", "PE %d (%s, pid %d) exited with status 0 %s, and "
            "others wait for it in shmem_init%s", j->failed_pe, j->host,
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
            say(NULL, "PE %d ended the job with status %d%s", j->failed_pe,
                j->status, rest);
        break;
    case BY_USER:
    case BY_READER:
    case BY_START:
    case NONE:
        break;
    }
}
