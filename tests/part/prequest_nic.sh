#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SHMEMX_PREQUEST_TRIGGER is given where the NIC has a counter for each
# transport partition, and refused with a line where it has one for some of them;
# the request works on with SHMEMX_PREQUEST_AUTO.
# Light: three short jobs
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
need_checks
unset SHMEM_TRIGGER_DEPTH FAKE_CXI_SOFT FAKE_CXI_DEPTH FAKE_CXI_ERRORS_COUNT
export FI_PROVIDER_PATH="$BUILD/obj/tests/fake/cxi" SHMEM_OFI_PROVIDER=cxi
export SHMEM_DEVICE=software SHMEM_TRIGGER=nic SHMEM_STATS=1

program bad <<'C'
#include <stdint.h>
#include <shmemx_part.h>
static long a[64], b[64];
static shmemx_prequest_t ready;

static void kernel(const shmemx_item_t *it, void *arg)
{
    (void)arg;
    shmemx_dev_pready(&ready, (int)it->item);
}

/* Status 0 is right with the NIC's mode, 1 without it. */
int main(int argc, char **argv)
{
    const int n = atoi(argv[1]);
    const shmemx_grid_t grid = { .groups = 1, .items = (uint32_t)n, .phases = 1 };
    const shmemx_prequest_config_t nic = { .mode = SHMEMX_PREQUEST_TRIGGER };
    shmemx_stream_t s;
    shmemx_req_t r;
    int me, rc = 0;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    for (int i = 0; i < n; i++)
        a[i] = i + 1;
    if (me == 0 ? shmemx_psend_init(a, n, sizeof *a, 1, 5, &r)
                : shmemx_precv_init(b, n, sizeof *b, 0, 5, &r))
        return 3;
    if (shmemx_match(r))
        return 4;
    if (me == 0) {
        rc = shmemx_prequest_create(r, &nic, SHMEMX_PREQUEST_MODE, &ready);
        if (rc && (rc != -ENOTSUP || shmemx_prequest_create(r, NULL, 0, &ready)))
            return 5;
        rc = rc != 0;
    }
    for (int round = 0; round < 3; round++) {
        if (shmemx_req_start(r))
            return 6;
        if (me == 0 && (shmemx_stream_create(&s) ||
                        shmemx_stream_launch(s, &grid, kernel, NULL) ||
                        shmemx_stream_sync(s) || shmemx_stream_destroy(s)))
            return 7;
        if (shmemx_req_wait(r))
            return 8;
        for (int i = 0; me == 1 && i < n; i++)
            if (b[i] != i + 1 + round)
                return 9;
        shmem_barrier_all();
        for (int i = 0; i < n; i++)
            a[i]++;
    }
    shmem_finalize();
    return rc;
}
C

# refused N [VARIABLE]: of N partitions.
refused()
{
    try 2 --ppn 1 env ${2-} ./bad "$1"
    ended 1 "$*"
    grep -qE 'PE 0 \([^ ]+\): shmemx_prequest_create: the send to PE 1, tag 5: the NIC does not do all of its operations \(SHMEM_TRIGGER; each transport partition needs a counter\) \[S-W-STREAM\]' \
        "$err" || fail "$*: $(cat "$err")"
}

try 2 --ppn 1 ./bad 32
ended 0 'a counter each'
grep -qE 'PE 0 .*triggers: 0 operations by threads, 96 by the NIC' "$err" ||
    fail "a counter each: $(cat "$err")"
refused 33                      # of a PE's 32 counters for them
refused 32 FAKE_CXI_CNTRS=60
finish 'prequests of the NIC'
