#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: at SIGUSR2 a PE that is in an operation on another node says in
# which of the program's calls, for which PE of which host, and since when; and
# once that has ended, no longer.
# Light: PEs wait until they are asked
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program off_node <<'C'
static long pid_of, word;
static char data[1 << 22], mine[1 << 22];

/* Asks in the middle of the call, and at last lets PE 1 go on. */
static void *ask(void *unused)
{
    usleep(1300000);
    kill(getpid(), SIGUSR2);
    usleep(100000);
    kill((pid_t)pid_of, SIGCONT);
    return unused;
}

int main(int argc, char **argv)
{
    const char *word_of = argv[1];
    pthread_t t;

    (void)argc;
    pid_of = getpid();
    shmem_init();
    pid_of = shmem_long_g(&pid_of, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        kill((pid_t)pid_of, SIGSTOP);
        usleep(50000);
        pthread_create(&t, NULL, ask, NULL);
        if (!strcmp(word_of, "get"))
            shmem_getmem(mine, data, sizeof data, 1);
        if (!strcmp(word_of, "put"))
            shmem_char_put(data, mine, sizeof data, 1);
        if (!strcmp(word_of, "fetch"))
            shmem_long_atomic_fetch_add(&word, 1, 1);
        if (!strcmp(word_of, "quiet"))
            shmem_putmem_nbi(data, mine, sizeof data, 1);
        /* A fence between a long put and another one waits; one behind a word
         * lets the next put wait. */
        if (!strcmp(word_of, "fence"))
            shmem_putmem_nbi(data, mine, 8192, 1);
        if (strstr(word_of, "fence") || !strcmp(word_of, "ctx_quiet"))
            shmem_long_atomic_inc(&word, 1);
        if (!strcmp(word_of, "quiet"))
            shmem_quiet();
        if (!strcmp(word_of, "ctx_quiet"))
            shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
        if (strstr(word_of, "fence"))
            shmem_fence();
        if (!strcmp(word_of, "fenced"))
            shmem_putmem(data, mine, sizeof data, 1);
        pthread_join(t, NULL);
        kill(getpid(), SIGUSR2);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C

# prints WORD CALL: PE 0 prints its state, in two lines.  It may have had no time yet to
# find the name of the host; not always.
hosts=0
prints()
{
    try 2 --ppn 1 ./off_node "$1"
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$1: status $status: $(cat "$out" "$err")"
    head -n 1 "$err" | grep -qE "^sluice: PE 0 \\([^ ]+\\): in $2 for [1-9][0-9]* s, waiting for PE 1 \\((host [^ ]+|on another node)\\)(; [12] operations? to other nodes under way)?; heap: " &&
        sed -n 2p "$err" | grep -qE "^sluice: PE 0 \\([^ ]+\\): not waiting; last noted call: $2 \\([0-9]+ noted so far\\), [0-9]+ s ago; heap: " &&
        [ "$(wc -l <"$err")" -eq 2 ] || fail "$1: $(cat "$err")"
    ! grep -q 'PE 1 (host ' "$err" || hosts=$((hosts + 1))
}
prints get shmem_getmem
prints put shmem_char_put
prints fetch shmem_long_atomic_fetch_add
prints quiet shmem_quiet
prints ctx_quiet shmem_ctx_quiet
prints fence shmem_fence
prints fenced shmem_putmem
[ "$hosts" -ge 3 ] || fail "$hosts of 7 lines name the host"
finish 'SIGUSR2 within off-node operations'
