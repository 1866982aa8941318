/* SPDX-License-Identifier: BSD-3-Clause */
/* Words for PEs, waits and activity records.  Called for every line about a
 * wait: by core_report.c in a signal handler, by core_stall.c on the waiting
 * thread, by streams and messages for theirs.  A function that a handler calls
 * takes no lock and allocates nothing. */
#include "core/core_describe.h"
#include "core/core_report.h"
#include "rt/rt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
/* So many values of a set are printed. */
enum { VALUES_LISTED = 3 };

/* ---- PEs and their records ---- */

void core_describe_pe(struct line *l, int pe)
{
    char host[64];

    line_addf(l, "PE %d (", pe);
    if (xport_routes[pe].map[HEAP_HOST])
        line_add(l, "this node");
    else if (rt_host(pe, host, sizeof host))
        line_addf(l, "host %s", host);
    else
        line_add(l, "another node");
}

void core_name_pe(int pe, char *out, size_t size)
{
    char host[64];

    if (rt_host(pe, host, sizeof host))
        snprintf(out, size, "PE %d (host %s)", pe, host);
    else
        snprintf(out, size, "PE %d", pe);
}

bool core_process_is_stopped(uint64_t pid)
{
    char path[32], stat[256], *p;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, stat, sizeof stat - 1);
    close(fd);
    stat[n > 0 ? n : 0] = '\0';
    p = strrchr(stat, ')');
    return p && p[1] == ' ' && (p[2] == 'T' || p[2] == 't');
}

uint64_t core_age_ns(clockid_t clock, uint64_t since_ns)
{
    struct timespec t;
    uint64_t now;

    clock_gettime(clock, &t);
    now = (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
    return now > since_ns ? now - since_ns : 0;
}

void core_describe_activity(struct line *l, int pe,
                            const struct core_activity *a)
{
    unsigned long long s = line_seconds(core_age_ns(CLOCK_REALTIME, a->at_ns));

    if (!a->call[0]) {          /* its control block is new */
        line_add(l, ", not yet through shmem_init");
        return;
    }
    if (xport_routes[pe].map[HEAP_HOST] && core_process_is_stopped(a->pid))
        line_addf(l, ", stopped, pid %llu", (unsigned long long)a->pid);
    if (a->waits)
        line_addf(l, ", in %.39s for %llu s", a->call, s);
    else
        line_addf(l, ", last call %.39s %s%llu s ago", a->call,
                  a->at_calls == a->calls ? "" : "at most ", s);
}

/* ---- addresses and values ---- */

void core_describe_address(struct line *l, const void *addr)
{
    static const char *const names[HEAP_SEGS] = {
        [HEAP_HOST] = "heap", [HEAP_DATA] = "static data",
        [HEAP_DEVICE] = "device heap"
    };
    int seg = heap_find(addr, 1);

    if (seg < 0)
        line_addf(l, "%p", addr);
    else                        /* static data: the address that nm prints */
        line_addf(l, "%s+0x%zx", names[seg], (uintptr_t)addr -
                  (seg == HEAP_DATA ? heap_program : heap_segs[seg].base));
}

static const char *sign_of(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return "==";
    case SHMEM_CMP_NE: return "!=";
    case SHMEM_CMP_GT: return ">";
    case SHMEM_CMP_GE: return ">=";
    case SHMEM_CMP_LT: return "<";
    default: return "<=";
    }
}

/* The value of size bytes at p, extended to 64 bits.  The program may store
 * there as it likes once the wait is over, and the thread that reads it here
 * learns of that end later. */
CORE_RACY
static uint64_t value_at(const void *p, size_t size, bool is_signed)
{
    switch (size) {
    case 8:
        return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
    case 4:
        return is_signed
               ? (uint64_t)__atomic_load_n((const int32_t *)p, __ATOMIC_RELAXED)
               : __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
    default:
        return is_signed
               ? (uint64_t)__atomic_load_n((const int16_t *)p, __ATOMIC_RELAXED)
               : __atomic_load_n((const uint16_t *)p, __ATOMIC_RELAXED);
    }
}

static void add_value(struct line *l, const struct core_waiter *w, uint64_t v)
{
    line_addf(l, w->info.is_signed ? "%lld" : "%llu", (long long)v);
}

/* Memory that the processor does not reach is not read, nor, in a handler, any
 * that may not exist any more. */
static bool may_read(const struct core_waiter *w, bool in_handler)
{
    int seg = in_handler ? heap_find(w->addr, w->bytes) : -1;

    return !w->info.device_only &&
           (!in_handler || (seg >= 0 &&
                            (seg != HEAP_DEVICE || heap_device_host_access)));
}

static void add_value_wait(struct line *l, const struct core_waiter *w,
                           bool in_handler)
{
    if (may_read(w, in_handler))
        add_value(l, w, value_at(w->addr, w->bytes, w->info.is_signed));
    else
        line_add(l, "a value");
    line_addf(l, " to be %s ", sign_of(w->info.cmp));
    add_value(l, w, w->info.value);
}

/* The first values of the set, as they are now. */
static void add_set_wait(struct line *l, const struct core_waiter *w,
                         bool in_handler)
{
    uint64_t n = w->info.value <= VALUES_LISTED ? w->info.value : VALUES_LISTED;
    size_t size = w->bytes / w->info.value;
    bool all = n == w->info.value;

    line_addf(l, "%llu value%s ", (unsigned long long)w->info.value,
              w->info.value == 1 ? "" : "s");
    if (may_read(w, in_handler)) {
        for (uint64_t i = 0; i < n; i++) {
            line_add(l, i ? ", " : "(");
            add_value(l, w, value_at((const char *)w->addr + i * size, size,
                                     w->info.is_signed));
        }
        line_add(l, all ? ") " : ", ...) ");
    }
    line_addf(l, "to be %s ", sign_of(w->info.cmp));
    if (w->info.alike)
        add_value(l, w, w->info.each);
    else
        line_add(l, "what is wanted");
}

/* ---- waits ---- */

static void add_stream(struct line *l, const struct core_waiter *w)
{
    if (w->info.value)
        line_addf(l, "stream %p", (void *)(uintptr_t)w->info.value);
    else
        line_add(l, "a stream");
    line_add(l, ", on which a kernel, copy or wait has not ended");
}

/* The name takes locks; the waiting thread has left it for handlers. */
static bool name_of(const struct core_waiter *w, bool in_handler,
                    char text[CORE_WAIT_NAME])
{
    const char *said = __atomic_load_n(&w->info.said, __ATOMIC_ACQUIRE);

    if (!in_handler)
        return w->info.name &&
               (w->info.named || w->info.what == CORE_FOR_QUEUE) &&
               w->info.name(w->info.named, text, CORE_WAIT_NAME);
    if (said)
        memcpy(text, said, CORE_WAIT_NAME);
    return said;
}

static void add_queue(struct line *l, const struct core_waiter *w,
                      bool in_handler)
{
    char name[CORE_WAIT_NAME];

    if (name_of(w, in_handler, name))
        line_addf(l, "%s%s", name, w->info.by_host ? ""
                                                   : ", started on a queue");
    else
        line_add(l, "what was started on a queue");
    if (w->info.value)
        line_addf(l, " of stream %p", (void *)(uintptr_t)w->info.value);
}

void core_describe_wait(struct line *l, const struct core_waiter *w,
                        bool in_handler)
{
    char text[CORE_WAIT_NAME];

    switch (w->info.what) {
    case CORE_FOR_REMOTE:
        line_add(l, "off-node PEs");
        return;
    case CORE_FOR_QUEUE:
        add_queue(l, w, in_handler);
        return;
    case CORE_FOR_STREAM:
        add_stream(l, w);
        return;
    case CORE_FOR_LOCK:
        line_add(l, "the lock");
        break;
    case CORE_FOR_SET:
        add_set_wait(l, w, in_handler);
        break;
    default:
        add_value_wait(l, w, in_handler);
    }
    line_add(l, " at ");
    core_describe_address(l, w->addr);
    if (w->info.raiser)
        line_addf(l, ", which PE %u raises", w->info.raiser - 1);
    if (name_of(w, in_handler, text))
        line_addf(l, "; %s", text);
}
