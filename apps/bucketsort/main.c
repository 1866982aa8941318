/* SPDX-License-Identifier: BSD-3-Clause */
/* bucketsort - distributed bucket sort of made keys or of a file. */
#include "bucketsort.h"

#include <shmem.h>
#include <shmem_space.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"

/* PEs of more nodes than two classes per PE fit in 16 bits. */
enum { PES_MAX = 32767 };

static bool wants_threads(const struct opts *o)
{
    for (int i = 0; i < variants_count; i++)
        if (o->variants >> i & 1 && variants[i].threaded)
            return o->task == TASK_MADE || o->task == TASK_FILE;
    return false;
}

static int run(struct job *job, const struct opts *o)
{
    switch (o->task) {
    case TASK_GENERATE: return files_generate(job);
    case TASK_VERIFY:   return files_verify(job);
    default:            return sort_main(job);
    }
}

/* All PEs come to the same end without a word to each other. */
static int say(const struct job *job, enum code code, const char *text)
{
    if (job->pe == 0)
        fprintf(stderr, "bucketsort: %s [B-E-%s]\n", text,
                job_code_name(code));
    return code == E_USAGE ? 2 : 1;
}

/* Collective: of all variants there are left those that all PEs can run. */
static void leave_out(struct job *job, struct opts *o)
{
    const uint64_t (*all)[GATHER_WORDS];
    uint64_t words[GATHER_WORDS] = {
        !device_there(), !device_waits(job->pes), !device_sends()
    };

    all = share_gather(job, words);
    for (int pe = 0; pe < job->pes; pe++) {
        job->left_out = job->left_out || all[pe][0];
        job->no_waits = job->no_waits || all[pe][1];
        job->no_sends = job->no_sends || all[pe][2];
    }
    for (int i = 0; i < variants_count; i++)
        if ((variants[i].device && job->left_out) ||
            (variants[i].waits && job->no_waits) ||
            (variants[i].inside && job->no_sends))
            o->variants &= ~(1u << i);
}

static int main_started(struct job *job, struct opts *o, int provided)
{
    char text[160];
    int status;

    if (o->help) {
        if (job->pe == 0)
            options_help();
        return 0;
    }
    if (job->pes > PES_MAX) {
        snprintf(text, sizeof(text), "%d PEs are too many: at most %d",
                 job->pes, PES_MAX);
        return say(job, E_USAGE, text);
    }
    if (wants_threads(o) && provided < SHMEM_THREAD_MULTIPLE)
        return say(job, E_THREADS, "the library does not allow several "
                   "threads: use --variant HA_HI");
    if (shmem_space_is_available(SHMEM_SPACE_CPU) != 0)
        return say(job, E_HEAP, "counters and tables of the host need its "
                   "memory space: unset SHMEM_ENABLE_CPU_SPACE");
    job->opts = o;
    if (!share_open(job)) {
        snprintf(text, sizeof(text), "the symmetric heap has no room for %zu "
                 "bytes of words of the PEs: set SHMEM_SYMMETRIC_SIZE=%zuM",
                 share_bytes(job->pes), sort_heap_mib(job));
        return say(job, E_HEAP, text);
    }
    if (o->all)
        leave_out(job, o);
    progress_begin(&job->progress.p, "bucketsort", job->pe == 0, o->progress);
    status = run(job, o);
    share_close(job);
    if (status == 0 && job->pe == 0 && (fflush(stdout) || ferror(stdout))) {
        snprintf(text, sizeof(text), "standard output: %m");
        status = say(job, E_REPORT, text);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct job job = { .threads = 1 };
    struct opts opts = { 0 };
    char error[ERROR_TEXT];
    bool good = options_parse(argc, argv, &opts, error);
    int status, provided = SHMEM_THREAD_SINGLE;

    if (shmem_init_thread(wants_threads(&opts) ? SHMEM_THREAD_MULTIPLE
                                               : SHMEM_THREAD_SINGLE,
                          &provided) != 0) {
        fputs("bucketsort: shmem_init_thread failed [B-E-THREADS]\n", stderr);
        return 1;
    }
    job.pe = shmem_my_pe();
    job.pes = shmem_n_pes();
    if (good)
        status = main_started(&job, &opts, provided);
    else
        status = say(&job, E_USAGE, error);
    shmem_finalize();
    return status;
}
