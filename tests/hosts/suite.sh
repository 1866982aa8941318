#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what holds between the PEs of a node holds between two and three
# hosts with two PEs each: memory, atomics, order, signals, waits, locks,
# contexts, threads, collectives, teams; and bucketsort sorts.
# T_HOSTS=all in the environment runs every program that can.
# Timeout: 600
set -u
. "$(dirname "$0")/hosts.inc"
tests=$BUILD/obj/tests
hosts up 2 || exit

# value KEY FILE: of a line of the test's opening comment.
value()
{
    sed -n "/^ \* $1: /{s/^ \* $1: *//;s/ *\*\/\$//;p;}" "$2"
}

# one PES NAME: tests/NAME.c with its own variables.
one()
{
    begin=$(now)
    # shellcheck disable=SC2046
    env $(value Env "$SRC/tests/$2.c") HOSTS_TIMEOUT=60 \
        sh "$tool" run -n "$1" "$tests/$2" >"$out" 2>&1 </dev/null
    status=$?
    echo "$2 on $1 PEs: status $status, $(($(now) - begin)) ms"
    [ $status -eq 0 ] || {
        grep -v setpgid "$out" | head -n 8 | cut -c 1-300 >&2
        fail "$2 on $1 PEs of $(hosts list | wc -l) hosts: status $status"
    }
}

# Also with neighbours on different hosts.
both()
{
    one "$@"
    export HOSTS_MPIRUN='--map-by node'
    one "$@"
    unset HOSTS_MPIRUN
}

# all: also what the others already imply?
all()
{
    [ "${T_HOSTS-}" = all ]
}

both 4 pe/static_data
one 4 pe/amo_mixed
for name in pe/rma_typed pe/order pe/lock coll/move coll/teams; do
    one 4 $name
done
if all; then
    for name in pe/rma_typed pe/amo coll/move; do
        both 4 $name
    done
    for name in pe/signal pe/wait pe/ctx pe/heap pe/static_data pe/fork \
        pe/litmus pe/threads coll/reduce coll/active_sets coll/threads; do
        one 4 $name
    done
    one 2 pe/rma_sized
    one 2 pe/outstanding
    one 4 pe/progress_while_computing
fi

# sorts PES: a file of keys, which all PEs read and write a part of, as on a
# cluster with a common file system.
sort=$BUILD/bin/bucketsort
"$sort" --generate "$dir/in" --type u64 --count 200003 --dist zipf \
    >"$out" 2>&1 || fail "keys: $(cat "$out")"
sorts()
{
    rm -f "$dir/sorted"
    hosts run -n "$1" "$sort" --input "$dir/in" --type u64 --variant all \
        -o "$dir/sorted" >"$out" 2>&1 ||
        fail "bucketsort on $1 PEs: $(head -n 5 "$out")"
    "$sort" --verify-file "$dir/sorted" --type u64 --against "$dir/in" \
        --count 200003 >"$out" 2>&1 ||
        fail "bucketsort on $1 PEs: $(head -n 5 "$out")"
    hosts run -n "$1" "$sort" --keys 400k -i 1 >"$out" 2>&1 ||
        fail "bucketsort of ISx keys on $1 PEs: $(head -n 5 "$out")"
}

sorts 4
hosts up 3 || exit
one 6 pe/amo_mixed
one 6 coll/reduce
one 3 pe/rma_typed
if all; then
    for name in pe/amo pe/signal pe/lock coll/move coll/teams; do
        one 6 $name
    done
fi
sorts 6
finish 'hosts: programs of pe and coll and bucketsort on 2 and 3 hosts'
