/* SPDX-License-Identifier: BSD-3-Clause */
/* fd.h - descriptors that the library keeps are above 2: a program that was
 * started without standard output would print into them.
 * Errors: -1 and errno, as the calls of the system. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <sys/types.h>

struct msghdr;

/* fd, or if that is 0, 1 or 2 a duplicate above them in its place.  Passes -1
 * on; on error fd is closed. */
int fd_keep(int fd);

/* A descriptor with the file behind it: a program that closes all and opens its
 * own may have the number by now. */
struct fd_file {
    int fd;                     /* -1: none */
    dev_t dev;
    ino_t ino;
};
struct fd_file fd_file(int fd);
/* The descriptor while it is still of that file, or -1. */
int fd_of(const struct fd_file *f);
/* Closes it if it is; then there is none. */
void fd_file_close(struct fd_file *f);

/* For calls of other libraries, which open descriptors at any time: those of 0,
 * 1 and 2 that are closed are taken until fd_release() gets the result, by a
 * descriptor (O_PATH) that neither reads nor writes: EBADF, as if closed.  Only
 * the descriptors that fd_hold() has opened are closed. */
int fd_hold(void);
void fd_release(int held);

/* Has a message that was received lost its descriptor, because this process has
 * as many as it may (ulimit -n)?  The system then leaves it out. */
bool fd_left_out(const struct msghdr *m);

#endif
