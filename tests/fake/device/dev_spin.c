/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that spin: what they keep from others, and what they see.
 *
 * A process whose kernel spins has a socket of that name, which goes with it:
 * processes of one job know each other by it, and no file is left. */
#include "dev.h"
#include "dev_nic.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEVICES = 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int spinning, fd;
} held[DEVICES];
static struct dev_poll *polls;

/* False: this process is of no job, and alone. */
static bool name_of(int device, struct sockaddr_un *out, socklen_t *len)
{
    const char *job = getenv("SLUICE_JOB");
    int n;

    if (!job)
        return false;
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    n = snprintf(out->sun_path + 1, sizeof out->sun_path - 1,
                 "fake-device-%s-%d", job, dev_number(device));
    if (n >= (int)sizeof out->sun_path - 1)
        n = (int)sizeof out->sun_path - 2;
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)n);
    return true;
}

static int open_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        perror("fake device: socket");
        abort();
    }
    return fd;
}

/* Under the lock. */
static bool take(int device)
{
    struct sockaddr_un name;
    socklen_t len;
    int fd;

    held[device].fd = -1;
    if (!name_of(device, &name, &len))
        return true;
    fd = open_socket();
    if (bind(fd, (struct sockaddr *)&name, len)) {
        close(fd);
        return false;
    }
    held[device].fd = fd;
    return true;
}

bool dev_hold(int device)
{
    bool ok;

    pthread_mutex_lock(&lock);
    ok = held[device].spinning || take(device);
    held[device].spinning += ok;
    pthread_mutex_unlock(&lock);
    return ok;
}

void dev_let(int device)
{
    pthread_mutex_lock(&lock);
    if (!--held[device].spinning && held[device].fd >= 0)
        close(held[device].fd);
    pthread_mutex_unlock(&lock);
}

static bool spins(int device)
{
    bool yes;

    pthread_mutex_lock(&lock);
    yes = held[device].spinning;
    pthread_mutex_unlock(&lock);
    return yes;
}

bool dev_kept_out(int device)
{
    struct sockaddr_un name;
    socklen_t len;
    bool theirs;
    int fd;

    if (spins(device) || !name_of(device, &name, &len))
        return false;
    fd = open_socket();
    theirs = !connect(fd, (struct sockaddr *)&name, len);
    close(fd);
    return theirs;
}

void dev_poll_begin(struct dev_poll *p, uint64_t *at, bool coarse)
{
    *p = (struct dev_poll){ .at = at, .coarse = coarse, .acquires = true };
    pthread_mutex_lock(&lock);
    p->next = polls;
    polls = p;
    pthread_mutex_unlock(&lock);
}

uint64_t dev_poll(struct dev_poll *p)
{
    uint64_t is;

    pthread_mutex_lock(&lock);
    if (p->acquires || !p->coarse)
        p->seen = __atomic_load_n(p->at, __ATOMIC_ACQUIRE);
    p->acquires = false;
    is = p->seen;
    pthread_mutex_unlock(&lock);
    return is;
}

bool dev_polling(void)
{
    struct dev_poll *p;

    pthread_mutex_lock(&lock);
    for (p = polls; p && p->acquires; p = p->next) {}
    pthread_mutex_unlock(&lock);
    return p;
}

void dev_poll_end(struct dev_poll *p)
{
    struct dev_poll **at = &polls;

    pthread_mutex_lock(&lock);
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    pthread_mutex_unlock(&lock);
}

void dev_stored(const void *at, size_t n)
{
    uintptr_t from = (uintptr_t)at;

    if (!n)
        dev_nic_note_all();
    pthread_mutex_lock(&lock);
    for (struct dev_poll *p = polls; p; p = p->next)
        if (!n || ((uintptr_t)p->at + 8 > from && (uintptr_t)p->at < from + n))
            p->acquires = true;
    pthread_mutex_unlock(&lock);
}
