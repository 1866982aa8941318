/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the library's descriptors above standard error.  Called wherever a
 * descriptor is opened that stays.  Closes no descriptor of the program. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NULL_MAJOR = 1, NULL_MINOR = 3 };

int fd_keep(int fd)
{
    int above, why;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    why = errno;
    close(fd);
    errno = why;
    return above;
}

int fd_hold(void)
{
    int held = 0, why = errno, fd;

    for (;;) {
        fd = open("/dev/null", O_PATH | O_CLOEXEC);
        if (fd < 0 || fd > STDERR_FILENO)
            break;
        held |= 1 << fd;
    }
    if (fd >= 0)
        close(fd);
    errno = why;
    return held;
}

struct fd_file fd_file(int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        return (struct fd_file){ .fd = -1 };
    return (struct fd_file){ fd, st.st_dev, st.st_ino };
}

int fd_of(const struct fd_file *f)
{
    struct stat st;

    if (f->fd < 0 || fstat(f->fd, &st) || st.st_dev != f->dev ||
        st.st_ino != f->ino)
        return -1;
    return f->fd;
}

void fd_file_close(struct fd_file *f)
{
    int fd = fd_of(f);

    if (fd >= 0)
        close(fd);
    f->fd = -1;
}

void fd_release(int held)
{
    int why = errno;
    struct stat st;

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        /* The program's, where another thread has put one there meanwhile. */
        if (held & 1 << fd && fcntl(fd, F_GETFL) & O_PATH &&
            !fstat(fd, &st) && S_ISCHR(st.st_mode) &&
            st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
            close(fd);
    errno = why;
}

bool fd_left_out(const struct msghdr *m)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int fd, why = errno;
    bool full;

    if (!(m->msg_flags & MSG_CTRUNC) || c)
        return false;
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    full = fd < 0 && errno == EMFILE;
    if (fd >= 0)
        close(fd);
    errno = why;
    return full;
}
