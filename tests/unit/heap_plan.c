/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the plan of a node's heaps fits the memory that the machine
 * and its control groups leave, or is refused with what is short. */
#include "unit.h"

#include "base/env.h"
#include "base/fault.h"
#include "base/mem.h"
#include "heap/heap_int.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char root[32] = "/tmp/unit_heap_XXXXXX";

/* Writes a file below the made-up root, with its folders. */
static void put(const char *path, const char *text)
{
    char full[256], *p;
    FILE *f;

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    f = fopen(full, "w");
    if (!T_NE(f, NULL))
        return;
    fputs(text, f);
    fclose(f);
}

/* An empty root; what was there is gone. */
static void clear(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s && mkdir %s", root, root);
    T_EQ(system(command), 0);
}

static struct mem_bound measure(void)
{
    struct mem_bound m;

    mem_available(root, &m);
    return m;
}

#define MEMINFO "MemTotal: 9000000 kB\nMemFree: 10 kB\nMemAvailable: 4000 kB\n"

T(without_any_file_nothing_bounds_it)
{
    clear();
    T_EQ(measure().bytes, SIZE_MAX);
    T_STR(measure().limit, "");
}

T(the_machine_says_what_is_available)
{
    clear();
    put("proc/meminfo", MEMINFO);
    T_EQ(measure().bytes, 4000 * 1024);
    T_STR(measure().limit, "available memory");
}

T(a_group_leaves_its_limit_less_its_use)
{
    clear();
    put("proc/meminfo", MEMINFO);
    put("proc/self/cgroup", "0::/job/step\n");
    put("sys/fs/cgroup/job/step/memory.max", "3000000\n");
    T_EQ(measure().bytes, 3000000);
    T_HAS(measure().limit, "control group limit ");
    T_HAS(measure().limit, "/sys/fs/cgroup/job/step/memory.max");
    put("sys/fs/cgroup/job/step/memory.current", "1000000\n");
    T_EQ(measure().bytes, 2000000);
    /* Cached files can be dropped, so they do not count as used. */
    put("sys/fs/cgroup/job/step/memory.stat",
        "anon 5\nfile 5\nactive_file 400000\ninactive_file 300000\n");
    T_EQ(measure().bytes, 2300000);
    put("sys/fs/cgroup/job/step/memory.stat", "inactive_file 7000000\n");
    T_EQ(measure().bytes, 3000000);
    put("sys/fs/cgroup/job/step/memory.stat", "");
    put("sys/fs/cgroup/job/step/memory.current", "3500000\n");
    T_EQ(measure().bytes, 0);
}

T(every_group_above_counts)
{
    clear();
    put("proc/meminfo", MEMINFO);
    put("proc/self/cgroup", "0::/a/b/c\n");
    put("sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.max", "2000000\n");
    T_EQ(measure().bytes, 2000000);
    T_HAS(measure().limit, "/sys/fs/cgroup/a/memory.max");
    put("sys/fs/cgroup/memory.max", "1000000\n");
    T_EQ(measure().bytes, 1000000);
    T_HAS(measure().limit, "/sys/fs/cgroup/memory.max");
    put("sys/fs/cgroup/a/b/memory.max", "500000\n");
    T_EQ(measure().bytes, 500000);
    T_HAS(measure().limit, "/sys/fs/cgroup/a/b/memory.max");
    /* More than the machine has is no bound. */
    put("proc/self/cgroup", "0::/x\n");
    put("sys/fs/cgroup/memory.max", "900000000000\n");
    T_EQ(measure().bytes, 4000 * 1024);
    T_STR(measure().limit, "available memory");
}

T(the_root_group_is_looked_at)
{
    clear();
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "123456\n");
    T_EQ(measure().bytes, 123456);
}

T(the_older_groups_have_other_names)
{
    clear();
    put("proc/meminfo", MEMINFO);
    put("proc/self/cgroup", "12:cpu,cpuacct:/elsewhere\n4:memory:/pod/one\n"
        "1:name=systemd:/\n");
    put("sys/fs/cgroup/memory/pod/one/memory.limit_in_bytes", "3000000\n");
    put("sys/fs/cgroup/memory/pod/one/memory.usage_in_bytes", "1000000\n");
    put("sys/fs/cgroup/memory/pod/one/memory.stat",
        "inactive_file 1\ntotal_inactive_file 200000\n");
    T_EQ(measure().bytes, 2200000);
    T_HAS(measure().limit,
          "/sys/fs/cgroup/memory/pod/one/memory.limit_in_bytes");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    T_EQ(measure().bytes, 2200000);
    put("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "1000\n");
    T_EQ(measure().bytes, 1000);
}

T(odd_files_are_no_bound)
{
    clear();
    put("proc/meminfo", "MemAvailable: unknown\n");
    put("proc/self/cgroup", "\n0::\nrubbish\n0::/deep\n");
    put("sys/fs/cgroup/deep/memory.max", "none\n");
    T_EQ(measure().bytes, SIZE_MAX);
}

/* ---- plans, on this machine ---- */

static const char *said;

static int plan_with(const char *size, int n_pes, struct heap_plan *out)
{
    int rc;

    if (size)
        setenv("SHMEM_SYMMETRIC_SIZE", size, 1);
    else
        unsetenv("SHMEM_SYMMETRIC_SIZE");
    T_EQ(env_load(), 0);
    unit_capture();
    rc = heap_plan_make(n_pes, 0, out);
    said = unit_captured();
    return rc;
}

static void check_shape(const struct heap_plan *p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    T_EQ(p->host_size % page, 0);
    T_EQ(p->pool_size % page, 0);
    T_EQ(p->data_size % page, 0);
    T_EQ(p->slot_size % HEAP_ALIGN, 0);
    T_LE(p->host_size + p->data_size, p->slot_size);
    T_LE(p->user_size + HEAP_RESERVED + p->pool_size, p->host_size);
    T_LT(p->host_size, p->user_size + HEAP_RESERVED + p->pool_size + page);
}

T(a_heap_holds_what_was_asked_for)
{
    static const struct {
        const char *text;
        size_t bytes, pool;
    } sizes[] = {
        { "1", 1, 256 << 10 }, { "4095", 4095, 256 << 10 },
        { "1m", 1 << 20, 256 << 10 }, { "4m", 4 << 20, 256 << 10 },
        { "8m", 8 << 20, 512 << 10 }, { "64m", 64 << 20, 4 << 20 },
        { "5000001", 5000001, 5000001 / 16 },
    };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct heap_plan p;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!T_EQ(plan_with(sizes[i].text, 1, &p), 0))
            continue;
        T_STR(said, "");
        T_EQ(p.user_size, sizes[i].bytes);
        T_EQ(p.pool_size, heap_round_up(sizes[i].pool, page));
        check_shape(&p);
    }
}

T(unsized_heaps_share_what_there_is)
{
    struct heap_plan few, many;
    struct mem_bound m;

    mem_available("", &m);
    T_EQ(plan_with(NULL, 1, &few), 0);
    check_shape(&few);
    T_LE(few.user_size, (size_t)1040 << 20);
    T_LE((size_t)1 << 30, few.user_size + m.bytes / 2);
    mem_available("", &m);
    /* As many PEs as cannot have the usual size. */
    T_EQ(plan_with(NULL, (int)(m.bytes >> 26), &many), 0);
    check_shape(&many);
    T_LT(many.user_size, (size_t)64 << 20);
    T_LE((size_t)1 << 20, many.user_size);
    T_EQ(many.user_size & (many.user_size - 1), 0);
    T_LE(m.bytes / 4, (m.bytes >> 26) * (many.host_size + many.data_size));
}

T(one_look_at_memory_serves_several_nodes)
{
    struct heap_plan p;

    unsetenv("SHMEM_SYMMETRIC_SIZE");
    T_EQ(env_load(), 0);
    T_EQ(heap_plan_make(2, (size_t)300 << 20, &p), 0);
    T_EQ(p.user_size, (size_t)64 << 20);
    T_EQ(heap_plan_make(2, (size_t)200 << 20, &p), 0);
    T_EQ(p.user_size, (size_t)32 << 20);
}

T(too_large_a_heap_is_refused_with_the_sum)
{
    struct heap_plan p = { .user_size = 77 };

    T_EQ(plan_with("900t", 1, &p), -ENOMEM);
    T_EQ(unit_lines(said), 1);
    T_HAS(said, "symmetric heaps of 900 TiB for 1 PE take 900 TiB with static "
          "data, but ");
    T_HAS(said, ": set a smaller SHMEM_SYMMETRIC_SIZE [S-E-HEAP]\n");
    T_EQ(plan_with("1g", 100000, &p), -ENOMEM);
    T_HAS(said, "of 1.0 GiB for 100000 PEs take 104 TiB");
    T_EQ(plan_with("4194304t", 1, &p), -ENOMEM);
    T_HAS(said, "of 4096 PiB for 1 PE take 4096 PiB");
    T_EQ(plan_with("8388607t", INT32_MAX, &p), -ENOMEM);
    T_HAS(said, " [S-E-HEAP]\n");
    T_EQ(plan_with("4194304t", INT32_MAX, &p), -ENOMEM);
    T_EQ(plan_with("1000000t", 1000000, &p), -ENOMEM);
    T_EQ(p.user_size, 77);      /* written on success only */
}

T(shortage_is_reported_even_for_heaps_without_a_set_size)
{
    struct heap_plan p;

    setenv("SHMEM_FAULT", "heap.commit:1", 1);
    T_EQ(env_load(), 0);
    T_EQ(fault_load(), 0);
    T_EQ(plan_with(NULL, 2, &p), -ENOMEM);
    T_HAS(said, "for 2 PEs take ");
    T_HAS(said, " allows 0 B: set a smaller");
    unsetenv("SHMEM_FAULT");
    T_EQ(env_load(), 0);
    T_EQ(fault_load(), 0);
}

T(a_file_size_limit_is_an_error_not_a_signal)
{
    struct rlimit was, l;
    struct heap_plan p;

    T_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
    l = was;
    l.rlim_cur = 1 << 20;
    T_EQ(setrlimit(RLIMIT_FSIZE, &l), 0);
    T_EQ(plan_with("4m", 2, &p), -EFBIG);
    T_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
    T_HAS(said, "exceeds the file size limit of 1048576: raise it (ulimit -f) "
          "[S-E-LIMIT]\n");
}

T(a_plan_fits_programs_that_are_laid_out_alike)
{
    struct heap_plan p, other;

    T_EQ(plan_with("1m", 1, &p), 0);
    T_LT(0, p.data_size);
    T_TRUE(heap_plan_matches(&p));
    other = p;
    other.data_hash++;
    T_TRUE(!heap_plan_matches(&other));
    other = p;
    other.data_size += 4096;
    T_TRUE(!heap_plan_matches(&other));
    other = p;
    heap_plan_without_data(&other);
    T_EQ(other.data_size, 0);
    T_EQ(other.slot_size, p.slot_size);
    setenv("SHMEM_STATIC_DATA", "0", 1);
    T_EQ(plan_with("1m", 1, &other), 0);
    T_EQ(other.data_size, 0);
    T_TRUE(!heap_plan_matches(&p));
    unsetenv("SHMEM_STATIC_DATA");
    T_EQ(env_load(), 0);
}

int main(void)
{
    char command[128];

    if (!mkdtemp(root)) {
        perror(root);
        return 1;
    }
    T_RUN(without_any_file_nothing_bounds_it);
    T_RUN(the_machine_says_what_is_available);
    T_RUN(a_group_leaves_its_limit_less_its_use);
    T_RUN(every_group_above_counts);
    T_RUN(the_root_group_is_looked_at);
    T_RUN(the_older_groups_have_other_names);
    T_RUN(odd_files_are_no_bound);
    T_RUN(a_heap_holds_what_was_asked_for);
    T_RUN(unsized_heaps_share_what_there_is);
    T_RUN(one_look_at_memory_serves_several_nodes);
    T_RUN(too_large_a_heap_is_refused_with_the_sum);
    T_RUN(shortage_is_reported_even_for_heaps_without_a_set_size);
    T_RUN(a_file_size_limit_is_an_error_not_a_signal);
    T_RUN(a_plan_fits_programs_that_are_laid_out_alike);
    snprintf(command, sizeof command, "rm -rf %s", root);
    T_EQ(system(command), 0);
    return T_DONE();
}
