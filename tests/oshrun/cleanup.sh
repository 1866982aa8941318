#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: no process and no file is left, however the job ends; SIGKILL
# of oshrun, of its supervisor and of a PE included.
set -u
. "$(dirname "$0")/oshrun.inc"
compile job

mkdir "$dir/tmp"
OSHRUN_TEST_MARK="mark-$$-$(now)"

# Each PE talks PMIx, then sits there with children: one plain, one in a
# session of its own, one without a parent.
# shellcheck disable=SC2016
busy='"$dir/job" >/dev/null
    sleep 60 & setsid sleep 60 & (setsid sh -c "sleep 60 & sleep 60" &)
    echo $$ >"$dir/up.$SLUICE_JOB_PE"; wait'

begin_job()
{
    rm -f "$dir"/up.*
    env dir="$dir" TMPDIR="$dir/tmp" oshrun --pmix -n 3 sh -c "$busy" >"$out" 2>"$err" \
        </dev/null &
    job=$!
    wait_for "$dir/up.0" && wait_for "$dir/up.1" && wait_for "$dir/up.2"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        n=$(processes "$OSHRUN_TEST_MARK" | wc -l)
        [ "$n" -lt 18 ] || break
        sleep 0.1
    done
    [ "$n" -ge 18 ] || fail "$n processes: the job is smaller than it should be"
    supervisor=$(ps -o pid= --ppid $job | tr -d ' ')
}

# sluice-NAME.RANDOM are directories of our scripts, of other runs of the tests.
clean()
{
    none_left "$mine" "$1"
    find "$dir/tmp" -mindepth 1 | grep -q . &&
        fail "$1: files left: $(find "$dir/tmp" -mindepth 1)"
    for d in /tmp /dev/shm /var/tmp /run; do
        find "$d" -maxdepth 1 -newer "$dir/stamp" 2>/dev/null
    done | grep -E 'pmix|oshrun-|sluice|dstor|ompi|prte' |
        grep -v -e "^$dir" -e '/sluice-[a-z]*[.]' >"$dir/files" &&
        fail "$1: files left: $(cat "$dir/files")"
}

# Only what the PEs start carries the mark.
mine=OSHRUN_TEST_MARK=$OSHRUN_TEST_MARK
busy="export $mine; exec sh -c '$busy'"
touch "$dir/stamp"
sleep 0.02

begin_job
kill -KILL $job
wait $job 2>/dev/null
clean 'SIGKILL of oshrun'

begin_job
kill -KILL "$supervisor"
wait $job
[ $? -eq 137 ] || fail 'SIGKILL of the supervisor: status'
said 'the supervisor of the job (pid [0-9]*) was killed by signal 9'
clean 'SIGKILL of the supervisor'

# Those of $pes that still run.
still_there()
{
    for pid in $pes; do
        case $(ps -o stat= -p "$pid") in
            '' | Z*) ;;
            *) echo "$pid" ;;
        esac
    done
}
begin_job
pes=$(cat "$dir"/up.*)
[ "$(still_there | wc -l)" -eq 3 ] || fail "not 3 PEs: $pes"
kill -KILL "$supervisor" $job
wait $job 2>/dev/null
for _ in $(seq 100); do
    [ -n "$(still_there)" ] || break
    sleep 0.1
done
[ -z "$(still_there)" ] || fail 'SIGKILL of both: PEs are left'
# Nobody is left who knew what the PEs had started: this is ours to clean up.
for pid in $(processes "$mine"); do kill -KILL "$pid" 2>/dev/null; done

begin_job
kill -KILL "$(ps -o pid= --ppid "$supervisor" | head -n 1 | tr -d ' ')"
wait $job
[ $? -eq 137 ] || fail 'SIGKILL of a PE: status'
clean 'SIGKILL of a PE'

begin_job
kill -TERM $job
wait $job
clean 'SIGTERM'

# A normal end: what PEs left in the background ends too, and soon.
begin=$(now)
env dir="$dir" TMPDIR="$dir/tmp" timeout 60 oshrun -n 3 sh -c \
    "export $mine; sleep 60 & setsid sleep 60 & (setsid sleep 60 &)" </dev/null
[ $? -eq 0 ] || fail 'a normal end: status'
in_time $(($(now) - begin)) 3000 || fail 'a normal end took long'
clean 'a normal end'

# A directory for temporary files is not needed.
try --pmix -n 2 "$dir/job"
TMPDIR=/nonexistent try --pmix -n 2 env TMPDIR=/nonexistent "$dir/job" 2
expect 0 'TMPDIR=/nonexistent' && silent 'TMPDIR=/nonexistent'
finish 'nothing is left: oshrun, supervisor, PE killed, normal end'
