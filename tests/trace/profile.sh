#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SHMEM_STATS counts the program's calls with their bytes, times
# and PEs, near and far, on all threads and on none of the library's, and names
# the places that made them; as a table and as a file.
# Light: short jobs
# Timeout: 120
. "$(dirname "$0")/trace.inc"
unset SHMEM_TRACE

program profiled <<'C'
#include <shmemx_st.h>
static long word, data[2048];
static int me, n, next;

__attribute__((noinline)) void put_by_neighbours(void)
{
    for (int i = 0; i < 1000; i++)
        shmem_long_put(data, data + 1024, 1000, next);
    __asm__ volatile("");
}

static void *thread(void *arg)
{
    for (int i = 0; i < 700; i++)
        shmem_int_atomic_inc(arg, next);
    return NULL;
}

static void streams(void)
{
    shmemx_stream_t s;

    shmemx_stream_create(&s);
    for (int i = 0; i < 30; i++)
        shmemx_long_put_on_stream(data, data + 1024, 512, next, s);
    shmemx_quiet_on_stream(s);
    shmemx_stream_sync(s);
    shmemx_stream_destroy(s);
}

static void calls(void)
{
    static int counter;
    pthread_t t[2];

    put_by_neighbours();
    for (int i = 0; i < 50; i++)
        shmem_long_p(&word, 1, me);
    for (int i = 0; i < 20; i++)
        (void)shmem_long_g(&word, next);
    shmem_long_put_signal(data, data + 1024, 10, (uint64_t *)&data[2047], 1,
                          SHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until((uint64_t *)&data[2047], SHMEM_CMP_EQ, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, &counter);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    if (me == 0)
        usleep(300000);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, data, data + 1024, 100);
    if (me == 1)
        shmem_fence();
}

int main(int argc, char **argv)
{
    int level;

    (void)argc;
    for (int i = atoi(argv[1]); i; i--) {
        shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
        me = shmem_my_pe();
        n = shmem_n_pes();
        next = (me + 1) % n;
        calls();
        streams();
        shmem_finalize();
    }
    return 0;
}
C

# is FILTER WHAT: the file agrees.
is()
{
    jq -e "def call(c; p): .calls[] | select(.call == c and .peers == p);
           def spread(a; b; c): . == { min: a, median: b, max: c }; $1" \
        stats.json >/dev/null ||
        fail "$2: not $1: $(jq -c '.calls[] | del(.per_pe)' stats.json | head -n 40)"
}

# profiled_right PEERS OPTION...: on four PEs.
profiled_right()
{
    peers=$1
    shift
    rm -f stats.json
    SHMEM_DEVICE=software SHMEM_STATS=$PWD/stats.json try 4 "$@" ./profiled 1
    ended 0 "$peers"
    grep -q 'shmem_long_put' "$err" && fail "$peers: a table beside the file"
    is '.pes == 4 and .calls_not_counted == 0' "$peers, PEs"
    is "call(\"shmem_long_put\"; \"$peers\") | .count == 4000 and
        .bytes == 32000000 and .time_ns > 0 and .longest_ns < .time_ns and
        (.per_pe.count | spread(1000; 1000; 1000))" "$peers, puts"
    is 'call("shmem_long_p"; "itself") | .count == 200 and .bytes == 1600' \
        "$peers, to itself"
    is "call(\"shmem_long_g\"; \"$peers\") | .count == 80 and .bytes == 640" \
        "$peers, gets"
    is "call(\"shmem_long_put_signal\"; \"$peers\") | .count == 4 and
        .bytes == 320" "$peers, puts with a signal"
    is "call(\"shmem_int_atomic_inc\"; \"$peers\") | .count == 5600" \
        "$peers, other threads"
    is 'call("shmemx_long_put_on_stream"; "-") | .count == 120' \
        "$peers, on a stream"
    is '[.calls[].call | select(startswith("shmem") | not)] == []' \
        "$peers, names"
    is 'call("shmem_fence"; "-") | .per_pe.count | spread(0; 0; 1)' \
        "$peers, by one PE"
    is 'call("shmem_barrier_all"; "-") | .count == 4 and
        .per_pe.waiting_ns.max > 100000000 and .waiting_ns <= .time_ns and
        .per_pe.waiting_ns.min < .per_pe.waiting_ns.max' "$peers, waiting"
    is '[.calls[] | select(.call == "shmem_init" or
                           .call == "shmem_finalize")] | length == 2' "$peers, ends"
    is '[.calls[].time_ns] | . == (sort | reverse)' "$peers, order"
    is '.sites[] | select(.call == "shmem_long_put") |
        (.site | startswith("put_by_neighbours (profiled+0x")) and
        .count > 2000 and .count <= 4064' "$peers, place"
}

profiled_right node
is 'call("shmem_long_sum_reduce"; "-") | .bytes == 0' 'a reduction on a node'
profiled_right network --ppn 1
# Each of the four sends its 800 bytes once at least, but for one that may only
# receive.
is 'call("shmem_long_sum_reduce"; "-") | .bytes >= 2400 and .bytes < 50000' \
    'a reduction between nodes'

# Beside a trace.
SHMEM_TRACE=$PWD/t.json profiled_right node
has shmem_long_put '.args.bytes == 8000'

# A second start counts from zero, and has its file's place.
SHMEM_DEVICE=software SHMEM_STATS=$PWD/stats.json try 2 ./profiled 2
ended 0 'twice'
is 'call("shmem_long_put"; "node") | .count == 2000' 'twice'

# The table.
SHMEM_DEVICE=software SHMEM_STATS=1 try 3 ./profiled 1
ended 0 'table'
for line in 'calls of 3 PEs; a/b/c: least, median and most of a PE' \
    'shmem_long_put  *node  *1000  *8000000  *[0-9./]+  *[0-9./]+  *[0-9.]+' \
    'shmem_fence  *-  *0/0/1  *0  *0\.000/0\.000/0\.[0-9]*  *0  *[0-9.]+' \
    'put_by_neighbours \(profiled\+0x[0-9a-f]+\): shmem_long_put, about [0-9]+ calls, [0-9.]+ ms'
do
    grep -qxE "sluice: PE 0 \\([^ ]+\\): $line" "$err" ||
        fail "table: no line '$line': $(head -n 40 "$err")"
done
[ "$(grep -c 'calls of 3 PEs' "$err")" -eq 1 ] || fail 'table: not once'

# Alone, stripped, and by the archive there is a table, too.
cp profiled stripped
strip stripped
SHMEM_DEVICE=software SHMEM_STATS=1 try 0 ./stripped 1
ended 0 'stripped'
grep -qE 'stripped\+0x[0-9a-f]+: shmem_long_put, about' "$err" ||
    fail "stripped: $(grep about "$err")"

for option in '' '--ppn 1'; do
    # shellcheck disable=SC2086,SC2016
    try 2 $option sh -c '[ $SLUICE_JOB_PE = 0 ] && export SHMEM_STATS=1; exec ./profiled 1'
    ended 1 "one PE $option"
    grep -q 'shmem_init: not all PEs have the same SHMEM_STATS; give it to all of them \[S-E-ENV\]' "$err" ||
        fail "one PE: $(head -n 3 "$err")"
done

# Wrong values, no directory, and a heap without room for the rows.
SHMEM_STATS=maybe try 2 ./profiled 1
ended 1 'maybe'
grep -q 'SHMEM_STATS is "maybe": want 1, yes, on, true or 0, no, off, false, or the name of a file that ends in .json' "$err" ||
    fail "maybe: $(head -n 3 "$err")"
SHMEM_DEVICE=software SHMEM_STATS=/nowhere/stats.json try 2 ./profiled 1
ended 0 'no directory'
grep -qE 'SHMEM_STATS: the statistics of calls are not written: /nowhere/stats.json: No such file.*\[S-W-STATS\]' "$err" ||
    fail "no directory: $(tail -n 3 "$err")"
SHMEM_DEVICE=software SHMEM_STATS=1 SHMEM_SYMMETRIC_SIZE=8k try 2 ./profiled 1
ended 0 'no room'
grep -q 'calls of' "$err" && fail "no room: a table"
[ "$(grep -cE 'PE 0 .*SHMEM_STATS: the statistics of calls need [0-9]+ bytes of the symmetric heap .*\[S-W-STATS\]' "$err")" -eq 1 ] ||
    fail "no room: $(head -n 5 "$err")"
finish 'the calls of a program are counted'
