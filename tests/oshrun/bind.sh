#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs get cores of their own where enough are free, no other job of
# the user gets the same ones, and what is in the way leaves PEs unbound.
set -u
. "$(dirname "$0")/oshrun.inc"
cores=$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list |
    sort -u | wc -l)
[ "$cores" -gt 1 ] && [ "$(nproc)" -gt 1 ] || skip 'one core only'

# Cores are claimed by names of a network namespace; other jobs of this user,
# and those of other tests, are not in that of this test.
if [ "${1-}" != inside ]; then
    for how in -n -rn; do
        unshare $how true 2>/dev/null && exec unshare $how sh "$0" inside
    done
    skip 'no namespace of its own can be had'
fi

# cpus ARGS...: the processors of each PE, one PE on a line.
cpus()
{
    try "$@" sh -c 'sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status'
    expect 0 "$*" && silent "$*"
}
cpus --bind-to none -n 1
all=$(cat "$out")

# bound N WHAT: each PE of the last try has its own, unbound: all have all.
bound()
{
    [ "$(sort -u "$out" | wc -l)" -eq "$1" ] && ! grep -qx "$all" "$out" ||
        fail "$2: $(cat "$out")"
}
unbound()
{
    [ "$(sort -u "$out")" = "$all" ] || fail "$1: $(cat "$out"), not $all"
}

cpus -n 2
bound 2 'two PEs'
# Each has its share of all of them.
[ "$(sed 's/[^0-9].*//' "$out" | sort -u | wc -l)" -eq 2 ] ||
    fail "two PEs: the same first core: $(cat "$out")"
cpus -n 2 --bind-to none
unbound '--bind-to none'
cpus -n 1
unbound 'one PE'
cpus -n $((cores + 1))
unbound 'more PEs than cores'
one=$(taskset -pc $$ 2>/dev/null | sed 's/.*: //; s/[^0-9].*//')
if [ -n "$one" ]; then
    taskset -c "$one" oshrun -n 2 grep Cpus_allowed_list /proc/self/status \
        >"$out" 2>"$err"
    [ "$(sort -u "$out" | sed 's/.*:.//')" = "$one" ] ||
        fail "two PEs on core $one: $(cat "$out" "$err")"
fi

# A job beside this one, and one after it.
oshrun -n 2 sh -c ': >"$1/up.$SLUICE_JOB_PE"
    until [ -e "$1/go" ]; do sleep 0.05; done' sh "$dir" </dev/null &
job=$!
wait_for "$dir/up.0" && wait_for "$dir/up.1"
cpus -n 2
unbound 'a job beside one that has all cores'
cpus -n 2 --bind-to core
bound 2 '--bind-to core beside a job'
: >"$dir/go"
wait $job
cpus -n 2
bound 2 'after the job beside it'
# Nor does one that was killed keep them.
rm -f "$dir"/up.*
oshrun -n 2 sh -c ': >"$1/up.$SLUICE_JOB_PE"; exec sleep 60' sh "$dir" \
    </dev/null 2>/dev/null &
job=$!
wait_for "$dir/up.0" && wait_for "$dir/up.1"
kill -KILL $job
wait $job 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    cpus -n 2
    [ "$(sort -u "$out" | wc -l)" -eq 2 ] && break
    sleep 0.2
done
bound 2 'after a job that was killed'

# Names that another user has taken: unbound, and nothing else.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
    command -v perl >/dev/null &&
    setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null
then
    mkfifo "$dir/hold"
    # shellcheck disable=SC2016
    setpriv --reuid=65534 --regid=65534 --clear-groups perl -e '
        use Socket; my @held;
        for my $cpu (0 .. 1023) {
            socket(my $s, AF_UNIX, SOCK_STREAM, 0) or last;
            bind($s, pack("S a*", AF_UNIX, "\0sluice-core-0-$cpu")) or die;
            push @held, $s;
        }
        $| = 1; print "held\n"; <STDIN>' <"$dir/hold" >"$dir/held" 2>&1 &
    exec 7>"$dir/hold"
    until [ -s "$dir/held" ]; do sleep 0.05; done
    [ "$(cat "$dir/held")" = held ] || fail "squatting: $(cat "$dir/held")"
    cpus -n 2
    unbound 'names that another user holds'
    exec 7>&-
    wait
fi

# The share of the processors that nice(1) gives a job: that of its session.
if [ -w /proc/self/autogroup ] && [ "$(id -u)" -eq 0 ]; then
    level=$(nice)
    nice -n 3 "$BUILD/bin/oshrun" -n 2 cat /proc/self/autogroup >"$out" 2>"$err"
    [ "$(grep -c "nice $((level < 17 ? level + 3 : 19))\$" "$out")" -eq 2 ] ||
        fail "nice -n 3 of $level: $(cat "$out" "$err")"
fi
finish "cores of their own: $cores cores"
