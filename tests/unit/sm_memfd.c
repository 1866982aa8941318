/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the node's memory can never become smaller, and a file that
 * can, or is too small, is told from it. */
#include "../../src/sm/sm.c"

#include "unit.h"

#include <sys/resource.h>

enum { SIZE = 1 << 20 };

static int check(int fd, size_t size)
{
    int rc;

    unit_capture();
    rc = sm_memfd_check(fd, size);
    unit_captured();
    return rc;
}

T(what_is_made_is_what_is_wanted)
{
    int fd = -1;

    T_EQ(sm_memfd_make(SIZE, 0, &fd), 0);
    T_EQ(check(fd, SIZE), 0);
    T_EQ(check(fd, SIZE + 1), -EPROTO);
    T_EQ(ftruncate(fd, SIZE / 2), -1);
    T_EQ(errno, EPERM);
    close(fd);
}

T(a_file_without_the_seal_is_refused)
{
    int fd = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    T_EQ(ftruncate(fd, SIZE), 0);
    T_EQ(check(fd, SIZE), -EPROTO);
    close(fd);
}

/* One that knows no seals at all. */
T(another_kind_of_file_is_refused)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    T_LE(0, fd);
    T_EQ(fcntl(fd, F_GET_SEALS), -1);
    T_EQ(check(fd, 0), -EPROTO);
    close(fd);
}

/* A slot's base at a multiple of its size, wherever the slot lies. */
T(mem_map_aligned_puts_a_byte_where_it_is_asked)
{
    const size_t slot = (size_t)6 << 20;
    int fd = -1;
    char *p;

    T_EQ(sm_memfd_make(5 * slot, 0, &fd), 0);
    for (size_t i = 0; i < 5; i++)
        for (size_t align = (size_t)2 << 20; align <= (size_t)1 << 34;
             align *= 2) {
            p = mem_map_aligned(fd, 5 * slot, align, i * slot);
            if (!T_NE(p, MAP_FAILED))
                continue;
            T_EQ((uintptr_t)(p + i * slot) % align, 0);
            p[5 * slot - 1] = 1;
            T_EQ(munmap(p, 5 * slot), 0);
        }
    close(fd);
}

/* A limit of the address space (ulimit -v) that only just holds it. */
T(mem_map_aligned_takes_no_address_space_beside)
{
    const size_t size = (size_t)64 << 20;
    struct rlimit was, l;
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    int fd = -1;
    void *p;

    if (f) {
        T_EQ(fscanf(f, "%zu", &pages), 1);
        fclose(f);
    }
    T_EQ(sm_memfd_make(size, 0, &fd), 0);
    T_EQ(getrlimit(RLIMIT_AS, &was), 0);
    l = was;
    l.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + size + (8 << 20);
    T_EQ(setrlimit(RLIMIT_AS, &l), 0);
    p = mem_map_aligned(fd, size, size, 0);
    T_EQ(setrlimit(RLIMIT_AS, &was), 0);
    T_NE(p, MAP_FAILED);
    T_EQ((uintptr_t)p % size, 0);
    munmap(p, size);
    close(fd);
}

int main(void)
{
    int local_pes[1] = { 0 };

    rt_job.local_pes = local_pes;
    T_RUN(what_is_made_is_what_is_wanted);
    T_RUN(a_file_without_the_seal_is_refused);
    T_RUN(another_kind_of_file_is_refused);
    T_RUN(mem_map_aligned_puts_a_byte_where_it_is_asked);
    T_RUN(mem_map_aligned_takes_no_address_space_beside);
    return T_DONE();
}
