/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_ipc.c - memory of the software device between processes of one user: a
 * handle names a descriptor of a process, and what must be found there. A
 * process number means something else in another namespace, and descriptors
 * and processes come and go, so all of it is compared, with a random tag in
 * the file's name. */
#include "gtl/soft/soft_int.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x53684d64u

struct export {
    uint32_t magic;
    int32_t pid, fd;
    uint32_t reserved;
    uint64_t pid_space, dev, ino, size, tag;
};
_Static_assert(sizeof(struct export) <= sizeof(struct gtl_ipc_handle), "fits");

static uint64_t pid_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

bool gtl_soft_ipc_works(void)
{
    return !access("/proc/self/fd", X_OK);
}

int gtl_soft_ipc_export(void *p, struct gtl_ipc_handle *out, int *out_fd)
{
    struct export e = { .magic = MAGIC, .pid = (int32_t)getpid() };
    struct stat st;
    size_t size;
    int fd, rc;

    *out_fd = -1;
    rc = gtl_soft_mem_file(p, &fd, &size, &e.tag);
    if (rc)
        return rc;
    if (fstat(fd, &st))
        return gtl_fail(-errno, "ipc_export: fstat", strerror(errno), errno);
    e.fd = fd;
    e.pid_space = pid_space();
    e.dev = st.st_dev;
    e.ino = st.st_ino;
    e.size = size;
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &e, sizeof e);
    return 0;
}

static int cannot(const char *what, const char *path, int err)
{
    char text[128];

    snprintf(text, sizeof text, "%s %s: %s%s", what, path, strerror(err),
             err == ENOENT ? "; the lender has freed it or has ended" :
             err == EACCES ? "; another user's, or a container's" : "");
    return gtl_fail(-err, "ipc_open", text, err);
}

static int stale(void)
{
    return gtl_fail(-ESTALE, "ipc_open", "the owner has freed it, or its /proc "
                    "is another one", ESTALE);
}

/* Before it is opened, for that has effects on some files, and after. */
static int check_tag(const char *path, uint64_t tag)
{
    char name[32], link[64];
    ssize_t n = readlink(path, link, sizeof link - 1);

    if (n < 0)
        return cannot("readlink", path, errno);
    link[n] = '\0';
    snprintf(name, sizeof name, "/memfd:sluice-%016llx",
             (unsigned long long)tag);
    return strncmp(link, name, strlen(name)) ? stale() : 0;
}

static int check_file(const struct export *e, int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    if (fstat(fd, &st) || seals < 0 || !(seals & F_SEAL_SHRINK) ||
        st.st_dev != e->dev || st.st_ino != e->ino ||
        (uint64_t)st.st_size != e->size)
        return stale();
    return 0;
}

/* A descriptor of the file, or -errno. */
static int open_export(const struct export *e)
{
    char path[48];
    int fd, rc;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)e->pid, (int)e->fd);
    rc = check_tag(path, e->tag);
    if (rc)
        return rc;
    fd = fd_keep(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0)
        return cannot("open", path, errno);
    rc = check_file(e, fd);
    if (!rc)
        rc = check_tag(path, e->tag);
    if (rc)
        close(fd);
    return rc ? rc : fd;
}

int gtl_soft_ipc_open(const struct gtl_ipc_handle *h, int none, void **at)
{
    struct export e;
    int fd, rc;

    (void)none;
    memcpy(&e, h->bytes, sizeof e);
    if (e.magic != MAGIC || e.pid <= 0 || e.fd < 0 || !e.size ||
        e.size % GTL_SOFT_UNIT)
        return gtl_fail(-EINVAL, "ipc_open",
                        "this is no handle of the software "
                        "device", EINVAL);
    if (e.pid_space != pid_space())
        return gtl_fail(-EXDEV, "ipc_open", "the owner is in another PID "
                        "namespace, such as a container", EXDEV);
    fd = open_export(&e);
    if (fd < 0)
        return fd;
    rc = gtl_soft_mem_map(fd, (size_t)e.size, at);
    close(fd);
    return rc;
}
