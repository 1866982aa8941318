/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: static data of the program moves into shared memory and back
 * with its values, alone of all memory, and a forked child gets its own. */
#include "unit.h"

#include "base/env.h"
#include "heap/heap_int.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int initialised = 41, zero;
static const int constant = 7;
static int *const relocated[] = { &initialised, &zero };
static char untouched[8 << 20];
static int volatile seen_by_thread = 1;
static __thread int per_thread;

static struct heap_static data;
static char *view;              /* the same pages, mapped elsewhere */
static int file = -1;
enum { OFFSET = 1 << 20 };      /* in the file: not everything starts at 0 */

static bool inside(const volatile void *p, size_t n)
{
    uintptr_t at = (uintptr_t)p, from = (uintptr_t)data.start;

    return at >= from && at + n <= from + data.size;
}

#define IN_VIEW(var) \
    (*(__typeof__(var) *)(void *)(view + ((char *)&(var) - data.start)))

T(the_image_is_what_a_program_may_write)
{
    struct heap_static again;
    int local;
    void *heap = malloc(8);

    heap_static_find(&data);
    T_EQ((uintptr_t)data.start % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    T_EQ(data.size % (size_t)sysconf(_SC_PAGESIZE), 0);
    T_TRUE(inside(&initialised, sizeof initialised));
    T_TRUE(inside(&zero, sizeof zero));
    T_TRUE(inside(untouched, sizeof untouched));
    T_TRUE(!inside(&constant, 1));
    T_TRUE(!inside(relocated, 1));
    T_TRUE(!inside("literal", 1));
    T_TRUE(!inside(&local, 1));
    T_TRUE(!inside(&per_thread, 1));
    T_TRUE(!inside(heap, 1));
    T_TRUE(!inside((void *)(uintptr_t)printf, 1));
    T_TRUE(!inside(stderr, 1));
    heap_static_find(&again);
    T_EQ(again.start, data.start);
    T_EQ(again.size, data.size);
    T_EQ(again.hash, data.hash);
    env.STATIC_DATA = false;
    heap_static_find(&again);
    T_EQ(again.size, 0);
    env.STATIC_DATA = true;
    free(heap);
}

/* Reads all the while: a page is replaced in one step. */
static atomic_bool stop;

static void *watch(void *arg)
{
    int *wrong = arg;

    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        *wrong += seen_by_thread != 1;
    return NULL;
}

T(values_survive_and_are_seen_from_elsewhere)
{
    int *wrong = calloc(1, sizeof *wrong);
    pthread_t reader;
    struct stat st;

    file = memfd_create("data", MFD_CLOEXEC);
    T_EQ(ftruncate(file, OFFSET + (off_t)data.size), 0);
    view = mmap(NULL, data.size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                OFFSET);
    T_NE(view, MAP_FAILED);
    zero = 5;
    pthread_create(&reader, NULL, watch, wrong);
    T_EQ(heap_static_share(&data, file, OFFSET, view), 0);
    atomic_store(&stop, true);
    pthread_join(reader, NULL);
    T_EQ(*wrong, 0);
    T_EQ(initialised, 41);
    T_EQ(zero, 5);
    T_EQ(IN_VIEW(initialised), 41);
    initialised = 42;
    T_EQ(IN_VIEW(initialised), 42);
    IN_VIEW(zero) = 6;
    T_EQ(zero, 6);
    T_EQ(*relocated[1], 6);
    T_EQ(IN_VIEW(untouched[12345]), 0);
    untouched[12345] = 9;
    T_EQ(IN_VIEW(untouched[12345]), 9);
    /* What was zero takes no memory. */
    T_EQ(fstat(file, &st), 0);
    T_LT(st.st_blocks * 512, (long)sizeof untouched / 2);
    free(wrong);
}

static void child_began(void)
{
    initialised += 1000;
}

/* The child's exit status is what it found wrong. */
static int child(void)
{
    int bad = 0;

    bad |= initialised != 1042 ? 1 : 0;     /* 42, and child_began once */
    bad |= zero != 6 ? 2 : 0;
    bad |= untouched[12345] != 9 ? 4 : 0;
    zero = 77;
    bad |= IN_VIEW(zero) == 77 ? 8 : 0;
    IN_VIEW(zero) = 6;
    bad |= zero != 77 ? 16 : 0;
    return bad;
}

T(a_forked_child_has_data_of_its_own)
{
    int status = -1;
    pid_t pid;

    heap_fork_child = child_began;
    pid = fork();
    if (pid == 0)
        _exit(child());
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    T_EQ(initialised, 42);
    T_EQ(zero, 6);
    IN_VIEW(zero) = 8;          /* ours are still shared */
    T_EQ(zero, 8);
    heap_fork_child = NULL;
}

T(afterwards_the_data_is_private_again)
{
    int status;
    pid_t pid;

    heap_static_unshare();
    T_EQ(initialised, 42);
    T_EQ(zero, 8);
    T_EQ(untouched[12345], 9);
    IN_VIEW(zero) = 100;
    T_EQ(zero, 8);
    zero = 9;
    T_EQ(IN_VIEW(zero), 100);
    heap_static_unshare();        /* once more is nothing */
    T_EQ(zero, 9);
    pid = fork();               /* nothing to be copied now */
    if (pid == 0)
        _exit(zero != 9);
    waitpid(pid, &status, 0);
    T_EQ(status, 0);
}

T(it_can_be_shared_a_second_time)
{
    IN_VIEW(zero) = 0;
    T_EQ(ftruncate(file, 0), 0);
    T_EQ(ftruncate(file, OFFSET + (off_t)data.size), 0);
    T_EQ(heap_static_share(&data, file, OFFSET, view), 0);
    T_EQ(IN_VIEW(zero), 9);
    heap_static_unshare();
    T_EQ(zero, 9);
}

T(a_mapping_that_fails_is_reported)
{
    const char *said;
    int rc;

    unit_capture();
    rc = heap_static_share(&data, -1, 0, view);
    said = unit_captured();
    T_LT(rc, 0);
    T_HAS(said, "bytes of static data: Bad file descriptor; "
          "SHMEM_STATIC_DATA=0 leaves it private [S-E-DATA]\n");
    T_EQ(zero, 9);
}

int main(void)
{
    T_EQ(env_load(), 0);
    T_RUN(the_image_is_what_a_program_may_write);
    if (data.size) {
        T_RUN(values_survive_and_are_seen_from_elsewhere);
        T_RUN(a_forked_child_has_data_of_its_own);
        T_RUN(afterwards_the_data_is_private_again);
        T_RUN(it_can_be_shared_a_second_time);
        T_RUN(a_mapping_that_fails_is_reported);
    }
    return T_DONE();
}
