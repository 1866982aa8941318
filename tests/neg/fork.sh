#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a forked child that calls the library ends with one line and
# status 1, and the job goes on; fork, system, popen and posix_spawn work.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

program bad <<'C'
#include <spawn.h>

extern char **environ;
static long a = 5;
static long *block;
static shmem_ctx_t of_split;    /* a context of a split team */

/* What a child ended with. */
static int reap(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void misuse(const char *word)
{
    long b = 0;

    if (!strcmp(word, "putmem"))
        shmem_putmem(&a, &b, 8, 0);
    CASE(ctx_putmem) shmem_ctx_putmem(of_split, &a, &b, 8, 0);
    CASE(g) b = shmem_long_g(&a, 0);
    CASE(inc) shmem_long_atomic_inc(&a, 0);
    CASE(wait) shmem_long_wait_until(&a, SHMEM_CMP_NE, 5);
    CASE(barrier) shmem_barrier_all();
    CASE(malloc) shmem_malloc(64);
    CASE(my_pe) b = shmem_my_pe();
    CASE(quiet) shmem_quiet();
    CASE(init) shmem_init();
    CASE(init_thread) shmem_init_thread(SHMEM_THREAD_SINGLE, NULL);
    CASE(finalize) shmem_finalize();
    CASE(global_exit) shmem_global_exit(0);
    printf("child went on\n");
    fflush(stdout);
    _exit(3);
}

/* The child's static data is its own, the heap it only reads. */
static void child_alone(void)
{
    int up = -1;

    if (a != 5)
        _exit(10);
    a = 6;
    shmem_query_initialized(&up);
    _exit(up != 0 ? 11 : *block != 9 ? 12 : 0);
}

/* It neither finalizes for its parent nor tells of itself. */
static void child_returns(void)
{
    exit(0);
}

static int processes(const char *self)
{
    char *const args[] = { (char *)(uintptr_t)self, "child", NULL };
    char line[64] = "";
    pid_t pid;
    FILE *p;

    if (system("exit 4") != 4 << 8)
        return 1;
    p = popen("echo words", "r");
    if (!p || !fgets(line, sizeof line, p) || strcmp(line, "words\n") ||
        pclose(p))
        return 2;
    if (posix_spawn(&pid, self, NULL, NULL, args, environ) || reap(pid) != 8)
        return 3;
    pid = fork();
    if (!pid) {
        execl(self, self, "child", (char *)NULL);
        _exit(9);
    }
    return reap(pid) != 8 ? 4 : 0;
}

static void split(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;

    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0,
                                 &team) ||
        shmem_team_create_ctx(team, 0, &of_split))
        printf("PE %d: no context\n", shmem_my_pe());
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    int want = argc > 2 ? atoi(argv[2]) : 8, got;
    pid_t pid;

    if (!strcmp(word, "child"))
        return want;
    shmem_init();
    block = shmem_malloc(8);
    *block = 9;
    split();
    shmem_barrier_all();
    if (!strcmp(word, "works")) {
        got = processes(argv[0]);
    } else {
        pid = fork();
        if (!pid && !strcmp(word, "alone"))
            child_alone();
        if (!pid && !strcmp(word, "returns"))
            child_returns();
        if (!pid)
            misuse(word);
        got = reap(pid);
    }
    if (got != want)
        printf("PE %d: %d, not %d\n", shmem_my_pe(), got, want);
    /* The parent is as it was, and the job goes on. */
    if (a != 5)
        printf("PE %d: its data is %ld\n", shmem_my_pe(), a);
    shmem_barrier_all();
    shmem_long_atomic_inc(&a, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    if (a != 6)
        printf("PE %d: counted to %ld\n", shmem_my_pe(), a);
    shmem_finalize();
    return 0;
}
C

# child WORD CALL: refused, and the parent sees status 1.
child()
{
    try 0 ./bad "$1" 1
    ended 0 "$1"
    said "$1" "sluice: PE 0 \\([^ ]+\\): $2: called in a forked child, which is no PE; communicate from the parent, or use posix_spawn \\[S-E-FORK\\]"
}
child putmem shmem_putmem
child ctx_putmem shmem_ctx_putmem
child g shmem_long_g
child inc shmem_long_atomic_inc
child wait shmem_long_wait_until
child barrier shmem_barrier_all
child malloc shmem_malloc
child my_pe shmem_my_pe
child quiet shmem_quiet
child init shmem_init
child init_thread shmem_init_thread
child finalize shmem_finalize
child global_exit shmem_global_exit

# Of two PEs each has such a child.
try 2 ./bad putmem 1
ended 0 'children of two PEs'
all_said 'children of two PEs' 'sluice: PE [01] \([^ ]+\): shmem_putmem: called in a forked child, .* \[S-E-FORK\]'

works alone 0
works works 0
sanitized || works returns 0    # the child's exit would look for leaks
finish 'forked children'
