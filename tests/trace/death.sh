#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a job that dies leaves a trace, too: of a killed PE, an error, an
# exit of all, a signal to oshrun; what never ended is marked.
# Light: PEs wait for each other
# Timeout: 120
. "$(dirname "$0")/trace.inc"
export SHMEM_STALL=0

program dies <<'C'
/* Until oshrun's list of what the PEs do has the last wait of PE 0. */
static void await_wait(const char *err)
{
    char line[512];
    FILE *f;

    for (int there = 0; !there; usleep(50000)) {
        kill(getppid(), SIGUSR2);
        f = fopen(err, "r");
        while (f && fgets(line, sizeof line, f))
            there |= strstr(line, "PE 0 (") && strstr(line, " to be == 2 ");
        if (f)
            fclose(f);
    }
}

int main(int argc, char **argv)
{
    static long word;
    int me;

    shmem_init();
    me = shmem_my_pe();
    shmem_barrier_all();
    shmem_long_p(&word, 1, 1 - me);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    shmem_barrier_all();
    (void)argc;
    if (me == 1)
        await_wait(argv[2]);
    if (me == 1 && !strcmp(argv[1], "killed"))
        raise(SIGKILL);
    if (me == 1 && !strcmp(argv[1], "wrong"))
        shmem_long_p(&word, 1, 7);
    if (me == 1 && !strcmp(argv[1], "leaves"))
        shmem_global_exit(3);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 2);
    return 0;
}
C

# left WORD PPN [OPTION...]: t.json has both PEs' events, the wait of PE 0 is
# not over in it.
left()
{
    word=$1 ppn=$2
    shift 2
    rm -f t.json*
    try 2 --ppn "$ppn" "$@" ./dies "$word" "$err"
    [ $status -ne 0 ] || fail "$word: status 0"
    [ -s t.json ] || fail "$word: no trace: $(head -n 5 "$err")"
    [ "$(ls t.json*)" = t.json ] || fail "$word: left $(echo t.json*)"
    well_formed
    holds "$word: PEs" '[$e[] | select(.name == "shmem_long_p") | .pid]
        | unique == [0, 1]'
    has shmem_long_wait_until '.pid == 0 and .args.unfinished == true'
    holds "$word: the rest has ended" '[$e[] | select(.pid == 0 and
        .args.unfinished == true and .cat != "stream")] | length == 1'
}

for ppn in 2 1; do
    left killed $ppn
    left wrong $ppn
    left leaves $ppn
    left waits $ppn --timeout 2
done
# Interrupted: oshrun ends by the signal when the trace is there.
rm -f t.json*
: >"$err"
"$bin/oshrun" -n 2 ./dies waits "$err" >"$out" 2>"$err" </dev/null &
job=$!
until grep -q '^sluice: PE 0 (.* to be == 2 ' "$err" ||
    ! kill -0 $job 2>/dev/null; do
    sleep 0.1
done
kill -TERM $job
wait $job
[ $? -eq 143 ] || fail 'not ended by SIGTERM'
has shmem_long_wait_until '.pid == 0 and .args.unfinished == true'

finish 'a trace of a job that died'
