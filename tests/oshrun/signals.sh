#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: signals to oshrun reach the PEs, a second one of a kind ends
# them, and stopping and continuing work.
set -u
. "$(dirname "$0")/oshrun.inc"

# begin_job SCRIPT: two PEs in the background, both started.
begin_job()
{
    rm -f "$dir"/up.* "$dir"/got.*
    # A shell ignores SIGINT for background jobs, and oshrun honours that.
    (trap - INT QUIT 2>/dev/null
     exec env dir="$dir" perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec @ARGV' \
         oshrun -n 2 sh -c "$1" >"$out" 2>"$err" </dev/null) &
    job=$!
    wait_for "$dir/up.0" && wait_for "$dir/up.1"
}

# stops PID WHO: within 0.8 s.
stops()
{
    n=0
    until case $(sed 's/.*) //' "/proc/$1/stat") in T*) true ;; *) false ;; esac; do
        n=$((n + 1))
        [ $n -lt 16 ] || { fail "SIGTSTP did not stop $2"; return; }
        sleep 0.05
    done
}

end_job()
{
    wait $job
    status=$?
}

command -v perl >/dev/null || skip 'perl is needed to undo an ignored SIGINT'

for sig in INT TERM HUP; do
    # shellcheck disable=SC2016
    begin_job 'trap "echo x >$dir/got.$SLUICE_JOB_PE; exit 0" '$sig'
        echo x >"$dir/up.$SLUICE_JOB_PE"; while :; do sleep 0.05; done'
    kill -$sig $job
    end_job
    [ -e "$dir/got.0" ] && [ -e "$dir/got.1" ] || fail "SIG$sig got lost"
    [ $status -eq 0 ] || fail "SIG$sig handled by the PEs: status $status"
done

# shellcheck disable=SC2016
idle='echo x >"$dir/up.$SLUICE_JOB_PE"; exec sleep 30'
for sig in INT:130 TERM:143 QUIT:131; do
    begin_job "$idle"
    begin=$(now)
    kill -"${sig%:*}" $job
    end_job
    [ $status -eq "${sig#*:}" ] || fail "SIG$sig: status $status"
    silent "SIG$sig"
    [ $(($(now) - begin)) -lt 2500 ] || fail "SIG$sig: slow end"
done

# shellcheck disable=SC2016
begin_job 'trap "" INT TERM
    [ "$SLUICE_JOB_PE" != 0 ] || trap ": >$dir/got.0" INT   # it has come
    echo x >"$dir/up.$SLUICE_JOB_PE"; while :; do sleep 0.1; done'
kill -INT $job
wait_for "$dir/got.0"
sleep 0.5
kill -0 $job 2>/dev/null || fail 'one SIGINT ended PEs that ignore it'
begin=$(now)
kill -INT $job
end_job
[ $status -eq 130 ] || fail "second SIGINT: status $status"
[ $(($(now) - begin)) -lt 1500 ] || fail 'second SIGINT: slow end'

# shellcheck disable=SC2016
begin_job 'trap "echo 1 >>$dir/got.$SLUICE_JOB_PE" USR1
    trap "echo 2 >>$dir/got.$SLUICE_JOB_PE" USR2
    echo x >"$dir/up.$SLUICE_JOB_PE"
    until [ "$(cat "$dir/got.$SLUICE_JOB_PE" 2>/dev/null | wc -l)" -ge 2 ]; do
        sleep 0.05 & wait; done; exit 0'
kill -USR1 $job
sleep 0.2
kill -USR2 $job
end_job
[ $status -eq 0 ] || fail "SIGUSR1, SIGUSR2: status $status: $(cat "$err")"

# Stopped: no PE counts on; continued: they do.
# shellcheck disable=SC2016
begin_job 'i=0
    echo $$ >"$dir/up.new.$SLUICE_JOB_PE"
    mv "$dir/up.new.$SLUICE_JOB_PE" "$dir/up.$SLUICE_JOB_PE"
    while [ $i -lt 30 ]; do
        i=$((i + 1)); echo $i; echo $i >>"$dir/got.$SLUICE_JOB_PE"; sleep 0.05
        [ $i != 29 ] || until [ -e "$dir/up.on" ]; do sleep 0.05; done
    done'
wait_for "$dir/got.0" && wait_for "$dir/got.1"
kill -TSTP $job
stops "$job" oshrun
for pe in 0 1; do
    stops "$(cat "$dir/up.$pe")" "PE $pe"
done
lines=$(cat "$dir"/got.* | wc -l)
sleep 0.5
[ "$(cat "$dir"/got.* | wc -l)" -eq "$lines" ] || fail 'SIGTSTP did not stop the PEs'
: >"$dir/up.on"
kill -CONT $job
end_job
[ $status -eq 0 ] || fail "SIGCONT: status $status"
[ "$(wc -l <"$out")" -eq 60 ] || fail "SIGCONT: $(wc -l <"$out") lines"

# What was ignored when oshrun started stays so.
rm -f "$dir"/up.*
dir=$dir nohup oshrun -n 1 sh -c 'echo x >"$dir/up.0"; sleep 1' \
    >"$out" 2>"$err" </dev/null &
job=$!
wait_for "$dir/up.0"
kill -HUP $job
end_job
[ $status -eq 0 ] || fail "SIGHUP under nohup: status $status"
finish 'signals: forwarded, twice, stop and continue, ignored'
