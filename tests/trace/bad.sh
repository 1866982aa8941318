#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what stands in the way of a trace is said in a line, and the job
# runs: no directory, PEs that are not alike, a small ring, a second start, a
# child, parts of another job, damaged parts.
# Light: short jobs
# Timeout: 120
. "$(dirname "$0")/trace.inc"

program traced <<'C'
int main(int argc, char **argv)
{
    static long word;
    int runs = !strcmp(argv[1], "twice") ? 2 : 1;
    int puts = !strcmp(argv[1], "many") ? 1000 : 1;

    (void)argc;
    for (int i = 0; i < runs; i++) {
        shmem_init();
        for (int k = 0; k < puts; k++)
            shmem_long_p(&word, k, (shmem_my_pe() + 1) % shmem_n_pes());
        if (!strcmp(argv[1], "forks") && fork() == 0)
            _exit(0);
        shmem_barrier_all();
        shmem_finalize();
    }
    return 0;
}
C

SHMEM_TRACE=/no/such/directory/t.json try 2 ./traced once
[ $status -eq 0 ] || fail "no directory: status $status"
for pe in 0 1; do
    grep -qE "^sluice: PE $pe \([^ ]+\): SHMEM_TRACE: this PE is not traced: /no/such/directory/t.json.$pe: No such file or directory \[S-W-TRACE\]$" "$err" ||
        fail "no directory: $(head -n 3 "$err")"
done

# Some PEs alone: all must agree.
cat >some.sh <<'E'
[ "$PMIX_RANK" = 0 ] || unset SHMEM_TRACE
exec ./traced once
E
for ppn in 2 1; do
    try 2 --ppn $ppn --pmix sh some.sh
    [ $status -ne 0 ] && grep -q 'shmem_init: not all PEs have the same SHMEM_TRACE; give it to all of them \[S-E-ENV\]' "$err" ||
        fail "some PEs, --ppn $ppn: status $status: $(head -n 3 "$err")"
done

SHMEM_TRACE_EVENTS=64
export SHMEM_TRACE_EVENTS
run_traced 2 many
well_formed
holds 'the last events' '[$e[] | select(.pid == 0 and .name == "shmem_long_p")]
    | length > 40 and length <= 64'
holds 'lost events' '.otherData["lost events"] > 1800'
grep -q 'older ones did not fit SHMEM_TRACE_EVENTS' "$err" ||
    fail "no line about lost events: $(head -n 3 "$err")"
unset SHMEM_TRACE_EVENTS

rm -f t.json*
try 2 ./traced twice
[ $status -eq 0 ] && [ "$(echo t.json*)" = 't.json t.json-2' ] ||
    fail "twice: $(echo t.json*): $(head -n 3 "$err")"
jq -e '[.traceEvents[] | select(.name == "shmem_long_p")] | length == 2' \
    t.json-2 >/dev/null || fail 'twice: the second trace'

run_traced 2 forks
well_formed
run_traced 1 once
well_formed

# What is there under the names of its parts is replaced, and nothing else.
for pe in 0 1 2 20261130; do
    echo old >t.json.$pe
done
try 2 ./traced once
[ $status -eq 0 ] && [ "$(echo t.json*)" = 't.json t.json.2 t.json.20261130' ] ||
    fail "files of others: $(echo t.json*): $(head -n 3 "$err")"

# shmem_info --trace: nothing, damaged, some lacking, all.
info()
{
    "$bin/shmem_info" --trace "$1" >"$out" 2>"$err" </dev/null
    status=$?
}
info none.json
[ $status -eq 1 ] && grep -q 'shmem_info: none.json: there is no none.json.0' "$err" ||
    fail "no parts: $status: $(cat "$err")"
head -c 300000 /dev/urandom >x.json.0
info x.json
[ $status -eq 1 ] || fail "a damaged part: $status: $(cat "$err")"

program waits <<'C'
int main(void)
{
    static long word;

    shmem_init();
    shmem_long_p(&word, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        raise(SIGKILL);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 2);
    return 0;
}
C
# oshrun does not know of the variable, as other launchers do not.
unset SHMEM_TRACE
cat >own.sh <<E
export SHMEM_TRACE=$PWD/t.json
exec ./waits
E
rm -f t.json*
try 3 sh own.sh
[ "$(echo t.json*)" = 't.json.0 t.json.1 t.json.2' ] ||
    fail "parts: $(echo t.json*)"
mkdir aside
mv t.json.1 aside
info t.json
[ $status -eq 1 ] && grep -q 'the traces of 1 of 3 PEs are not here, that of PE 1 first' "$err" ||
    fail "a lacking part: $status: $(cat "$err")"
well_formed
mv aside/t.json.1 .
truncate -s 200000 t.json.2
info t.json
[ $status -eq 0 ] && [ "$(echo t.json*)" = t.json ] ||
    fail "all parts: $status: $(cat "$err")"
well_formed
has shmem_long_p '.pid == 1'

# Parts of a larger job that died are not those of the next one, also where some
# lack.
rm -f t.json*
try 6 sh own.sh
rm t.json.3
SHMEM_TRACE=$PWD/t.json
export SHMEM_TRACE
try 2 ./traced once
[ $status -eq 0 ] && [ "$(echo t.json*)" = t.json ] ||
    fail "old parts: $(echo t.json*): $(head -n 3 "$err")"
finish 'traces that are in some trouble'
