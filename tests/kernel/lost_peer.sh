#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a kernel that waits for a PE that has stopped or was killed ends
# with its job; lines say what it waits for, and which PE is to raise it; so
# does shmem_finalize of a kernel that waits for ever.
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
export SHMEM_DEVICE=software SHMEM_STALL=1 SHMEM_TIMEOUT=3

program bad <<'C'
#include <shmemx_dev.h>
#include <shmemx_st.h>
static long word, data[4096];
static const char *how;
static int me, n, has_begun;

static void kernel(const shmemx_item_t *it, void *arg)
{
    const shmemx_dev_t *d = arg;

    (void)it;
    __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
    if (!strcmp(how, "wait"))
        shmemx_dev_long_wait_until(d, &word, SHMEM_CMP_EQ, 1);
    if (!strcmp(how, "any"))
        shmemx_dev_long_wait_until_any(d, &word, 1, NULL, SHMEM_CMP_EQ, 1);
    if (!strcmp(how, "barrier"))
        shmemx_dev_barrier_all(d);
    while (!strcmp(how, "put")) {
        shmemx_dev_long_put(d, data, data, 4096, n - 1);
        shmemx_dev_quiet(d);
    }
}

int main(int argc, char **argv)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t s;
    shmemx_dev_t d;

    (void)argc;
    how = argv[1];
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    if (shmemx_stream_create(&s) ||
        shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &d))
        return 3;
    shmem_barrier_all();
    if (me == n - 1 && strcmp(argv[2], "finalize")) {
        usleep(100000);
        begins();
        raise(strcmp(argv[2], "kill") ? SIGSTOP : SIGKILL);
    }
    if (me != n - 1) {
        if (shmemx_stream_launch(s, &grid, kernel, &d))
            return 3;
        while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
            usleep(1000);
    }
    if (strcmp(argv[2], "finalize"))
        shmemx_stream_sync(s);
    shmem_finalize();
    return 0;
}
C

killed()
{
    try 2 --ppn "$2" ./bad "$1" kill
    ended 137 "$1, killed"
    soon "$1, killed"
}

# stopped HOW REGEX: the other node's PE stops.
stopped()
{
    try 2 --ppn 1 ./bad "$1" stop
    ended 1 "$1, stopped"
    grep -qE "sluice: PE 0 \\([^ ]+\\): $2.* \\[S-W-STALL\\]" "$err" ||
        fail "$1, stopped: no line '$2': $(head -n 5 "$err")"
    grep -qE 'PE 0 \([^ ]+\): no answer from PE 1 .*\(SHMEM_TIMEOUT\).*\[S-E-NET\]' \
        "$err" || fail "$1, stopped: $(tail -n 3 "$err")"
}

finalizes()
{
    try 2 --ppn "$1" ./bad wait finalize
    ended 1 'finalize'
    grep -qE 'shmemx_dev_wait_until waits for [12] s for 0 to be == 1 at static data' \
        "$err" || fail "finalize: no wait: $(head -n 3 "$err")"
    grep -q 'shmem_finalize: a kernel, copy or call on a stream has not ended for 3 s (SHMEM_TIMEOUT) \[S-E-STALL\]' \
        "$err" || fail "finalize: $(tail -n 3 "$err")"
}

for how in wait any barrier put; do
    beside killed $how 1
    beside killed $how 2
done
together
value='shmemx_dev_wait_until waits for [0-9]+ s for'
beside stopped wait "$value 0 to be == 1 at static data"
beside stopped any "$value 1 value \\(0\\) to be == 1 at static data"
together                        # few at a time: one that is starved takes longer
beside stopped barrier 'shmemx_dev_sync waits for [0-9]+ s for 0 to be >= 1 at heap.*, which PE 1 raises'
beside stopped put 'requests of kernels wait for [0-9]+ s: 1 are under way; the first is shmemx_dev_put for PE 1'
together
beside finalizes 1
beside finalizes 2
together
finish 'no kernel waits for ever'
