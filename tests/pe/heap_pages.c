/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the heap has the pages that T_PAGES names (small, thp, or the
 * kibibytes of reserved ones), each slot prefers a NUMA node whichever PE touches it
 * first, and puts, static data and forked children work in all of them.
 * PEs: 1 3
 * Ppn: 4/2
 * Env: SHMEM_INFO=1
 * Expect: heap pages: .*pages.*; (NUMA node [0-9]+ preferred|on the NUMA node) */
#include "t.h"

#include <shmem.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES ((size_t)6 << 20)

static long seen = -1;
static char *block;

/* Of the mapping around p: the number behind a word of smaps, in KiB. */
static long of_mapping(const void *p, const char *word)
{
    unsigned long from, to;
    bool inside = false;
    char line[512];
    long n = -1;
    FILE *f = fopen("/proc/self/smaps", "r");

    while (f && n < 0 && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = (uintptr_t)p >= from && (uintptr_t)p < to;
        else if (inside && !strncmp(line, word, strlen(word)))
            n = strtol(line + strlen(word), NULL, 10);
    }
    if (f)
        fclose(f);
    return n;
}

T(the_heap_has_the_pages_that_were_asked_for)
{
    const char *pages = getenv("T_PAGES");

    memset(block, 1, BYTES);
    shmem_barrier_all();
    if (!pages || !*pages)
        return;
    if (!strcmp(pages, "thp")) {
        T_LE(4096, of_mapping(block, "ShmemPmdMapped:"));
    } else if (!strcmp(pages, "small")) {
        T_EQ(of_mapping(block, "KernelPageSize:"), sysconf(_SC_PAGESIZE) >> 10);
        T_EQ(of_mapping(block, "ShmemPmdMapped:"), 0);
    } else {
        T_EQ(of_mapping(block, "KernelPageSize:"), strtol(pages, NULL, 10));
    }
}

T(each_slot_prefers_a_numa_node)
{
#if defined SYS_mbind && defined SYS_get_mempolicy
    enum { PREFERRED = 1, BY_ADDRESS = 2 };
    unsigned long mask[17] = { 1 };
    void *here = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int mode = -1;
    char *p;

    if (syscall(SYS_mbind, here, 4096ul, PREFERRED, mask, 1025l, 0l))
        return;                 /* not allowed here, as in containers */
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        p = shmem_ptr(block, pe);
        /* The policy of reserved pages is not the file's. */
        if (!p || (of_mapping(p, "KernelPageSize:") > 4 &&
                   pe != shmem_my_pe()))
            continue;
        T_EQ(syscall(SYS_get_mempolicy, &mode, mask, 1025l, p, BY_ADDRESS), 0);
        T_EQ(mode, PREFERRED);
    }
#endif
}

T(puts_reach_heap_and_static_data)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), to = (me + 1) % n;
    long mine = me;

    shmem_barrier_all();
    shmem_long_p(&seen, me, to);
    shmem_putmem(block + BYTES - sizeof mine, &mine, sizeof mine, to);
    shmem_barrier_all();
    T_EQ(seen, (me + n - 1) % n);
    memcpy(&mine, block + BYTES - sizeof mine, sizeof mine);
    T_EQ(mine, (me + n - 1) % n);
}

T(a_forked_child_changes_nothing_of_the_pes)
{
    long was = seen;
    int status = -1;
    pid_t child;

    shmem_barrier_all();
    fflush(stdout);
    child = fork();
    if (child == 0) {
        status = seen != was || block[BYTES / 2] != 1;
        seen = -7;
        if (!getenv("T_PAGES"))         /* reserved pages may all be taken */
            block[BYTES / 2] = 7;
        _exit(status);
    }
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, 0);
    shmem_barrier_all();
    T_EQ(seen, was);
    T_EQ(block[BYTES / 2], 1);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    block = shmem_malloc(BYTES);
    if (T_NE(block, NULL)) {
        T_RUN(the_heap_has_the_pages_that_were_asked_for);
        T_RUN(each_slot_prefers_a_numa_node);
        T_RUN(puts_reach_heap_and_static_data);
        T_RUN(a_forked_child_changes_nothing_of_the_pes);
    }
    shmem_finalize();
    return T_DONE();
}
