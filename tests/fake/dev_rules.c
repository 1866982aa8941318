/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the stand-in device keeps the processor off its memory, runs
 * streams in order, and exports memory to another process. */
#include "t.h"
#include "dev.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

T(the_processor_may_touch_the_memory_of_a_coherent_device_only)
{
    int status;
    char *p;
    pid_t child;

    T_EQ(dev_alloc(0, 4096, 4096, 0, (void **)&p), 0);
    child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        *(volatile char *)p = 1;
        _exit(0);
    }
    T_EQ(waitpid(child, &status, 0), child);
    if (dev_setup()->is == DEV_COHERENT)
        T_EQ(status, 0);
    else
        T_NE(status, 0);
    T_EQ(dev_free(p), 0);
    T_EQ(dev_free(p), -EINVAL);
}

T(a_stream_waits_and_keeps_its_order)
{
    struct dev_stream *s = dev_stream_create(0, false, 0);
    struct dev_stream *t = dev_stream_create(0, false, 0);
    uint64_t *word, host[2] = { 0 };
    struct dev_mark m;

    T_EQ(dev_alloc(0, 4096, 4096, 0, (void **)&word), 0);
    T_EQ(dev_pin(host, sizeof host, 0), 0);
    T_EQ(dev_pin(host, sizeof host, 0), -EEXIST);
    dev_fill(s, word, 0, 1, 4096);
    dev_record(s, &m);
    dev_mark_sync(m);
    dev_wait(s, word, 7, ~0ULL, 8, DEV_GEQ);
    dev_copy(s, host, word, 8);
    T_TRUE(dev_busy(s));
    T_EQ(host[0], 0);
    dev_write(t, word, 9, 8);
    T_EQ(dev_sync(s), 0);
    T_EQ(host[0], 9);
    T_EQ(dev_unpin(host), 0);
    T_EQ(dev_free(word), 0);
    dev_stream_destroy(s);
    T_TRUE(!dev_stream_find(s));
    dev_stream_destroy(t);
}

/* Not by a command of the device. */
static void store_there(uint64_t *word, uint64_t value)
{
    __atomic_store_n((uint64_t *)dev_reach(word, 8), value, __ATOMIC_RELEASE);
}

static void spin_begins(struct dev_stream *s, uint64_t *word)
{
    dev_fill(s, word, 0, 1, 8);
    T_EQ(dev_sync(s), 0);
    dev_spin(s, "test", word, 1, ~(uint64_t)0, DEV_GEQ_UNSIGNED);
    while (!dev_polling())
        usleep(100);
}

T(a_kernel_that_polls_coarse_memory_sees_its_own_device_only)
{
    struct dev_stream *s = dev_stream_create(0, false, 0);
    struct dev_stream *t = dev_stream_create(0, false, 1);
    uint64_t *coarse, *fine, one = 1;

    T_EQ(dev_alloc(0, 4096, 4096, DEV_COARSE, (void **)&coarse), 0);
    T_EQ(dev_alloc(0, 4096, 4096, 0, (void **)&fine), 0);
    spin_begins(s, fine);
    store_there(fine, 1);
    T_EQ(dev_sync(s), 0);
    spin_begins(s, coarse);
    store_there(coarse, 1);
    dev_copy(t, coarse, &one, 8);
    T_EQ(dev_sync(t), 0);
    usleep(5000);
    T_TRUE(dev_busy(s));
    dev_store(t, coarse, 1);
    T_EQ(dev_sync(s), 0);
    /* A kernel that starts sees all. */
    dev_fill(s, coarse, 0, 1, 8);
    T_EQ(dev_sync(s), 0);
    store_there(coarse, 1);
    dev_spin(s, "test", coarse, 1, ~(uint64_t)0, DEV_GEQ_UNSIGNED);
    T_EQ(dev_sync(s), 0);
    T_EQ(dev_free(coarse), 0);
    T_EQ(dev_free(fine), 0);
}

static void raise_it(void *arg)
{
    usleep(20000);
    ++*(int *)arg;
}

T(the_default_stream_is_in_order_with_fenced_ones)
{
    struct dev_stream *s = dev_stream_create(0, true, 0);
    struct dev_stream *t = dev_stream_create(0, true, 0);
    int n = 0;

    dev_host(s, raise_it, &n);
    dev_host(dev_default(0), raise_it, &n);
    dev_host(t, raise_it, &n);
    T_EQ(dev_sync(t), 0);
    T_EQ(n, 3);
}

T(another_process_opens_memory)
{
    struct dev_export h;
    uint64_t *p, is = 0;
    int ready[2], status;
    void *q;

    T_EQ(dev_alloc(0, 4096, 4096, 0, (void **)&p), 0);
    T_EQ(dev_export_memory(p, &h), 0);
    T_EQ(dev_open_memory(0, &h, &q), -EXDEV);
    T_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        /* Its streams' threads are not here: the memory is enough. */
        uint64_t *w;

        if (dev_open_memory(0, &h, &q) || dev_open_memory(0, &h, (void **)&w) ||
            w != q)
            _exit(1);
        w = dev_reach(q, 8);
        *w = 5;
        _exit(dev_give_back(q) || dev_give_back(q) || !dev_give_back(q));
    }
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, 0);
    dev_copy(dev_default(0), &is, p, 8);
    T_EQ(is, 5);
    T_EQ(dev_free(p), 0);
}

/* What the device stores, a NIC sees; the other way around after a flush. */
T(what_a_nic_stores_is_seen_after_a_flush)
{
    struct dev_stream *s = dev_default(0);
    uint64_t *p, *nic, offset, is[2] = { 0 };
    bool late = dev_setup()->flush;
    int fd = -1;

    T_EQ(dev_alloc(0, 8192, 4096, 0, (void **)&p), 0);
    dev_write(s, p, 3, 8);
    T_EQ(dev_sync(s), 0);
    T_EQ(dev_dmabuf(p, 8192, &fd, &offset), 0);
    nic = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
               (off_t)offset);
    T_TRUE(nic != MAP_FAILED);
    T_EQ(nic[0], 3);
    dev_write(s, p, 4, 8);
    T_EQ(dev_sync(s), 0);
    T_EQ(nic[0], 4);
    nic[1] = 5;
    dev_copy(s, is, p, sizeof is);
    T_EQ(is[0], 4);
    T_EQ(is[1], late ? 0 : 5);
    dev_write(s, p, 6, 8);              /* its neighbour, meanwhile */
    dev_flush();
    dev_copy(s, is, p, sizeof is);
    T_EQ(is[0], 6);
    T_EQ(is[1], 5);
    nic[1] = 7;
    dev_wait_flush(s, p + 1, 7, DEV_GEQ);
    dev_copy(s, is, p, sizeof is);
    T_EQ(is[1], 7);
    munmap(nic, 8192);
    close(fd);
    T_EQ(dev_free(p), 0);
}

int main(void)
{
    T_RUN(the_processor_may_touch_the_memory_of_a_coherent_device_only);
    T_RUN(another_process_opens_memory);
    T_RUN(a_stream_waits_and_keeps_its_order);
    T_RUN(a_kernel_that_polls_coarse_memory_sees_its_own_device_only);
    T_RUN(what_a_nic_stores_is_seen_after_a_flush);
    T_RUN(the_default_stream_is_in_order_with_fenced_ones);
    return T_DONE();
}
