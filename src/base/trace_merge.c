/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one trace of those of the PEs: JSON for Chrome's and Perfetto's
 * viewers, times in microseconds on PE 0's clock since the first event, a
 * process for each PE, and an arrow from what was stored or sent to the event
 * that saw it.  It trusts no file: a PE may have been killed at any point. */
#include "base/trace_merge.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/trace.h"
#include "base/trace_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PART_PATH = TRACE_PATH + 16 };

struct part {
    const struct trace_file *file;      /* NULL: there is none */
    size_t size;
};

struct merge {
    struct part *parts;
    struct trace_merged *result;
    uint64_t first_ns, last_ns; /* of all events, on PE 0's clock */
    struct trace_ends ends;     /* of arrows */
};

/* ---- files ---- */

static const char *part_path(char *buf, const char *file, uint32_t pe)
{
    snprintf(buf, PART_PATH, "%s.%u", file, pe);
    return buf;
}

static uint64_t part_end(const struct trace_file *f, uint32_t rings)
{
    return TRACE_HEAD + rings * trace_ring_size(f->ring_events);
}

/* A PE's file has these; rings that do not fit the file do not count. */
static bool is_part(const struct trace_file *f, size_t size, uint32_t pe)
{
    return size >= TRACE_HEAD && !memcmp(f->magic, TRACE_MAGIC,
                                         sizeof TRACE_MAGIC) &&
           f->event_size == sizeof(struct trace_event) && f->pe == pe &&
           f->ring_events && f->ring_events <= 1u << 24 &&
           f->n_pes > pe && f->n_pes <= 1u << 20;
}

static int open_part(const char *file, uint32_t pe, struct part *out)
{
    char path[PART_PATH];
    int fd = open(part_path(path, file, pe), O_RDONLY | O_CLOEXEC);
    int rc = 0;
    struct stat st;
    void *p = MAP_FAILED;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st))
        rc = -errno;
    else if ((size_t)st.st_size < TRACE_HEAD)
        rc = -EBADMSG;
    else
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (!rc && p == MAP_FAILED)
        rc = -errno;
    close(fd);
    if (rc)
        return rc;
    if (!is_part(p, (size_t)st.st_size, pe)) {
        munmap(p, (size_t)st.st_size);
        return -EBADMSG;
    }
    *out = (struct part){ p, (size_t)st.st_size };
    return 0;
}

static void close_part(struct part *p)
{
    if (p->file)
        munmap((void *)(uintptr_t)p->file, p->size);
    p->file = NULL;
}

/* The number of a part, if that is one of a file of that name, else -1. */
static long part_number(const char *entry, const char *name)
{
    size_t n = strlen(name);
    char *end;
    long pe;

    if (strncmp(entry, name, n) || entry[n] != '.' ||
        entry[n + 1] < '0' || entry[n + 1] > '9')
        return -1;
    pe = strtol(entry + n + 1, &end, 10);
    return *end || pe > INT32_MAX ? -1 : pe;
}

static DIR *open_directory(const char *file, const char **name)
{
    const char *slash = strrchr(file, '/');
    char path[PART_PATH];

    *name = slash ? slash + 1 : file;
    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - file) + 1 : 1,
             slash ? file : ".");
    return opendir(path);
}

static int pes_of_part(const char *file, uint32_t pe, uint32_t *n)
{
    struct part p;
    int rc = open_part(file, pe, &p);

    if (rc)
        return rc;
    *n = p.file->n_pes;
    close_part(&p);
    return 0;
}

/* Any PE's file says how many there are, that of PE 0 surely for the last job;
 * which ones there are, the directory. */
static int count_pes(const char *file, uint32_t *n)
{
    const char *name;
    DIR *d = open_directory(file, &name);
    int rc, worst = d ? pes_of_part(file, 0, n) : -errno;
    struct dirent *e;
    long pe;

    while (d && worst && (e = readdir(d))) {
        pe = part_number(e->d_name, name);
        rc = pe < 0 ? -ENOENT : pes_of_part(file, (uint32_t)pe, n);
        if (rc != -ENOENT)
            worst = rc;
    }
    if (d)
        closedir(d);
    return worst;
}

/* ---- events ---- */

static const struct trace_ring *ring_of(const struct part *p, uint32_t i)
{
    const char *base = (const char *)p->file;

    return (const struct trace_ring *)(base + part_end(p->file, i));
}

static uint32_t rings_of(const struct part *p)
{
    /* acquire: pairs with the PE's store. */
    uint32_t n = __atomic_load_n(&p->file->rings, __ATOMIC_ACQUIRE);

    while (n && part_end(p->file, n) > p->size)
        n--;
    return n;
}

/* A time of that PE on PE 0's clock: between the two comparisons of the clocks
 * their distance is taken to change evenly. */
static uint64_t common_time(const struct trace_file *f, uint64_t ns)
{
    int64_t ahead = f->clock_ahead[0];
    double part;

    if (f->clock_at[1] > f->clock_at[0] && ns > f->clock_at[0]) {
        part = (double)(ns - f->clock_at[0]) /
               (double)(f->clock_at[1] - f->clock_at[0]);
        ahead += (int64_t)((double)(f->clock_ahead[1] - f->clock_ahead[0]) *
                           (part < 1 ? part : 1));
    }
    return ns + (uint64_t)ahead;
}

/* Calls fn for each whole event of a ring, in the order in which they began. */
static void each_event(struct merge *m, const struct part *p,
                       const struct trace_ring *r,
                       void (*fn)(struct merge *m, const struct trace_entry *s))
{
    uint64_t count = __atomic_load_n(&r->count, __ATOMIC_ACQUIRE);
    uint64_t n = p->file->ring_events, i = count > n ? count - n : 0;
    struct trace_entry s;

    for (; i < count; i++) {
        const struct trace_event *e = &r->events[i % n];

        if (__atomic_load_n(&e->used, __ATOMIC_ACQUIRE) != 1 ||
            e->kind >= TRACE_KINDS || e->name >= TRACE_NAMES)
            continue;
        s.event = e;
        s.name = p->file->names[e->name];
        s.pe = (int)p->file->pe;
        s.lasts = !e->end_ns;
        s.begin_ns = common_time(p->file, e->begin_ns);
        s.end_ns = s.lasts ? m->last_ns : common_time(p->file, e->end_ns);
        if (s.end_ns < s.begin_ns)
            s.end_ns = s.begin_ns;
        fn(m, &s);
    }
}

static void each_ring(struct merge *m,
                      void (*fn)(struct merge *m, const struct part *p,
                                 const struct trace_ring *r))
{
    for (uint32_t pe = 0; pe < m->result->n_pes; pe++) {
        const struct part *p = &m->parts[pe];
        uint32_t n = p->file ? rings_of(p) : 0;

        for (uint32_t i = 0; i < n; i++)
            fn(m, p, ring_of(p, i));
    }
}

/* ---- the passes: times, arrows' ends, text ---- */

static void note_times(struct merge *m, const struct trace_entry *s)
{
    if (s->begin_ns < m->first_ns)
        m->first_ns = s->begin_ns;
    if (s->end_ns > m->last_ns)
        m->last_ns = s->end_ns;
    m->result->events++;
}

static void first_pass(struct merge *m, const struct part *p,
                       const struct trace_ring *r)
{
    uint64_t count = __atomic_load_n(&r->count, __ATOMIC_ACQUIRE);

    if (count > p->file->ring_events)
        m->result->lost += count - p->file->ring_events;
    each_event(m, p, r, note_times);
}

static void note_end(struct merge *m, const struct trace_entry *s)
{
    trace_ends_add(&m->ends, s);
}

static void second_pass(struct merge *m, const struct part *p,
                        const struct trace_ring *r)
{
    each_event(m, p, r, note_end);
}

static void write_one(struct merge *m, const struct trace_entry *s)
{
    trace_write_event(m->ends.to, s, m->first_ns);
}

static void third_pass(struct merge *m, const struct part *p,
                       const struct trace_ring *r)
{
    trace_write_thread(m->ends.to, p->file, r);
    each_event(m, p, r, write_one);
}

static int write_all(struct merge *m, const char *file)
{
    FILE *to = fopen(file, "we");
    bool first = true;
    int rc;

    if (!to)
        return -errno;
    m->ends.to = to;
    trace_write_begin(to);
    for (uint32_t pe = 0; pe < m->result->n_pes; pe++)
        if (m->parts[pe].file) {
            trace_write_process(to, m->parts[pe].file, first);
            first = false;
        }
    each_ring(m, third_pass);
    m->result->arrows = trace_write_arrows(&m->ends, m->first_ns);
    trace_write_end(to, m->result);
    rc = ferror(to) ? -EIO : 0;
    return fclose(to) ? -errno : rc;
}

/* ---- merging ---- */

static void open_parts(struct merge *m, const char *file)
{
    struct trace_merged *r = m->result;

    r->missing = r->n_pes;
    for (uint32_t pe = 0; pe < r->n_pes; pe++) {
        if (!open_part(file, pe, &m->parts[pe]) &&
            m->parts[pe].file->n_pes != r->n_pes)
            close_part(&m->parts[pe]);          /* of another job */
        if (m->parts[pe].file)
            r->found++;
        else if (r->missing == r->n_pes)
            r->missing = pe;
    }
}

static void remove_parts(const char *file, uint32_t n)
{
    char path[PART_PATH];

    for (uint32_t pe = 0; pe < n; pe++)
        unlink(part_path(path, file, pe));
}

void trace_merge_remove(const char *file, uint32_t n_pes)
{
    const char *name;
    DIR *d = open_directory(file, &name);
    struct dirent *e;
    struct part p;
    long pe;

    while (d && (e = readdir(d))) {
        pe = part_number(e->d_name, name);
        if (pe < (long)n_pes || open_part(file, (uint32_t)pe, &p))
            continue;
        close_part(&p);
        unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

int trace_merge(const char *file, struct trace_merged *out)
{
    struct merge m = { .result = out, .first_ns = UINT64_MAX };
    int rc;

    *out = (struct trace_merged){ 0 };
    rc = count_pes(file, &out->n_pes);
    if (rc)
        return rc;
    m.parts = calloc(out->n_pes, sizeof *m.parts);
    if (!m.parts)
        return -ENOMEM;
    open_parts(&m, file);
    each_ring(&m, first_pass);
    each_ring(&m, second_pass);
    rc = m.ends.failed ? -ENOMEM : write_all(&m, file);
    for (uint32_t pe = 0; pe < out->n_pes; pe++)
        close_part(&m.parts[pe]);
    free(m.parts);
    trace_ends_free(&m.ends);
    if (!rc && out->found == out->n_pes)
        remove_parts(file, out->n_pes);
    return rc;
}

static bool is_closed(const char *file, uint32_t pe)
{
    struct part p;
    bool closed = true;

    if (open_part(file, pe, &p))
        return true;            /* it will not come any more */
    closed = __atomic_load_n(&p.file->closed, __ATOMIC_ACQUIRE);
    close_part(&p);
    return closed;
}

static void await_all(const char *file, uint32_t n_pes, uint64_t ns)
{
    static const struct timespec while_ = { 0, 1000000 };
    uint64_t until = clock_ns() + ns;

    for (uint32_t pe = 0; pe < n_pes; pe++)
        while (!is_closed(file, pe) && clock_ns() < until)
            nanosleep(&while_, NULL);
}

bool trace_merge_has_parts(const char *file)
{
    uint32_t n;

    return !count_pes(file, &n);
}

static void report_lacking(const char *file, const struct trace_merged *m)
{
    log_warn(ERR_TRACE, "%s: the traces of %u of %u PEs are not here, that of "
             "PE %u first; copy all %s.* to one directory and run shmem_info "
             "--trace %s there", file, m->n_pes - m->found, m->n_pes,
             m->missing, file, file);
}

bool trace_merge_report(const char *file, unsigned run)
{
    char name[TRACE_PATH], lost[96] = "";
    struct trace_merged m;
    int rc;

    trace_name(name, file, run);
    rc = trace_merge(name, &m);
    if (rc == -ENOENT)
        return true;
    if (rc) {
        errno = -rc;
        log_warn(ERR_TRACE, "%s: no trace of the job was written: %m", name);
        return false;
    }
    if (m.lost)
        snprintf(lost, sizeof lost, "; %llu older ones did not fit "
                 "SHMEM_TRACE_EVENTS", (unsigned long long)m.lost);
    log_print("%s: %llu events of %u PE%s%s; open it in ui.perfetto.dev or "
              "chrome://tracing", name, (unsigned long long)m.events, m.found,
              m.found == 1 ? "" : "s", lost);
    if (m.found < m.n_pes)
        report_lacking(name, &m);
    return m.found == m.n_pes;
}

/* The other PEs have passed the last barrier. */
#define AWAIT_NS ((uint64_t)5000000000)

void trace_merge_all(uint32_t n_pes)
{
    char name[TRACE_PATH];

    if (!env.TRACE[0] || !trace_run())
        return;
    trace_name(name, env.TRACE, trace_run());
    await_all(name, n_pes, AWAIT_NS);
    trace_merge_report(env.TRACE, trace_run());
}
