#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: relative names of files are those of the directory of the first
# shmem_init, whatever the program's directory is later; each start of the
# library has a trace and statistics of its own.
# Light: short jobs
. "$(dirname "$0")/trace.inc"

program moves <<'C'
#include <signal.h>
int main(void)
{
    static long word;

    for (int i = 0; i < 2; i++) {
        shmem_init();
        shmem_long_p(&word, 1, 0);
        if (i)
            (void)shmem_long_g(&word, 0);
        if (chdir("below"))
            return 3;
        raise(SIGUSR2);
        shmem_finalize();
        if (chdir("deeper"))
            return 4;
    }
    return 0;
}
C
mkdir -p below/deeper/below/deeper

# files WHAT: all that the run has left, at the top alone.
files()
{
    how=$1
    [ -z "$(find below -type f)" ] || fail "$how: in below: $(find below -type f)"
    holds "$how" 'any($e[]; .name == "shmem_long_p")'
    grep -q '"name":"shmem_long_g"' t.json-2 || fail "$how: t.json-2"
    jq -e 'all(.calls[]; .call != "shmem_long_g")' s.json >/dev/null &&
        jq -e 'any(.calls[]; .call == "shmem_long_g")' s.json-2 >/dev/null ||
        fail "$how: s.json: $(cat s.json), s.json-2: $(cat s.json-2)"
    [ "$(grep -c '"kind":"state"' states)" -eq 2 ] || fail "$how: states: $(cat states)"
    rm -f t.json* s.json* states
}

export SHMEM_TRACE=t.json SHMEM_STATS=s.json SHMEM_STALL_FILE=states
timeout 30 ./moves >"$out" 2>"$err" || fail "alone: status $?: $(cat "$err")"
files alone
try 1 ./moves
[ $status -eq 0 ] || fail "oshrun: status $status: $(cat "$err")"
files oshrun
finish 'relative names are those of the first start'
