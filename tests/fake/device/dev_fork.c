/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned memory behind a fork, on kernels before 5.9: a private page that is
 * stored to is a new one, and the device keeps the old one.  Here the device
 * keeps a copy of all pages of such memory from the fork on. */
#include "dev_mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Is the mapping around p private? */
static bool is_private(uintptr_t p)
{
    FILE *f = fopen("/proc/self/maps", "re");
    uintptr_t from, to;
    char line[512], mode[8] = "";
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to,
                       mode) == 3 && p - from < to - from;
    if (f)
        fclose(f);
    return found && strchr(mode, 'p');
}

static void keep_old(struct mem *m)
{
    void *copy = mmap(NULL, m->r.size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (copy == MAP_FAILED)
        return;
    memcpy(copy, m->alias, m->r.size);
    m->alias = copy;
}

/* In the parent. */
static void forked(void)
{
    pthread_mutex_lock(&dev_mem_lock);
    for (struct mem *m = *dev_mem_list(); m; m = m->next)
        if (m->r.where == DEV_PINNED && !m->ours &&
            m->alias == (char *)m->r.base && is_private(m->r.base))
            keep_old(m);
    pthread_mutex_unlock(&dev_mem_lock);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, forked, NULL);
}

void dev_fork_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
}
