/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the memory that this process may use, and aligned mappings.
 * Called by heap and gtl before they reserve memory.  Reads /proc and the
 * control groups; reserves nothing itself. */
#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE     /* an older kernel takes it for a hint */
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PATH_BYTES = 512 };

/* The number behind `key` in a file of "key number" lines, or alone in the
 * file for an empty key.  False: no such file or line, or "max". */
static bool read_number(const char *path, const char *key, size_t *out)
{
    char line[256], *p, *end;
    size_t len = strlen(key), v;
    bool found = false;
    FILE *f = fopen(path, "re");

    if (!f)
        return false;
    while (!found && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, len))
            continue;
        p = line + len;
        while (*p == ':' || isspace((unsigned char)*p))
            p++;
        v = strtoull(p, &end, 10);
        found = end != p && *p != '-';
        if (found)
            *out = v;
    }
    fclose(f);
    return found;
}

struct group_files {
    const char *top, *limit, *usage;
    const char *cache_key;      /* NULL: nothing of it is cache */
};

static const struct group_files v2 = {
    "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "
};
static const struct group_files v1 = {
    "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
    "total_inactive_file "
};

static void lower(struct mem_bound *m, size_t bytes, const char *limit)
{
    if (bytes >= m->bytes)
        return;
    m->bytes = bytes;
    snprintf(m->limit, sizeof m->limit, "%.150s", limit);
}

/* One group: its limit less what it uses, cached files not counted. */
static void read_group(const char *root, const struct group_files *g,
                          const char *group, struct mem_bound *m)
{
    size_t limit, used = 0, cache = 0;
    char dir[PATH_BYTES], path[PATH_BYTES + 64];

    snprintf(dir, sizeof dir, "%s/%s%s", root, g->top, group);
    snprintf(path, sizeof path, "%s/%s", dir, g->limit);
    if (!read_number(path, "", &limit))
        return;
    snprintf(path, sizeof path, "%s/%s", dir, g->usage);
    read_number(path, "", &used);
    snprintf(path, sizeof path, "%s/memory.stat", dir);
    if (g->cache_key)
        read_number(path, g->cache_key, &cache);
    used -= cache < used ? cache : used;
    snprintf(path, sizeof path, "control group limit %s/%s", dir, g->limit);
    lower(m, limit > used ? limit - used : 0, path);
}

/* The group and all above it; in a container the path may be the host's, but
 * the walk ends at the container's own root. */
static void read_group_and_parents(const char *root,
                                   const struct group_files *g, char *group,
                                   struct mem_bound *m)
{
    char *slash;

    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        slash = strrchr(group, '/');
        read_group(root, g, slash && slash[1] ? group : "", m);
        if (!slash || !slash[1])
            return;
        *slash = '\0';
        if (slash == group)
            strcpy(group, "/");
    }
}

/* one is of a group of version 1 with that controller, ":memory:". */
static void read_all_groups(const char *root, const struct group_files *two,
                           const struct group_files *one,
                           const char *controller, struct mem_bound *m)
{
    char path[PATH_BYTES], line[PATH_BYTES], *p;
    FILE *f;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    f = fopen(path, "re");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "0::", 3))
            read_group_and_parents(root, two, line + 3, m);
        p = strstr(line, controller);
        if (p)
            read_group_and_parents(root, one, p + strlen(controller), m);
    }
    fclose(f);
}

void mem_available(const char *root, struct mem_bound *out)
{
    char path[PATH_BYTES];

    out->bytes = SIZE_MAX;
    out->limit[0] = '\0';
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (read_number(path, "MemAvailable", &out->bytes)) {
        out->bytes *= 1024;
        snprintf(out->limit, sizeof out->limit, "available memory");
    }
    read_all_groups(root, &v2, &v1, ":memory:", out);
}

void mem_available_huge(const char *root, size_t page, struct mem_bound *out)
{
    const char *size = page >> 30 ? "1GB" : "2MB";
    size_t unused = 0, taken = 0;
    char path[PATH_BYTES], limit[2][40], usage[2][40];
    struct group_files two = { "sys/fs/cgroup", limit[1], usage[1], NULL };
    struct group_files one = { "sys/fs/cgroup/hugetlb", limit[0], usage[0],
                               NULL };

    snprintf(limit[0], 40, "hugetlb.%s.limit_in_bytes", size);
    snprintf(usage[0], 40, "hugetlb.%s.usage_in_bytes", size);
    snprintf(limit[1], 40, "hugetlb.%s.max", size);
    snprintf(usage[1], 40, "hugetlb.%s.current", size);
    snprintf(path, sizeof path, "%s/sys/kernel/mm/hugepages/hugepages-%zukB/"
             "free_hugepages", root, page >> 10);
    read_number(path, "", &unused);
    strcpy(strrchr(path, '/'), "/resv_hugepages");
    read_number(path, "", &taken);
    out->bytes = (unused > taken ? unused - taken : 0) * page;
    snprintf(out->limit, sizeof out->limit, "%s", "reserved huge pages");
    read_all_groups(root, &two, &one, ":hugetlb:", out);
}

/* ---- mappings ---- */

size_t mem_power_below(size_t n)
{
    return (size_t)1 << (63 - __builtin_clzl(n));
}

static void *reserve(size_t size)
{
    return mmap(NULL, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Just below where the kernel would put it, where there is room as a rule:
 * this takes no more address space than the mapping itself, which a limit
 * (ulimit -v) may allow only just. */
static void *map_below(int fd, size_t size, size_t align, size_t at)
{
    char *room = reserve(size), *p;
    size_t down;

    if (room == MAP_FAILED)
        return MAP_FAILED;
    munmap(room, size);
    down = ((uintptr_t)room + at) & (align - 1);
    if (down > (uintptr_t)room)
        return MAP_FAILED;
    p = mmap(room - down, size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    if (p == MAP_FAILED || p == room - down)
        return p;
    munmap(p, size);
    return MAP_FAILED;
}

/* Cut out of a larger reservation: wherever there is so much. */
static void *map_inside(int fd, size_t size, size_t align, size_t at)
{
    char *room = MAP_FAILED, *p;
    size_t before, after;

    if (size <= PTRDIFF_MAX - align)
        room = reserve(size + align);
    if (room == MAP_FAILED)
        return MAP_FAILED;
    before = -((uintptr_t)room + at) & (align - 1);
    after = align - before;
    p = mmap(room + before, size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, fd, 0);
    if (p == MAP_FAILED) {
        before = size + align;
        after = 0;
    }
    if (before)
        munmap(room, before);
    if (after)
        munmap(room + before + size, after);
    return p;
}

void *mem_pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

void *mem_map_aligned(int fd, size_t size, size_t align, size_t at)
{
    void *p = map_below(fd, size, align, at);

    return p == MAP_FAILED ? map_inside(fd, size, align, at) : p;
}
