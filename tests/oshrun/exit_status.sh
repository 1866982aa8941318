#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the exit status is that of the first PE that failed, or says
# why no PE was started.
set -u
. "$(dirname "$0")/oshrun.inc"

try -n 4 true
expect 0 'all succeed' && silent 'all succeed'
try -n 4 sh -c '[ "$SLUICE_JOB_PE" != 2 ] || exit 3; sleep 20'
expect 3 'PE 2 exits with 3'
said '^oshrun: PE 2 (.*, pid [0-9]*) exited with status 3; ending the other 3 PEs \[S-E-PEEXIT\]$'
[ $ms -lt 2500 ] || fail "the others ended after $ms ms"
# Together, else oshrun ends those that come late.
try -n 3 sh -c ': >at.$SLUICE_JOB_PE
    while [ ! -e at.0 ] || [ ! -e at.1 ] || [ ! -e at.2 ]; do sleep 0.01; done
    exit 5'
expect 5 'all exit with 5'
said 'exited with status 5, like 2 other PEs: .* \[S-E-PEEXIT\]$'
try -n 3 sh -c '[ "$SLUICE_JOB_PE" != 0 ] || { echo no such option >&2; : >word; }
    while [ ! -e word ]; do sleep 0.01; done
    exit 5'
expect 5 'all exit with 5, one says why'
[ "$(cat "$err")" = 'no such option' ] || fail "all said it: $(cat "$err")"
try -n 3 sh -c '[ "$SLUICE_JOB_PE" != 0 ] || echo a word >&2; exit $((5 + SLUICE_JOB_PE % 2))'
grep -q 'exited with status [56].*PEEXIT' "$err" || fail "5 and 6: $(cat "$err")"
try -n 2 sh -c '[ "$SLUICE_JOB_PE" = 0 ] || kill -SEGV $$; sleep 20'
expect 139 'PE 1 crashes'
said '^oshrun: PE 1 (.*, pid [0-9]*) was killed by signal 11 (Segmentation fault.*); ending the other PE \[S-E-PEDIED\]$'

try "$dir/nothing"
expect 127 'no such file' && said "nothing: No such file or directory"
try no-such-program-anywhere
expect 127 'not in PATH' && said 'no-such-program-anywhere: No such file or directory in PATH \[S-E-PROG\]$'
mkdir -m 0 "$dir/closed"
PATH=$dir/closed:$PATH try no-such-program-anywhere
expect 127 'behind a closed directory' && said 'No such file or directory in PATH'
printf '#!/bin/sh\n' >"$dir/only-here"
chmod 755 "$dir/only-here"
(
    cd "$dir" || exit 1
    try only-here
    expect 127 'not in PATH but here'
    said 'only-here: No such file or directory in PATH; is \./only-here meant, which exists? \[S-E-PROG\]$'
    exit $failures
) || failures=$((failures + 1))
try /
expect 126 'a directory' && said 'directory'
echo true >"$dir/script"
chmod 755 "$dir/script"
try "$dir/script"
expect 126 'neither program nor script' && said 'Exec format error'
printf '#!/nowhere/sh\n' >"$dir/script"
try "$dir/script"
expect 127 'no interpreter' && said 'interpreter'
if [ "$(id -u)" -ne 0 ]; then
    chmod 644 "$dir/script"
    try "$dir/script"
    expect 126 'not executable' && said 'Permission denied'
fi

try -n 3 --timeout 0.4 sleep 20
expect 124 'timeout'
said 'the job has run for 0.4 s, the --timeout; ending its 3 PEs \[S-E-TIMEOUT\]'
in_time $ms 2000 || fail "--timeout 0.4 took $ms ms"
finish 'exit status: program, signal, 124, 126, 127'
