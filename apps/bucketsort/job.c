/* SPDX-License-Identifier: BSD-3-Clause */
#include "bucketsort.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

double job_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void job_error(struct job *job, enum code code, const char *fmt, ...)
{
    va_list args;

    if (job->code != E_NONE)
        return;
    job->code = code;
    va_start(args, fmt);
    vsnprintf(job->error, sizeof(job->error), fmt, args);
    va_end(args);
    job_one_line(job->error);
}

void job_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

#define NAME(x) #x,
const char *job_code_name(enum code code)
{
    static const char *const name[] = { "NONE", JOB_CODES(NAME) };

    return name[code];
}

const char *job_timer_name(enum timer timer)
{
    static const char *const name[] = { JOB_TIMERS(NAME) };

    return name[timer];
}
#undef NAME

const char *job_type_name(int type)
{
    static const char *const name[] = { NULL, "i32", "u32", "i64", "u64" };

    return type < TYPES ? name[type] : NULL;
}

const char *job_mode_name(int mode)
{
    static const char *const name[] = { "strong", "weak", "weak_iso" };

    return mode < MODES ? name[mode] : NULL;
}

const char *job_dist_name(int dist)
{
    static const char *const name[] = {
        "uniform", "gauss", "zipf", "sorted", "reverse", "equal", "few",
        "extremes"
    };

    return dist < DISTS ? name[dist] : NULL;
}

const char *job_place_name(int place)
{
    static const char *const name[] = { "auto", "host", "device" };

    return place < PLACES ? name[place] : NULL;
}

int job_type_width(enum type type)
{
    return type == TYPE_I64 || type == TYPE_U64 ? 8 : 4;
}

void job_set_type(struct job *job, enum type type)
{
    job->width = job_type_width(type);
    job->flip = type == TYPE_I32 ? UINT64_C(1) << 31
              : type == TYPE_I64 ? UINT64_C(1) << 63 : 0;
}

uint64_t job_share(const struct job *job, int pe)
{
    return (uint64_t)((unsigned __int128)job->total * (unsigned)pe /
                      (unsigned)job->pes);
}

/* Bytes that processes can still get without swapping; 0: unknown. */
static uint64_t memory_left(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];

    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    fclose(f);
    return kib << 10;
}

/* Pages come when they are written, so a shortage would end in a kill by the
 * kernel: ask before. */
void *job_map(struct job *job, size_t bytes, const char *what)
{
    uint64_t left = memory_left();
    void *ptr;

    if (left && bytes > left / (unsigned)job->node_pes) {
        job_error(job, E_MEMORY, "%s: %d PEs of this node need %.1f MiB each, "
                  "%.1f MiB of memory are free: use more nodes, or a smaller "
                  "problem", what, job->node_pes, (double)bytes / (1 << 20),
                  (double)left / (1 << 20));
        return NULL;
    }
    ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ptr == MAP_FAILED) {
        job_error(job, E_MEMORY, "%s: mmap of %zu bytes: %m", what, bytes);
        return NULL;
    }
    /* Scattered writes want few TLB entries; a refusal costs only time. */
    madvise(ptr, bytes, MADV_HUGEPAGE);
    return ptr;
}

void job_unmap(void *ptr, size_t bytes)
{
    if (ptr)
        munmap(ptr, bytes);
}

void job_progress(struct job *job, const char *step, uint64_t done,
                  uint64_t all)
{
    const char *variant = job->progress.variant;
    struct progress *p = &job->progress.p;
    char round[48] = "";

    if (!p->on)
        return;
    if (step != job->progress.step)
        p->begun = progress_now();
    job->progress.step = step;
    if (job->progress.iterations > 1)
        snprintf(round, sizeof round, "round %d of %d, ",
                 job->progress.iteration, job->progress.iterations);
    progress_show(p, all ? (double)done / (double)all : 1, "%s%s%s%s",
                  variant ? variant : "", variant ? ", " : "", round, step);
}

void job_progress_end(struct job *job)
{
    progress_clear(&job->progress.p);
}
