/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_pages.c - pages of the node's memory. That memory is a file that all
 * its PEs map, so its pages follow a policy of the file, not of the process
 * that touches them first: each PE sets the policy of its own slot, and then
 * it does not matter which PE's put comes first. */
#include "heap/heap_pages.h"
#include "heap/heap_int.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* As the kernel's headers have it. */
enum { PREFERRED = 1, MOST_NODES = 1024, BITS = 8 * sizeof(unsigned long) };

static struct {
    int node;                   /* -1: not set */
    int why;                    /* then errno */
    size_t huge_page;           /* reserved ones; 0: not */
} placed = { .node = -1 };

/* The word in brackets of "always [madvise] never". */
static bool chosen(const char *path, char out[16])
{
    char line[128] = "", *from, *to;
    FILE *f = fopen(path, "re");

    if (!f)
        return false;
    from = fgets(line, sizeof line, f) ? strchr(line, '[') : NULL;
    to = from ? strchr(from, ']') : NULL;
    fclose(f);
    if (!to)
        return false;
    *to = '\0';
    snprintf(out, 16, "%s", from + 1);
    return true;
}

/* The kernel's setting for shared memory that asks for huge pages. */
static void thp_state(char out[16])
{
    if (!chosen(THP "hugepages-2048kB/shmem_enabled", out) ||
        !strcmp(out, "inherit"))
        if (!chosen(THP "shmem_enabled", out))
            strcpy(out, "absent");
}

static bool thp_works(const char *state)
{
    return strcmp(state, "never") && strcmp(state, "deny") &&
           strcmp(state, "absent");
}

/* The node of the processor this runs on: that of the PE's binding where it
 * has one, and a good guess where it has not. */
static int set_node(char *slot, size_t size)
{
#if defined SYS_mbind && defined SYS_getcpu
    unsigned long mask[MOST_NODES / BITS] = { 0 };
    unsigned cpu = 0, node = 0;

    if (syscall(SYS_getcpu, &cpu, &node, NULL))
        return -errno;
    if (node >= MOST_NODES)
        return -ERANGE;
    mask[node / BITS] = 1ul << node % BITS;
    if (syscall(SYS_mbind, slot, size, PREFERRED, mask, (long)MOST_NODES + 1,
                0L))
        return -errno;
    return (int)node;
#else
    (void)slot;
    (void)size;
    return -ENOSYS;
#endif
}

/* The policy of reserved pages is not the file's but each process's, so their
 * owner touches them before its peers can; they are set apart anyway. */
static void touch(char *slot, size_t size, size_t page)
{
    for (size_t at = 0; at < size; at += page)
        *(volatile char *)(slot + at) = 0;
}

size_t heap_pages_requested(void)
{
    return env.HUGEPAGES == ENV_PAGES_2M ? (size_t)2 << 20
           : env.HUGEPAGES == ENV_PAGES_1G ? (size_t)1 << 30 : 0;
}

void heap_pages_place(char *all, size_t size, char *slot, size_t slot_size,
                      size_t huge_page)
{
    int node = set_node(slot, slot_size);

    placed.node = node < 0 ? -1 : node;
    placed.why = node < 0 ? -node : 0;
    placed.huge_page = huge_page;
    if (huge_page) {
        touch(slot, slot_size, huge_page);
        return;
    }
    madvise(all, size, env.HUGEPAGES == ENV_PAGES_OFF ? MADV_NOHUGEPAGE
                                                      : MADV_HUGEPAGE);
}

const char *heap_pages_text(char buf[HEAP_PAGES_TEXT])
{
    char state[16], small[24], where[80];

    log_size(small, (double)sysconf(_SC_PAGESIZE));
    thp_state(state);
    if (placed.node >= 0)
        snprintf(where, sizeof where, "NUMA node %d preferred", placed.node);
    else
        snprintf(where, sizeof where, "on the NUMA node that touches first "
                 "(mbind: %s)", strerror(placed.why));
    if (placed.huge_page)
        snprintf(buf, HEAP_PAGES_TEXT, "%s pages, reserved; %s",
                 log_size(small, (double)placed.huge_page), where);
    else if (env.HUGEPAGES == ENV_PAGES_OFF)
        snprintf(buf, HEAP_PAGES_TEXT, "%s pages (SHMEM_HUGEPAGES is off); %s",
                 small, where);
    else if (thp_works(state))
        snprintf(buf, HEAP_PAGES_TEXT, "transparent huge pages as they are "
                 "touched (the kernel's shmem_enabled is %s); %s", state,
                 where);
    else
        snprintf(buf, HEAP_PAGES_TEXT, "%s pages, since the kernel makes no "
                 "transparent huge ones of shared memory (shmem_enabled is "
                 "%s); %s", small, state, where);
    return buf;
}

const char *heap_pages_possible(char buf[HEAP_PAGES_TEXT])
{
    char state[16], two[24], one[24];
    struct mem_bound m2, m1;

    thp_state(state);
    mem_available_huge("", (size_t)2 << 20, &m2);
    mem_available_huge("", (size_t)1 << 30, &m1);
    snprintf(buf, HEAP_PAGES_TEXT, "transparent ones: %s (shmem_enabled is "
             "%s); reserved and free: %s of 2 MiB, %s of 1 GiB",
             thp_works(state) ? "yes" : "no", state,
             log_size(two, (double)m2.bytes), log_size(one, (double)m1.bytes));
    return buf;
}
