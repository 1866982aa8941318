#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the host's wait for a stream whose kernel does not end is told
# of, in shmemx_stream_sync and in shmem_finalize, and SIGUSR2 names the call;
# past SHMEM_TIMEOUT shmem_finalize ends the job.
# Light: it waits for what SHMEM_STALL says
# Timeout: 40
set -u
. "$(dirname "$0")/device.inc"
: >failed
cat >endless.c <<'END'
#include <shmem.h>
#include <shmemx_st.h>
#include <signal.h>
#include <unistd.h>

static int end, began;

static void on_alarm(int sig)
{
    (void)sig;
    kill(getpid(), SIGUSR2);
    __atomic_store_n(&end, 1, __ATOMIC_RELEASE);
}

static void body(const shmemx_item_t *item, void *arg)
{
    (void)item, (void)arg;
    __atomic_store_n(&began, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&end, __ATOMIC_ACQUIRE))
        usleep(10000);
}

/* What finalize finds before it has begun is dropped. */
static void finalize(void)
{
    while (!__atomic_load_n(&began, __ATOMIC_ACQUIRE))
        usleep(1000);
    shmem_finalize();
}

int main(int argc, char **argv)
{
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t s;
    int rc;

    (void)argv;
    shmem_init();
    signal(SIGALRM, on_alarm);
    rc = shmemx_stream_create(&s) || shmemx_stream_launch(s, &grid, body, NULL);
    if (argc > 1)
        finalize();             /* does not come back */
    alarm(3);
    rc |= shmemx_stream_sync(s);
    __atomic_store_n(&end, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&began, 0, __ATOMIC_RELEASE);
    rc |= shmemx_stream_launch(s, &grid, body, NULL);
    signal(SIGUSR2, SIG_IGN);
    alarm(3);
    finalize();
    return rc;
}
END
"$BUILD/bin/oshcc" -std=gnu11 -o endless endless.c || exit 1
SHMEM_STALL=1
export SHMEM_STALL
sync='shmemx_stream_sync waits for [12] s for stream 0x[0-9a-f]+, on which a kernel, copy or wait has not ended \[S-W-STALL\]'
report='in shmemx_stream_sync for [0-9]+ s, waiting for stream 0x[0-9a-f]+, on which a kernel, copy or wait has not ended; heap: .*; device heap: 0 bytes of 16 MiB in use'
finalize='shmem_finalize waits for 1 s for a stream,? .*\[S-W-STALL\]'

endless()
{
    on software "$BUILD/bin/oshrun" -n 1 ./endless >said 2>&1 ||
        echo "exit status $?" >>failed
    cat said
}

# A machine that stands still at the wrong moment makes the first line a later
# one, and gets a second try; a line that is missing gets none.
endless
grep -qE "$finalize" said || ! grep -qE 'shmem_finalize waits for [2-9] s' said || endless
for line in "$sync" "$report" "$finalize"; do
    check grep -qE "$line" said
done
on software env SHMEM_TIMEOUT=2 "$BUILD/bin/oshrun" -n 1 ./endless never >said 2>&1 &&
    echo "exit status 0" >>failed
cat said
check grep -qE 'shmem_finalize: a kernel, .* not ended for 2 s .*\[S-E-STALL\]' said
finish
