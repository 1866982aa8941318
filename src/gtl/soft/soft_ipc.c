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

struct loan {
    uint32_t magic;
    int32_t pid, fd;
    uint32_t reserved;
    uint64_t pid_space, dev, ino, size, tag;
};
_Static_assert(sizeof(struct loan) <= sizeof(struct gtl_ipc_handle), "fits");

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
    struct loan l = { .magic = MAGIC, .pid = (int32_t)getpid() };
    struct stat st;
    size_t size;
    int fd, rc;

    *out_fd = -1;
    rc = gtl_soft_mem_file(p, &fd, &size, &l.tag);
    if (rc)
        return rc;
    if (fstat(fd, &st))
        return gtl_fail(-errno, "ipc_export: fstat", strerror(errno), errno);
    l.fd = fd;
    l.pid_space = pid_space();
    l.dev = st.st_dev;
    l.ino = st.st_ino;
    l.size = size;
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &l, sizeof l);
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

static int check_file(const struct loan *l, int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    if (fstat(fd, &st) || seals < 0 || !(seals & F_SEAL_SHRINK) ||
        st.st_dev != l->dev || st.st_ino != l->ino ||
        (uint64_t)st.st_size != l->size)
        return stale();
    return 0;
}

/* A descriptor of the file, or -errno. */
static int open_loan(const struct loan *l)
{
    char path[48];
    int fd, rc;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)l->pid, (int)l->fd);
    rc = check_tag(path, l->tag);
    if (rc)
        return rc;
    fd = fd_keep(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0)
        return cannot("open", path, errno);
    rc = check_file(l, fd);
    if (!rc)
        rc = check_tag(path, l->tag);
    if (rc)
        close(fd);
    return rc ? rc : fd;
}

int gtl_soft_ipc_open(const struct gtl_ipc_handle *h, int none, void **at)
{
    struct loan l;
    int fd, rc;

    (void)none;
    memcpy(&l, h->bytes, sizeof l);
    if (l.magic != MAGIC || l.pid <= 0 || l.fd < 0 || !l.size ||
        l.size % GTL_SOFT_UNIT)
        return gtl_fail(-EINVAL, "ipc_open",
                        "this is no handle of the software "
                        "device", EINVAL);
    if (l.pid_space != pid_space())
        return gtl_fail(-EXDEV, "ipc_open", "the owner is in another PID "
                        "namespace, such as a container", EXDEV);
    fd = open_loan(&l);
    if (fd < 0)
        return fd;
    rc = gtl_soft_mem_map(fd, (size_t)l.size, at);
    close(fd);
    return rc;
}
