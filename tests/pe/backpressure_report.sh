#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a put that waits for room, which operations on a stopped PE take,
# names that PE and not the one that it goes to.
# Light: it waits for what is stopped
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"

program bad <<'C'
static char data[4096], mine[4096];
static long pid_of;

int main(void)
{
    long pid = getpid();
    int me;

    shmem_init();
    me = shmem_my_pe();
    shmem_barrier_all();
    if (me == 2)
        shmem_long_p(&pid_of, pid, 0);
    shmem_barrier_all();
    if (me == 0) {
        shmem_putmem(data, mine, sizeof mine, 1);
        shmem_quiet();
        kill((pid_t)pid_of, SIGSTOP);
        usleep(50000);
        for (int i = 0; i < 256; i++)
            shmem_putmem(data, mine, sizeof mine, 2);
        shmem_putmem(data, mine, sizeof mine, 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C

SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_STALL=1 SHMEM_TIMEOUT=2 \
    timeout -k 5 60 "$bin/oshrun" -n 3 --ppn 1 ./bad >"$out" 2>"$err"
[ $? -ne 0 ] || fail "it ended well: $(cat "$err")"
grep -q 'shmem_putmem waits for [0-9]* s for off-node PEs; silent is PE 2 ' \
    "$err" || fail "PE 2 is not named: $(cat "$err")"
grep -q 'for PE 1\|is PE 1\|from PE 1' "$err" &&
    fail "PE 1 is accused: $(cat "$err")"
finish 'who waits for room names who takes it'
