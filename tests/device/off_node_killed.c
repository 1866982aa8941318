/* SPDX-License-Identifier: BSD-3-Clause */
/* Two PEs, of which the last is killed while they put to each other's device
 * memory and get from it; off_node.sh looks at how the job ends. */
#include "../memory.h"

#include <signal.h>
#include <sys/time.h>

enum { LEN = 4 << 20 };

static void die(int sig)
{
    (void)sig;
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const struct itimerval soon = { .it_value.tv_usec = 60000 };
    bool busy = argc > 1 && !strcmp(argv[1], "busy");
    char *to, *from;

    device_begin(SHMEM_THREAD_SINGLE);
    to = mem_alloc(DEVICE, LEN);
    from = mem_alloc(DEVICE, LEN);
    shmem_barrier_all();
    if (me == n_pes - 1) {
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    /* One of them only serves the other, or both are busy. */
    while (!busy && me == n_pes - 1)
        pause();
    for (;;) {
        shmem_putmem(to, from, LEN, next);
        shmem_getmem(from, to, LEN, next);
    }
}
