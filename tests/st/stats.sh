#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what is armed for other nodes is counted, and who did it.
# Timeout: 60
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH SHMEM_STATS

# both REGEX: so both PEs said.
both()
{
    [ "$(echo "$said" | grep -c "$1")" -eq 2 ] ||
        echo "FAIL: not '$1' of both: $said" >>failed
}

# lines VARIABLE...: what the PEs say
lines()
{
    on software env SHMEM_OFI_PROVIDER=sockets "$@" "$BUILD/bin/oshrun" -n 2 \
        --ppn 1 "$at/st/stats" 2>&1 | grep 'streams: '
}

# Ten puts and a quiet, three and the quiet of a start.
said=$(lines SHMEM_STATS=1 SHMEM_TRIGGER=soft)
both 'streams: 0 operations by the device, 15 posted, 15 triggered, 15 completed, 0 by the NIC, 0 declined, 0 failed; 1 start, 2 waits; at most 11 posted in a ring, 2 rings, 0 entries of the NIC$'

said=$(lines SHMEM_STATS=1 SHMEM_TRIGGER=nic)
both ' 0 posted, .* 13 by the NIC, 0 declined, .* [1-9][0-9]* entries of the NIC$'

said=$(lines SHMEM_STATS=1 SHMEM_TRIGGER=nic SHMEM_TRIGGER_DEPTH=5)
both ' [1-9][0-9]* declined, .* [1-5] entries of the NIC$'

# Counters for one trigger, on a NIC for each PE: the queue's operations are the
# progress thread's.  Where failures count, signals need none of their own.
for counters in 0:20 1:5; do
    # shellcheck disable=SC2016  # each PE expands it
    said=$(on software env SHMEM_STATS=1 SHMEM_OFI_PROVIDER=cxi \
        FAKE_CXI_ERRORS_COUNT="${counters%:*}" FAKE_CXI_NICS=2 \
        FAKE_CXI_CNTRS="${counters#*:}" FI_PROVIDER_PATH="$at/fake/cxi" \
        "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        sh -c 'SHMEM_OFI_DOMAIN=cxi$SLUICE_JOB_PE exec "$0"' "$at/st/stats" 2>&1 |
        grep 'streams: ')
    both ' 4 posted, .* 10 by the NIC, 3 declined, '
done

# messages VARIABLE...: how they went
messages()
{
    on software env SHMEM_STATS=1 "$@" "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$at/st/stats_protocols" 2>&1 | grep 'messages: '
}

said=$(messages SHMEM_OFI_PROVIDER=sockets)
both ' 20 sent, 5 ready, 4 eager, 0 by peer copy, 0 triggered, 3 by rendezvous, 2 one-shot, 6 of '
said=$(messages SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH="$at/fake/cxi")
both ' 20 sent, 5 ready, 4 eager, 0 by peer copy, 3 triggered, 0 by rendezvous, 2 one-shot, 6 of '

# A region that counts twice what comes there lets nothing go at the right time.
said=$(messages SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH="$at/fake/cxi" \
    FAKE_CXI_REGION=2)
both ' 20 sent, 5 ready, 4 eager, 0 by peer copy, 0 triggered, 3 by rendezvous, 2 one-shot, 6 of '

check [ -z "$(lines SHMEM_TRIGGER=soft)" ]
# Where nothing was done on a stream, nothing is said of any.
"$BUILD/bin/oshcc" "$SRC/examples/hello.c" -o hello || exit 1
SHMEM_STATS=1 "$BUILD/bin/oshrun" -n 2 ./hello >said 2>&1 ||
    echo 'FAIL: hello' >>failed
check grep -q 'greeted' said
check [ "$(grep -c 'streams: ' said)" -eq 0 ]
finish
