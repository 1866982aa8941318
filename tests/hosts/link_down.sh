#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: when a host's link goes down, or its cable is out, while PEs wait
# for those behind it in memory or put to them, the PEs end within the time of
# SHMEM_STALL and SHMEM_TIMEOUT, and a line names the other PE and its host.
# Timeout: 120
set -u
. "$(dirname "$0")/hosts.inc"
hosts up 2 || exit
SHMEM_STALL=1 SHMEM_TIMEOUT=3
export SHMEM_STALL SHMEM_TIMEOUT
compile lost
hosts run -n 2 --per-host 1 "$dir/lost" none >"$out" 2>&1 ||
    skip "two hosts: $(tail -n 1 "$out")"

hosts down

# lost WAY WORD: on hosts of its own.  PE 1 is on host b, and tells by a file
# that all is set up.  The launcher's own connection to that host is gone as
# well, so what is looked at are the PEs, on both hosts, and it is ended with
# the hosts.
lost()
(
    HOSTS_DIR=$dir/$1-$2 out=$dir/$1-$2.out ready=$dir/$1-$2.ready
    mark=$mark-$1-$2 failures=0
    trap 'hosts down' EXIT
    trap 'exit 1' HUP INT TERM
    hosts up 2 || exit 1
    hosts run -n 2 --per-host 1 -x SHMEM_STALL -x SHMEM_TIMEOUT \
        -x SLUICE_TEST_MARK="$mark" "$dir/lost" "$2" "$ready" \
        >"$out" 2>&1 &
    job=$!
    for _ in $(seq 150); do
        [ -e "$ready" ] && break
        sleep 0.1
    done
    hosts "$1" b
    begin=$(now)
    for _ in $(seq 100); do
        [ -z "$(processes "SLUICE_TEST_MARK=$mark")" ] && break
        sleep 0.2
    done
    ms=$(($(now) - begin))
    [ -z "$(processes "SLUICE_TEST_MARK=$mark")" ] ||
        fail "$1, $2: PEs after $ms ms: $(head -n 5 "$out")"
    hosts down
    wait $job
    grep -q '^went on' "$out" && fail "$1, $2: $(head -n 5 "$out")"
    grep -qE '^sluice: PE 0 \(sluice-a\): .*PE 1 .*sluice-b.*\[S-E-NET\]' \
        "$out" || fail "$1, $2: $(head -n 5 "$out")"
    echo "$1, $2: after $ms ms: $(grep 'S-E-NET' "$out")"
    exit $failures
)

# Most of it is waiting, so side by side.
jobs=
for what in 'cut barrier' 'pull wait' 'pull put'; do
    # shellcheck disable=SC2086
    lost $what &
    jobs="$jobs $!"
done
for job in $jobs; do
    wait "$job" || failures=$((failures + 1))
done
finish 'lost links'
