#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_top shows PEs of running jobs, near and far: rates, what each
# does and which PE it waits for, as a table and as JSON; a stopped PE, several
# readers, wrong arguments; the job notices nothing, and counts no longer than
# there are readers.
# Light: PEs wait until they are seen
# Timeout: 120
. "$(dirname "$0")/trace.inc"
unset SHMEM_TRACE
top=$BUILD/bin/shmem_top

program watched <<'C'
static long word, data[2048];

int main(int argc, char **argv)
{
    char name[16];
    int me;

    (void)argc;
    (void)argv;
    shmem_init();
    me = shmem_my_pe();
    snprintf(name, sizeof name, "pid.%d", me);
    for (FILE *f = fopen(name, "w"); f; f = NULL) {
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
    }
    shmem_barrier_all();
    if (me == 0 && fork() == 0) {       /* no PE, and not shown */
        while (access("go", F_OK))
            usleep(20000);
        _exit(0);
    }
    if (me == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_GE, 42);
    } else if (me == 2) {
        shmem_ctx_t ctx;

        shmem_ctx_create(0, &ctx);
        for (FILE *f = fopen("ready", "w"); f; f = NULL)
            fclose(f);
        while (access("go", F_OK)) {
            for (int i = 0; i < 200; i++) {
                shmem_long_put(data, data + 1024, 16, 1);
                shmem_ctx_long_put(ctx, data, data + 1024, 16, 1);
                shmem_quiet();
                shmem_ctx_quiet(ctx);
            }
            usleep(1000);       /* others need the processor, too */
        }
        shmem_long_p(&word, 42, 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C

# begin OPTION...: three PEs, until they are where they wait.
begin()
{
    rm -f ready go pid.*
    timeout -k 5 100 "$bin/oshrun" -n 3 "$@" ./watched >"$out" 2>"$err" \
        </dev/null &
    job=$!
    for _ in $(seq 300); do
        [ -e ready ] && break
        sleep 0.1
    done
    launcher=$(ps -o pid= --ppid $job | tr -d ' ')  # the child of timeout
    pids="$(cat pid.0) $(cat pid.1) $(cat pid.2)"
}

# end: the job goes on, ends well and has printed nothing.
end()
{
    : >go
    wait $job || fail "$how: status $?"
    [ ! -s "$out" ] && [ ! -s "$err" ] || fail "$how: $(cat "$out" "$err")"
}

# watch FILE FILTER OPTION...: two tables of these PEs as JSON, until the filter
# holds for the last one's PEs: on a busy machine a PE may answer late.
watch()
{
    file=$1 filter=$2
    shift 2
    for _ in $(seq 20); do
        # shellcheck disable=SC2086
        timeout 60 "$top" --json "$@" $pids >"$file" 2>top.err ||
            fail "$how: status $?: $(cat top.err)"
        jq -se ".[-1].pes as \$p | $filter" "$file" >jq.out 2>&1 && return
    done
}

# sees FILTER: of jq, on the PEs of the last object.
sees()
{
    jq -se ".[-1].pes as \$p | $1" top.json >jq.out 2>&1 ||
        fail "$how: not so: $1: $(head -c 3000 top.json)"
}

# Is top.txt the table of PEs on one node?
is_table()
{
    grep -qE '^watched: job oshrun-.*, 3 of 3 PEs on this host$' top.txt &&
        grep -qE '^ +1 +[0-9]+ +[0-9]+% +0 +0 +0 +0%  in shmem_barrier_all for .*, waiting for PE 0, 2; heap' top.txt &&
        grep -qE '^waited for: PE 0 by 1, PE 2 by 1$' top.txt &&
        grep -qE '^most time:  shmem(_ctx)?_(long_put|quiet) [0-9]+% \([0-9.]+[kM]?/s\), ' top.txt
}

for options in '' '--ppn 1'; do
    how=${options:-near}
    # shellcheck disable=SC2086
    begin $options
    # Until PE 1 sleeps in its barrier.
    watch top.json 'all($p[]; .answers and .rates) and $p[2].rates.calls_per_s > 0 and
        ($p[1].report | startswith("in "))' -n 2 -d 0.5
    sees '($p | map(.pe)) == [0, 1, 2] and all($p[]; .answers and .n_pes == 3)
          and ($p | map(.job) | unique | length) == 1 and $p[0].job != ""'
    sees '$p[0].report | test("^in shmem_long_wait_until for [0-9]+ s, waiting for 0 to be >= 42 at static data")'
    sees '$p[1].report | test("^in shmem_barrier_all for [0-9]+ s, its collective call 2 with a team of 3 PEs")'
    sees '$p[2].report | test("^in |^not waiting")'
    sees 'all($p[]; .memory | test("^heap: .* of .* in use$"))'
    sees '$p[0].rates.calls_per_s == 0 and $p[2].rates.calls_per_s > 0'
    bytes=$([ "$options" ] && echo network || echo node)_bytes_per_s
    # A pair of puts and a pair of quiets move 256 bytes.
    sees "\$p[2].rates | .$bytes / .calls_per_s | . > 60 and . < 68"
    if [ ! "$options" ]; then
        sees '$p[1].waits_for == [0, 2] and $p[1].waits_for_pes == 2'
        for _ in $(seq 20); do
            # shellcheck disable=SC2086
            timeout 60 "$top" -n 1 -d 0.5 $pids >top.txt || fail "$how: status $?"
            is_table && break
        done
        is_table || fail "table: $(cat top.txt)"
        # Two at once, and a report that goes to the job meanwhile.
        # shellcheck disable=SC2086
        for i in 1 2; do
            watch top.$i 'all($p[]; .answers)' -n 3 -d 0.2 &
            eval "reader_$i=$!"
        done
        # shellcheck disable=SC2154
        wait "$reader_1" && wait "$reader_2" || fail "$how: a second reader"
        for i in 1 2; do
            jq -se 'length == 3 and all(.[-1].pes[]; .answers)' top.$i >jq.out ||
                fail "$how: of two readers: $(head -c 2000 top.$i)"
        done
        # One that is stopped is shown, and delays no other PE.
        p=$(jq -s '.[-1].pes[1].pid' top.json)
        kill -STOP "$p"
        watch top.json '$p[0].answers and $p[2].answers' -n 1 -d 0.2
        kill -CONT "$p"
        sees '$p[1].answers == false and $p[1].report == "is stopped by a signal"
              and $p[0].answers and $p[2].answers'
        # The launcher is no PE.
        timeout 60 "$top" -n 1 "$launcher" 2>top.err
        [ $? -eq 1 ] && grep -q '^shmem_top: no PE of yours runs' top.err ||
            fail "$how: of no PE: $(cat top.err)"
    fi
    # All of the user's, among them these.
    timeout 60 "$top" --json -n 1 -d 0.2 >top.json || fail "$how: status $?"
    [ "$(wc -l <top.json)" -eq 1 ] || fail "$how: not one line: $(head -c 300 top.json)"
    for p in $pids; do
        sees "any(\$p[]; .pid == $p)"
    done
    end
done

# A job ends while it is watched; and then there is none.
how='the end'
begin
rm -f top.txt
# shellcheck disable=SC2086
timeout 60 "$top" -d 0.2 $pids >top.txt 2>top.err &
reader=$!
until [ -s top.txt ] || ! kill -0 $reader 2>/dev/null; do
    sleep 0.1
done
end
wait $reader || fail "$how: status $?"
grep -q 'no PE runs here any more' top.err || fail "$how: $(cat top.err)"
[ "$(grep -c -- '-  has ended$' top.txt)" -eq 3 ] || fail "$how: $(tail top.txt)"
# shellcheck disable=SC2086
timeout 60 "$top" -n 1 $pids 2>top.err
[ $? -eq 1 ] || fail "$how: found again: $(cat top.err)"

# A process that closes the library and opens it again is found again.
how='a restart'
program restarts <<'C'
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    if (argc == 1) {
        while (access("again", F_OK))
            usleep(20000);
        shmem_finalize();
        while (access("open", F_OK))
            usleep(20000);
        shmem_init();
    }
    while (access("go", F_OK))
        usleep(20000);
    shmem_finalize();
    return 0;
}
C
rm -f go again open
./restarts >"$out" 2>"$err" </dev/null &
job=$!
./restarts stays >"$out" 2>"$err" </dev/null &  # shmem_top ends with the last
other=$!
until timeout 60 "$top" --json -n 1 -d 0.2 $job $other >top.json 2>top.err &&
    jq -e '.pes | length == 2' top.json >jq.out; do
    kill -0 $job && kill -0 $other || break
done
timeout 100 "$top" --json -d 0.2 $job $other >top.json 2>top.err &
reader=$!
# until_one FILTER: of some line from $from on, with the PE of $job.
here()
{
    from=$(($(wc -l <top.json) + 1))
}
until_one()
{
    for _ in $(seq 200); do
        tail -n +$from top.json | jq -se "any(.[];
            .pes | map(select(.pid == $job)) | $1)" >jq.out 2>&1 && return
        sleep 0.1
    done
    fail "$how: never so: $1: $(tail -n 1 top.json | head -c 2000)"
}
here
until_one '.[0].answers'
here
: >again
until_one '.[0].report == "has ended"'
until_one '. == []'
here
: >open
until_one '.[0].answers'
: >go
wait $job && wait $other || fail "$how: status $?"
wait $reader || fail "$how: shmem_top: $?: $(cat top.err)"

# Not shown where the user wants no reports.
how='SHMEM_STATE_SIGNAL=0'
SHMEM_STATE_SIGNAL=0
export SHMEM_STATE_SIGNAL
begin
# shellcheck disable=SC2086
timeout 60 "$top" -n 1 $pids 2>top.err
[ $? -eq 1 ] || fail "$how: found: $(cat top.err)"
end
unset SHMEM_STATE_SIGNAL

# refuses ARGUMENT...
refuses()
{
    timeout 10 "$top" "$@" >top.txt 2>top.err
    [ $? -eq 2 ] && [ "$(wc -l <top.err)" -eq 1 ] && [ ! -s top.txt ] ||
        fail "'$*' is accepted: $(cat top.err)"
}
refuses -d 0
refuses -d x
refuses -d
refuses -n -1
refuses -n 0.5
refuses --wrong
refuses 12x
"$top" --help | grep -q '^usage: shmem_top' || fail 'no help'
finish 'shmem_top: PEs, rates, who waits for whom'
