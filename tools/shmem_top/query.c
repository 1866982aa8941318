/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c - shmem_top queries the PEs what they do, and reads what the system says of
 * their processes.  Called by main.c once an interval; it keeps nothing but the
 * last two answers of each PE. */
#include "top.h"
#include "base/clock.h"
#include "base/report_request.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A PE on a busy host may need that long. */
#define PATIENCE_NS 1000000000u
#define POLL_NS 2000000

/* State and processor time of the process: 0 where there is none. */
static char read_stat(int pid, uint64_t *cpu_ns)
{
    unsigned long long user = 0, system = 0;
    char path[32], line[512] = "", state = 0, *rest;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (!fgets(line, sizeof line, f))
        line[0] = '\0';
    fclose(f);
    rest = strrchr(line, ')');  /* the name may hold any character */
    if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                        "%llu %llu", &state, &user, &system) != 3)
        return 0;
    *cpu_ns = (user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    return state;
}

/* A process that has closed the library, or has become another program, is no
 * PE any more; its next page is another one. */
static void begin(struct pe *p)
{
    p->answered = false;
    p->state = read_stat(p->pid, &p->cpu_read_ns);
    if (!p->state || p->state == 'Z')
        return;
    p->request = __atomic_add_fetch(&p->page->wanted, 1, __ATOMIC_ACQ_REL);
    if (!report_wake_process(p->pid))
        p->state = 0;
}

/* False: the PE writes at this moment. */
static bool copy_page(struct pe *p)
{
    struct status_page *page = p->page;
    uint64_t before = __atomic_load_n(&page->writes, __ATOMIC_ACQUIRE);

    if (before % 2)
        return false;
    memcpy(&p->now, page, sizeof *page);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&page->writes, __ATOMIC_RELAXED) == before;
}

/* Fields that a PE wrote are used as text and as a number of rows. */
static void check_page(struct status_page *p)
{
    p->job[sizeof p->job - 1] = p->report[sizeof p->report - 1] = '\0';
    p->memory[sizeof p->memory - 1] = '\0';
    if (p->n_rows > STATUS_ROWS)
        p->n_rows = STATUS_ROWS;
    for (uint32_t i = 0; i < p->n_rows; i++) {
        p->rows[i].call[PROFILE_CALL - 1] = '\0';
        p->rows[i].peers %= PROFILE_PEERS;
    }
}

static void poll_page(struct pe *p)
{
    struct status_page before = p->now;

    if (p->answered || !p->request ||
        __atomic_load_n(&p->page->answered, __ATOMIC_ACQUIRE) < p->request)
        return;
    if (!copy_page(p)) {
        p->now = before;
        return;
    }
    check_page(&p->now);
    p->before = before;
    p->cpu_before_ns = p->cpu_ns;
    p->cpu_ns = p->cpu_read_ns;
    p->answered = true;
}

/* Does its answer come still?  It may have ended since it was asked. */
static bool is_awaited(struct pe *p)
{
    uint64_t cpu_ns;

    if (p->answered || !p->state)
        return false;
    p->state = read_stat(p->pid, &cpu_ns);
    return p->state && !strchr("ZTt", p->state);
}

void query_pes(struct pes *all)
{
    const struct timespec pause = { .tv_nsec = POLL_NS };
    uint64_t end = clock_ns() + PATIENCE_NS;
    size_t waiting;

    for (size_t i = 0; i < all->n; i++)
        begin(&all->at[i]);
    do {
        nanosleep(&pause, NULL);
        waiting = 0;
        for (size_t i = 0; i < all->n; i++) {
            poll_page(&all->at[i]);
            waiting += is_awaited(&all->at[i]);
        }
    } while (waiting && clock_ns() < end);
}

void keep_counting(struct pes *all)
{
    for (size_t i = 0; i < all->n; i++)
        begin(&all->at[i]);
}
