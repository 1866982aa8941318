/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the node's memory can never become smaller, and a file that
 * can, or is too small, is recognised.  Where huge pages cannot be had, the
 * usual ones that take their place are checked against what is there. */
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

/* Files of memory may be larger than memory: what they take comes later, and
 * a shortage then ends PEs by a signal. */
T(a_heap_that_huge_pages_do_not_hold_fits_the_usual_ones_or_is_refused)
{
    struct heap_plan was = { .user_size = (size_t)900 << 40,
                             .host_size = (size_t)901 << 40,
                             .slot_size = (size_t)901 << 40,
                             .huge_page = 2 << 20, .huge_requested = 2 << 20 };
    struct heap_plan p = was;
    const char *said;
    int fd = -1, rc;

    unit_capture();
    rc = make_host_file(&p, &fd);
    said = unit_captured();
    T_EQ(rc, -ENOMEM);
    T_EQ(fd, -1);
    T_EQ(unit_lines(said), 2);
    T_HAS(said, " in huge pages were taken by others meanwhile: ");
    T_HAS(said, "symmetric heaps of 900 TiB for 1 PE take 900 TiB with static "
          "data, but ");
    p = was;
    p.user_size = 1 << 20;      /* of many PEs: only the sum did not fit */
    unit_capture();
    rc = make_host_file(&p, &fd);
    said = unit_captured();
    T_EQ(rc, 0);
    T_EQ(unit_lines(said), 1);
    T_EQ(p.huge_page, 0);
    T_EQ(check(fd, p.slot_size), 0);
    close(fd);
}

int main(void)
{
    int local_pes[1] = { 0 };

    rt_job.local_pes = local_pes;
    rt_job.n_local = 1;
    T_RUN(what_is_made_is_what_is_wanted);
    T_RUN(a_file_without_the_seal_is_refused);
    T_RUN(another_kind_of_file_is_refused);
    T_RUN(mem_map_aligned_puts_a_byte_where_it_is_asked);
    T_RUN(mem_map_aligned_takes_no_address_space_beside);
    T_RUN(a_heap_that_huge_pages_do_not_hold_fits_the_usual_ones_or_is_refused);
    return T_DONE();
}
