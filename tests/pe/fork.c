/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a forked child stores reaches no PE, its end does not
 * disturb the job, and system, popen, posix_spawn and vfork work.
 * PEs: 1 2 4
 * Ppn: 4/2
 * Reject: \[S- */
#include "../t.h"

#include <dirent.h>
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

enum { PAGES = 8, PAGE = 4096, CHILDREN = 8 };

static long counter = 10;
static char spread[PAGES * PAGE];
static char sparse[64 * PAGE];  /* most pages are never written */
static char *heap;
static int me, n_pes, next;

/* Static data as the program's own handler sees it in the child. */
static long seen_by_handler;

static void watch_child(void)
{
    seen_by_handler = counter;
    counter = -5;
}

/* The child does what() and says by its exit status whether all was well. */
static int in_child(bool (*what)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(what() ? 0 : 1);
    T_LT(0, child);
    T_EQ(waitpid(child, &status, 0), child);
    return status;
}

static bool change_everything(void)
{
    memset(spread, 'c', sizeof spread);
    memset(heap, 'c', PAGES * PAGE);
    counter = -1;
    return spread[PAGE] == 'c' && heap[PAGE] == 'c' && counter == -1;
}

static char *on_node_heap, *on_node_static;

static bool change_through_pointers(void)
{
    memset(on_node_heap, 'n', PAGES * PAGE);
    memset(on_node_static, 'n', PAGES * PAGE);
    return on_node_heap[1] == 'n' && on_node_static[1] == 'n';
}

static bool sparse_is(char a, char b, char c)
{
    for (int i = 0; i < 64 * PAGE; i++)
        if (sparse[i] != (i == PAGE ? a : i == 20 * PAGE + 8 ? b :
                          i == 22 * PAGE - 1 ? c : 0))
            return false;
    return true;
}

static bool all_are(const char *p, char c)
{
    for (int i = 0; i < PAGES * PAGE; i++)
        if (p[i] != c)
            return false;
    return true;
}

T(stores_of_a_child_stay_its_own)
{
    memset(spread, 'p', sizeof spread);
    memset(heap, 'p', PAGES * PAGE);
    counter = 10;
    on_node_heap = shmem_ptr(heap, next);
    on_node_static = shmem_ptr(spread, next);
    shmem_barrier_all();
    T_EQ(in_child(change_everything), 0);
    if (on_node_heap && on_node_static)
        T_EQ(in_child(change_through_pointers), 0);
    shmem_barrier_all();
    T_TRUE(all_are(spread, 'p'));
    T_TRUE(all_are(heap, 'p'));
    T_EQ(counter, 10);
    T_EQ(shmem_long_g(&counter, next), 10);
    T_EQ(shmem_char_g(&spread[5 * PAGE], next), 'p');
    shmem_barrier_all();
}

/* The child looks after the PEs have stored to what it was given. */
T(a_child_keeps_the_static_data_of_the_fork)
{
    int start[2], status = -1;
    char word = 0;
    pid_t child;

    counter = 77;
    memset(spread, 'p', sizeof spread);
    spread[3 * PAGE] = 0;
    sparse[PAGE] = '1';
    sparse[20 * PAGE + 8] = '2';
    sparse[22 * PAGE - 1] = '3';
    if (!T_EQ(pipe(start), 0))
        return;
    shmem_barrier_all();
    child = fork();
    if (child == 0) {
        bool same = read(start[0], &word, 1) == 1 && seen_by_handler == 77 &&
                    counter == -5 && spread[0] == 'p' && !spread[3 * PAGE] &&
                    spread[PAGES * PAGE - 1] == 'p' &&
                    sparse_is('1', '2', '3');

        _exit(same ? 0 : 1);
    }
    shmem_barrier_all();
    shmem_long_p(&counter, 78, next);
    for (int i = 0; i < PAGES; i++)
        shmem_char_p(&spread[i * PAGE], 'q', next);
    shmem_char_p(&spread[PAGES * PAGE - 1], 'q', next);
    shmem_char_p(&sparse[22 * PAGE - 1], '4', next);
    shmem_barrier_all();
    T_EQ(write(start[1], &word, 1), 1);
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, 0);
    T_EQ(counter, 78);
    T_EQ(spread[3 * PAGE], 'q');
    T_TRUE(sparse_is('1', '2', '4'));
    close(start[0]);
    close(start[1]);
}

static bool leave_by_exit(void)
{
    exit(change_everything() ? 0 : 1);  /* runs the library's handler */
}

static bool have_a_child(void)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(counter == -5 ? 0 : 1);   /* the parent's, through a handler */
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool die(void)
{
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    return false;
}

T(however_a_child_ends_the_job_goes_on)
{
    T_EQ(in_child(leave_by_exit), 0);
    T_EQ(in_child(have_a_child), 0);
    T_EQ(WTERMSIG(in_child(die)), SIGTERM);
    shmem_barrier_all();
    T_EQ(shmem_long_g(&counter, next), 78);
}

/* While the PEs before store to this one's data without a pause. */
T(forks_under_traffic)
{
    static long arrived[CHILDREN * 100];
    pid_t child;
    int status;

    shmem_barrier_all();
    for (long i = 0; i < CHILDREN; i++) {
        child = fork();
        if (child == 0)
            _exit(0);
        for (long k = i * 100; k < i * 100 + 100; k++)
            shmem_long_p(&arrived[k], k + 1, next);
        status = -1;
        waitpid(child, &status, 0);
        T_EQ(status, 0);
    }
    shmem_barrier_all();
    for (long k = 0; k < CHILDREN * 100; k++)
        T_EQ(arrived[k], k + 1);
}

T(programs_are_started)
{
    char *argv[] = { "sh", "-c", "exit 4", NULL }, line[64] = "";
    int status = -1;
    pid_t child;
    FILE *f;

    T_EQ(WEXITSTATUS(system("exit 3")), 3);
    f = popen("echo word $((6 * 7))", "r");
    T_TRUE(f && fgets(line, sizeof line, f));
    T_STR(line, "word 42\n");
    T_EQ(f ? pclose(f) : -1, 0);
    T_EQ(posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ), 0);
    waitpid(child, &status, 0);
    T_EQ(WEXITSTATUS(status), 4);
    child = vfork();
    if (child == 0) {
        execv("/bin/sh", argv);
        _exit(1);
    }
    waitpid(child, &status, 0);
    T_EQ(WEXITSTATUS(status), 4);
    T_EQ(counter, 78);
    shmem_barrier_all();
    shmem_long_p(&counter, 79, next);
    shmem_barrier_all();
    T_EQ(counter, 79);
}

/* Closes what the library has open, as a program that closes all it did not
 * open would. */
static int close_memory_files(void)
{
    char path[64], target[64];
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    int closed = 0;
    ssize_t n;

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", e->d_name);
        n = readlink(path, target, sizeof target);
        if (n > 7 && !memcmp(target, "/memfd:", 7) &&
            (n < 20 || memcmp(target, "/memfd:sluice-status", 20))) {
            close(atoi(e->d_name));
            closed++;
        }
    }
    if (d)
        closedir(d);
    return closed;
}

static bool read_the_heap(void)
{
    return heap[PAGE] == 'p';
}

static bool store_to_the_heap(void)
{
    signal(SIGSEGV, SIG_DFL);
    heap[PAGE] = 'c';
    return false;
}

static bool store_to_static_data(void)
{
    counter = -1;
    return spread[0] == 'q';
}

/* Then there is nothing to make a private heap from: it cannot be changed. */
T(without_its_file_the_heap_is_read_only)
{
    T_EQ(close_memory_files(), 1);
    T_EQ(in_child(read_the_heap), 0);
    T_EQ(WTERMSIG(in_child(store_to_the_heap)), SIGSEGV);
    T_EQ(in_child(store_to_static_data), 0);
    shmem_barrier_all();
    T_EQ(heap[PAGE], 'p');
    T_EQ(counter, 79);
    T_EQ(shmem_long_g(&counter, next), 79);
    heap = shmem_realloc(heap, 4 * PAGES * PAGE);
    T_EQ(heap[PAGE], 'p');
}

int main(void)
{
    pthread_atfork(NULL, NULL, watch_child);
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    T_PE(me);
    heap = shmem_malloc(PAGES * PAGE);
    T_RUN(stores_of_a_child_stay_its_own);
    T_RUN(a_child_keeps_the_static_data_of_the_fork);
    T_RUN(however_a_child_ends_the_job_goes_on);
    T_RUN(forks_under_traffic);
    T_RUN(programs_are_started);
    T_RUN(without_its_file_the_heap_is_read_only);
    shmem_finalize();
    T_EQ(counter, 79);
    T_TRUE(sparse_is('1', '2', '4'));
    return T_DONE();
}
