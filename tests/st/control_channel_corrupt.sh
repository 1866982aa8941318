#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a put over the library's words for messages between streams ends
# the job with a line that names the cause, not with a signal.
set -u
failures=0
export SHMEM_SYMMETRIC_SIZE=8M
for what in yours gone words segment from kind ready trigger early whole ring; do
    said=$(timeout 20 "$BUILD/bin/oshrun" -n 2 \
        "$BUILD/obj/tests/st/control_channel_corrupt" $what 2>&1)
    rc=$?
    if [ $rc -eq 0 ] || [ $rc -ge 128 ] ||
        ! echo "$said" | grep -q 'overwritten.*\[S-E-CORRUPT\]'; then
        echo "FAIL: $what: status $rc: $said" >&2
        failures=1
    fi
done
exit $failures
