#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a program that starts as a PE right behind one that was killed
# joins the job, although the killed one is still ending, or has ended and its
# parent has not looked at that; one whose first thread has left still is the
# PE.
set -u
. "$(dirname "$0")/oshrun.inc"

cat >"$dir/pe.c" <<'C'
#include <errno.h>
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;

static pid_t start(const char *word, int traced)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        _exit(77);
    if (traced)
        raise(SIGSTOP);
    execl(self, self, word, (char *)NULL);
    _exit(8);
}

static int joins(void)
{
    int status;

    return waitpid(start("next", 0), &status, 0) < 0 || status;
}

/* The session stays open: a child has it. */
static int die_with_child(void)
{
    shmem_init();
    if (fork() == 0) {
        sleep(20);
        _exit(0);
    }
    return raise(SIGKILL);
}

static int behind_zombie(void)
{
    siginfo_t info;

    if (waitid(P_PID, (id_t)start("die-with-child", 0), &info,
               WEXITED | WNOWAIT))
        return 7;
    return joins();
}

/* Held where it has been killed, with all that it has open. */
static int behind_dying(void)
{
    pid_t pid = start("die", 1);
    int status, rc;

    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACEEXIT))
        return 77;
    do {
        if (ptrace(PTRACE_CONT, pid, NULL, NULL) ||
            waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            return 77;
    } while (status >> 16 != PTRACE_EVENT_EXIT);
    rc = joins();
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    return rc;
}

static void *second_thread(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    if (joins())
        printf("refused\n");
    fflush(stdout);
    shmem_finalize();
    exit(0);
}

static int leave_first_thread(void)
{
    static pthread_t first, second;
    int got;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &got);
    first = pthread_self();
    pthread_create(&second, NULL, second_thread, &first);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    self = argv[0];
    if (!strcmp(word, "zombie"))
        return behind_zombie();
    if (!strcmp(word, "dying"))
        return behind_dying();
    if (!strcmp(word, "thread"))
        return leave_first_thread();
    if (!strcmp(word, "die-with-child"))
        return die_with_child();
    shmem_init();
    if (!strcmp(word, "die"))
        return raise(SIGKILL);
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    fflush(stdout);
    shmem_finalize();
    return 0;
}
C
oshcc -O1 -Wall -pthread "$dir/pe.c" -o "$dir/pe" >"$dir/cc.log" 2>&1 ||
    { cat "$dir/cc.log" >&2; exit 1; }

try -n 1 "$dir/pe" zombie
expect 0 'behind one that has ended' && silent 'behind one that has ended'
grep -qx 'PE 0 of 1' "$out" || fail "behind one that has ended: $(cat "$out")"

tried='ended'
try -n 1 "$dir/pe" dying
if [ $status -ne 77 ]; then
    expect 0 'behind one that is ending' && silent 'behind one that is ending'
    grep -qx 'PE 0 of 1' "$out" ||
        fail "behind one that is ending: $(cat "$out")"
    tried="$tried, is ending"
fi

# The thread sanitizer loses its first thread.
case $(oshcc --showme:compile) in
    *-fsanitize=thread*) ;;
    *)
        try -n 1 "$dir/pe" thread
        expect 0 'behind one without its first thread'
        [ "$(cat "$out")" = refused ] ||
            fail "behind one without its first thread: $(cat "$out")"
        said '^sluice: PE 0 (.*): process [0-9]* is PE 0 of this job already; .* \[S-E-PMI\]$' ;;
esac
finish "successor: of one that has $tried; not of one that runs"
