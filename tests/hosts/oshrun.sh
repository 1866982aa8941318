#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: oshrun hands a job on other hosts over to mpirun: hosts get the
# PEs that -n, -H, --hostfile and --ppn give them, variables and statuses pass,
# and what cannot be is one line.
# Timeout: 60
set -u
. "$(dirname "$0")/hosts.inc"
hosts up 3 || exit
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun takes a path apart at its spaces.
OMPI_MCA_plm_rsh_agent=$dir/agent
printf '#!/bin/sh\nexec sh "%s" "$@"\n' "$tool" >"$dir/agent" &&
    chmod +x "$dir/agent" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
    OMPI_MCA_plm_rsh_agent

# try WORD...: oshrun on the login node; leaves $out, $err, $status.
try()
{
    rm -f "$out" "$err"             # what a daemon still says is not for us
    HOSTS_TIMEOUT=20 hosts exec head oshrun "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# placed LIST WORD...: try them with a program that says its host; the PEs are
# so many on each: "2 sluice-a 1 sluice-b".
placed()
{
    want=$1
    shift
    try "$@" hostname
    [ $status -eq 0 ] && [ "$(sort "$out" | uniq -c | xargs)" = "$want" ] ||
        fail "$*: status $status: $(cat "$out" "$err" | head -n 6)"
    grep -q '^oshrun: host [^ ]* is not this one: handing over to .*/mpirun$' \
        "$err" || fail "$*: $(head -n 3 "$err")"
}

# refused TEXT WORD...: one line, status 2.
refused()
{
    want=$1
    shift
    try "$@" hostname
    [ $status -eq 2 ] && [ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ] &&
        grep -q "^oshrun: $want .*\[S-E-HOSTS\]\$" "$err" ||
        fail "$*: status $status: $(cat "$out" "$err" | head -n 6)"
}

placed '1 sluice-a 1 sluice-b' -H sluice-a,sluice-b
placed '2 sluice-a 2 sluice-b' -H sluice-a,sluice-b -n 4
placed '2 sluice-a 1 sluice-b' -H sluice-a,sluice-b -n 3
placed '1 sluice-a 2 sluice-c' -H sluice-a:1,sluice-c -n 3
placed '3 sluice-b 1 sluice-c' -H sluice-b:3,sluice-c
placed '2 sluice-a 2 sluice-b' -H sluice-a,sluice-b --ppn 2
placed '2 sluice-a 2 sluice-b 2 sluice-c' -H sluice-a:4,sluice-b,sluice-c --ppn 2
placed '4 sluice-a' -H sluice-a,sluice-b --ppn 4 -n 4
placed '1 sluice-a 1 sluice-b' -H 10.77.0.1,10.77.0.2
placed '1 sluice-a 1 sluice-head' -H sluice-a,localhost
placed '2 sluice-a 1 sluice-b' -H sluice-a:1,sluice-b:1 -n 3 --oversubscribe
printf '# two hosts\nsluice-a slots=2\nsluice-b:1 # one\n' >"$dir/hostfile"
placed '2 sluice-a 1 sluice-b' --hostfile "$dir/hostfile"
placed '1 sluice-a' --hostfile "$dir/hostfile" -n 1
refused '-n 3: the hosts given have room for 2 PEs;' -H sluice-a:1,sluice-b:1 -n 3
refused '-n 5: the hosts given have room for 4 PEs;' \
    -H sluice-a:4,sluice-b:4 --ppn 2 -n 5

# The agent is like ssh: it passes no variables, so oshrun names them.
show='echo "$A,$B,${C-none},$SHMEM_DEBUG,$SMA_X,${SHMEM_PPN-none}"'
A=1 C=3 SHMEM_DEBUG=0 SMA_X=7 try -H sluice-a,sluice-b --ppn 1 -x A \
    -x 'B=two words' -x SHMEM_DEBUG=5 sh -c "$show"
[ "$(sort -u "$out")" = '1,two words,none,5,7,none' ] ||
    fail "variables: $(cat "$out" "$err")"

# Its arguments reach the program as they are.
try -H sluice-a,sluice-b printf '<%s>\n' 'a b' '' "it's" '$HOME;*'
[ "$(sort "$out" | uniq -c | awk '{ print $1 }' | xargs)" = '2 2 2 2' ] &&
    grep -qxF "<it's>" "$out" && grep -qxF '<$HOME;*>' "$out" ||
    fail "arguments: $(cat "$out" "$err")"
printf '#!/bin/sh\nexit 6\n' >"$dir/six"
chmod +x "$dir/six"
try -H sluice-a,sluice-b "$dir/six"
[ $status -eq 6 ] || fail "a status of 6: $status: $(cat "$err")"
try -H sluice-a,sluice-b --timeout 1 sleep 30
[ $status -ne 0 ] && grep -q 'Timeout: 1 sec' "$err" ||
    fail "--timeout 1: status $status: $(cat "$err")"
try -H sluice-a,sluice-b --tag-output hostname
[ "$(cut -d: -f2 "$out" | sort | xargs)" = 'sluice-a sluice-b' ] &&
    [ "$(grep -c '^\[.*[01]\]' "$out")" -eq 2 ] || fail "tags: $(cat "$out")"
try -H sluice-a,nowhere hostname
[ $status -ne 0 ] || fail "a host that is none: $(cat "$out" "$err")"

# On this host alone oshrun stays what it is.
try -H sluice-head,localhost -n 3 hostname
[ "$(xargs <"$out")" = 'sluice-head sluice-head sluice-head' ] &&
    [ ! -s "$err" ] || fail "on this host: $(cat "$out" "$err")"
finish 'oshrun: hosts, places, variables, arguments, statuses, refusals'
