/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the node's memory can never become smaller, and a file that
 * can, or is too small, is told from it. */
#include "../../src/sm/sm.c"

#include "unit.h"

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

    T_EQ(sm_memfd_make(SIZE, &fd), 0);
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

int main(void)
{
    int local_pes[1] = { 0 };

    rt_job.local_pes = local_pes;
    T_RUN(what_is_made_is_what_is_wanted);
    T_RUN(a_file_without_the_seal_is_refused);
    T_RUN(another_kind_of_file_is_refused);
    return T_DONE();
}
