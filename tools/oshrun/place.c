/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - chooses the cores of each PE and claims them, so that jobs of one
 * user do not share them.  loop.c calls it once, before the PEs start; the
 * contract is in place.h. */
#include "place.h"

#include "oshrun.h"
#include "spawn.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* More logical processors than any machine has. */
#define CPUS 8192

/* The place that PEs are bound to: a core, by its first processor and package;
 * or a package or node by its number. */
struct core {
    int package, key;
};

static cpu_set_t *set_at(const struct place *p, int i)
{
    return (cpu_set_t *)(void *)((char *)p->set + (size_t)i * p->size);
}

static cpu_set_t *usable_cpus(void)
{
    cpu_set_t *set = must(CPU_ALLOC(CPUS));

    if (sched_getaffinity(0, CPU_ALLOC_SIZE(CPUS), set) == 0)
        return set;
    CPU_FREE(set);
    return NULL;
}

int place_cpus(void)
{
    cpu_set_t *set = usable_cpus();
    int n = set ? CPU_COUNT_S(CPU_ALLOC_SIZE(CPUS), set) : 1;

    if (set)
        CPU_FREE(set);
    return n;
}

/* The number that a file of the processor begins with, or otherwise.  Reading
 * the few files that matter takes a small part of what hwloc takes. */
static int topology(int cpu, const char *file, int otherwise)
{
    char path[96], text[32] = "";
    int fd, n;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s",
             cpu, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return otherwise;
    n = (int)read(fd, text, sizeof(text) - 1);
    close(fd);
    return n > 0 && text[0] >= '0' && text[0] <= '9' ? atoi(text) : otherwise;
}

static int by_place(const void *a, const void *b)
{
    const struct core *x = a, *y = b;

    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Processors of a list like "0-3,8-11" get the node. */
static void note_node(const char *list, int node, int *node_of)
{
    long from, to;
    char *end;

    for (; *list >= '0' && *list <= '9'; list = end + (*end == ',')) {
        from = to = strtol(list, &end, 10);
        if (*end == '-')
            to = strtol(end + 1, &end, 10);
        for (; from <= to && from < CPUS; from++)
            node_of[from] = node;
    }
}

/* The NUMA node of each processor, 0 where the system has none. */
static void read_nodes(int *node_of)
{
    DIR *d = opendir("/sys/devices/system/node");
    char path[64], text[4096];
    struct dirent *e;
    int fd, node;
    ssize_t n;

    memset(node_of, 0, CPUS * sizeof(*node_of));
    while (d && (e = readdir(d))) {
        if (sscanf(e->d_name, "node%d", &node) != 1)
            continue;
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist",
                 node);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
        if (fd >= 0)
            close(fd);
        text[n > 0 ? n : 0] = '\0';
        note_node(text, node, node_of);
    }
    if (d)
        closedir(d);
}

static struct core core_of_cpu(int cpu, enum bind bind, const int *node_of)
{
    int package = topology(cpu, "physical_package_id", 0);

    if (bind == BIND_SOCKET)
        return (struct core){ 0, package };
    if (bind == BIND_NUMA)
        return (struct core){ 0, node_of[cpu] };
    return (struct core){ package, topology(cpu, "thread_siblings_list", cpu) };
}

/* A set for each core, package or node that this process may use, the cores of
 * a package together, with the processors of it that it may use.  false: errno
 * says why. */
static bool find_sets(struct place *out, enum bind bind)
{
    int key_of[CPUS], node_of[CPUS], n = 0, last = 0;
    cpu_set_t *mine = usable_cpus();
    struct core *core;
    struct place p;

    if (!mine)
        return false;
    if (bind == BIND_NUMA)
        read_nodes(node_of);
    core = must(malloc(CPUS * sizeof(*core)));
    for (int cpu = 0; cpu < CPUS; cpu++) {
        key_of[cpu] = -1;
        if (!CPU_ISSET_S((size_t)cpu, CPU_ALLOC_SIZE(CPUS), mine))
            continue;
        last = cpu;
        core[n] = core_of_cpu(cpu, bind, node_of);
        key_of[cpu] = core[n++].key;
    }
    CPU_FREE(mine);
    qsort(core, (size_t)n, sizeof(*core), by_place);
    p.size = CPU_ALLOC_SIZE(last + 1);
    p.set = must(calloc((size_t)n, p.size));
    p.sets = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && core[i].key == core[i - 1].key)
            continue;               /* another processor of the same one */
        for (int cpu = 0; cpu <= last; cpu++)
            if (key_of[cpu] == core[i].key)
                CPU_SET_S((size_t)cpu, p.size, set_at(&p, p.sets));
        p.sets++;
    }
    free(core);
    *out = p;
    return true;
}

/* ---- claims ---- */

/* The number that all jobs have for it, whichever of its processors they may
 * use. */
static int name_of_core(const struct place *p, int core)
{
    int cpu = 0;

    while (!CPU_ISSET_S((size_t)cpu, p->size, set_at(p, core)))
        cpu++;
    return topology(cpu, "thread_siblings_list", cpu);
}

/* A descriptor that holds the core, or -1. */
static int claim(int cpu)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), len;

    if (fd < 0)
        return -1;
    len = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1,
                   "sluice-core-%u-%d", (unsigned)geteuid(), cpu);
    if (bind(fd, (struct sockaddr *)(void *)&addr,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                         (size_t)len)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Each claim takes a descriptor, of which the PEs need theirs. */
static bool allow_files(int more, int n)
{
    rlim_t need = (rlim_t)spawn_files(n) + (rlim_t)more;
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
        return false;
    if (lim.rlim_cur >= need)
        return true;
    lim.rlim_cur = need;
    return need <= lim.rlim_max && setrlimit(RLIMIT_NOFILE, &lim) == 0;
}

int place_open(struct place *out, int n, enum bind bind)
{
    if (!find_sets(out, bind)) {
        say("S-E-BIND", "--bind-to: sched_getaffinity: %m");
        return -1;
    }
    if (bind != BIND_CORE)
        return 0;                   /* PEs share what they are bound to */
    /* For jobs that take care; where others have claimed them this is what the
     * user has asked for. */
    if (allow_files(out->sets, n))
        for (int i = 0; i < out->sets && i < n; i++)
            claim(name_of_core(out, i));
    return 0;
}

/* Claims cores; claimed[] gets their numbers and fd[] what holds them. */
static int claim_free_cores(const struct place *p, int *claimed, int *fd)
{
    int n = 0;

    for (int i = 0; i < p->sets; i++) {
        fd[n] = claim(name_of_core(p, i));
        if (fd[n] >= 0)
            claimed[n++] = i;
    }
    return n;
}

/* The sets of so many PEs, each of share cores of the list. */
static void split_cores(const struct place *p, const int *core, int n,
                        int share, struct place *out)
{
    out->size = p->size;
    out->sets = n;
    out->set = must(calloc((size_t)n, p->size));
    for (int i = 0; i < n * share; i++)
        CPU_OR_S(p->size, set_at(out, i / share), set_at(out, i / share),
                 set_at(p, core[i]));
}

bool place_share(struct place *out, int n)
{
    int *core, *fd, free_cores, share;
    struct place p;

    if (n == 1 || !find_sets(&p, BIND_CORE))
        return false;
    if (p.sets < n || !allow_files(p.sets, n)) {
        free(p.set);
        return false;
    }
    core = must(malloc((size_t)p.sets * sizeof(*core)));
    fd = must(malloc((size_t)p.sets * sizeof(*fd)));
    free_cores = claim_free_cores(&p, core, fd);
    share = free_cores / n;
    for (int i = n * share; i < free_cores; i++)
        close(fd[i]);
    if (share > 0)
        split_cores(&p, core, n, share, out);
    free(fd);
    free(core);
    free(p.set);
    return share > 0;
}

const cpu_set_t *place_of(const struct place *p, int pe)
{
    return set_at(p, pe % p->sets);
}

void place_text(const struct place *p, int pe, char *out, size_t size)
{
    bool all[CPUS] = { false };
    cpu_set_t *own = p ? NULL : usable_cpus();
    const cpu_set_t *set = p ? place_of(p, pe) : own;
    size_t bytes = p ? p->size : CPU_ALLOC_SIZE(CPUS);

    for (size_t cpu = 0; set && cpu < 8 * bytes && cpu < CPUS; cpu++)
        all[cpu] = CPU_ISSET_S(cpu, bytes, set);
    pe_list(out, size, all, CPUS);
    if (own)
        CPU_FREE(own);
}
