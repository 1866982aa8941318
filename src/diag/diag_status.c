/* SPDX-License-Identifier: BSD-3-Clause */
/* The status page: this PE's activity, for shmem_top.  The diag thread fills it
 * on request, and has calls counted from the first request until some
 * seconds after the last one; nothing here runs without requests. */
#include "diag/diag_int.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/status_page.h"
#include "base/trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A reader that comes more seldom finds no rates. */
#define COUNT_NS 10000000000u

static struct status_page *page;
static int page_fd = -1;
/* The diag thread's: until when calls are counted; 0: they are not. */
static uint64_t counts_until;
static struct {
    int pe, n_pes;
    char job[STATUS_JOB];
} self;

void diag_set_identity(int pe, int n_pes, const char *job)
{
    self.pe = pe;
    self.n_pes = n_pes;
    snprintf(self.job, sizeof self.job, "%s", job ? job : "");
}

static struct status_page *map_page(int fd)
{
    void *p;

    if (fd < 0 || ftruncate(fd, sizeof *page))
        return NULL;
    p = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

void diag_status_close(void)
{
    if (!page)
        return;
    munmap(page, sizeof *page);
    close(page_fd);
    page = NULL;
    page_fd = -1;
}

/* Without a page shmem_top does not show this PE. */
void diag_status_open(void)
{
    struct status_page *p;
    int fd;

    if (page && page->pid != (uint32_t)getpid())
        diag_status_close();    /* that of the process that forked this one */
    if (page)
        return;
    fd = fd_keep(memfd_create(STATUS_NAME, MFD_CLOEXEC));
    p = map_page(fd);
    if (!p) {
        log_info(LOG_CORE, "shmem_top will not show this PE: %m");
        if (fd >= 0)
            close(fd);
        return;
    }
    p->size = sizeof *p;
    p->pid = (uint32_t)getpid();
    p->pe = (uint32_t)self.pe;
    p->n_pes = (uint32_t)self.n_pes;
    memcpy(p->job, self.job, sizeof p->job);
    memcpy(p->magic, STATUS_MAGIC, sizeof STATUS_MAGIC);
    page_fd = fd;
    page = p;
}

static unsigned awaited(int32_t *pes)
{
    const struct diag_source *s;
    unsigned n = 0;

    for (unsigned i = 0; !n && (s = diag_source(i)); i++)
        if (s->awaited)
            n = s->awaited(pes, STATUS_AWAITED);
    return n;
}

static void fill(struct status_page *p)
{
    struct line report, memory;

    line_begin(&report);
    line_begin(&memory);
    diag_report_describe(&report, &memory);
    memcpy(p->report, report.at, report.n + 1);
    memcpy(p->memory, memory.at, memory.n + 1);
    p->n_awaited = diag_report_sources_describe() ? awaited(p->awaited) : 0;
    p->n_rows = profile_snapshot(p->rows, STATUS_ROWS, &p->uncounted);
    p->at_ns = clock_ns();
}

void diag_status_answer(void)
{
    struct status_page *p = page;
    uint64_t wanted, writes;

    if (!p)
        return;
    wanted = __atomic_load_n(&p->wanted, __ATOMIC_ACQUIRE);
    if (wanted == __atomic_load_n(&p->answered, __ATOMIC_RELAXED))
        return;
    if (!counts_until)
        trace_count(true);
    counts_until = clock_ns() + COUNT_NS;
    /* A reader that sees an odd number, or another one after it has read than
     * before, reads again. */
    writes = __atomic_load_n(&p->writes, __ATOMIC_RELAXED);
    __atomic_store_n(&p->writes, writes + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    fill(p);
    __atomic_store_n(&p->writes, writes + 2, __ATOMIC_RELEASE);
    __atomic_store_n(&p->answered, wanted, __ATOMIC_RELEASE);
}

uint64_t diag_status_run(void)
{
    if (!counts_until)
        return UINT64_MAX;
    if (clock_ns() < counts_until)
        return counts_until;
    diag_status_stop();
    return UINT64_MAX;
}

void diag_status_stop(void)
{
    if (counts_until)
        trace_count(false);
    counts_until = 0;
}
