#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_info ends with a status and one line where it is asked
# for nothing it knows, or cannot write; its checks are of the job it is in.
set -u
. "$(dirname "$0")/neg.inc"

for words in --colour '--check --check' '--check all'; do
    # shellcheck disable=SC2086
    "$bin/shmem_info" $words >"$out" 2>"$err"
    status=$?
    ended 2 "$words"
    said "$words" 'shmem_info: unknown arguments; see shmem_info --help'
done
[ ! -w /dev/full ] || for words in '' --check --version --help; do
    # shellcheck disable=SC2086
    "$bin/shmem_info" $words >/dev/full 2>"$err"
    status=$?
    ended 1 "shmem_info $words >/dev/full"
    said "shmem_info $words >/dev/full" \
        'shmem_info: writing: No space left on device'
done

# Enough for one PE, not for the twelve of this job.
eighth=$(awk '/^MemAvailable/ { printf "%dk", $2 / 8 }' /proc/meminfo)
SHMEM_SYMMETRIC_SIZE=$eighth timeout 30 "$bin/oshrun" -n 12 \
    "$bin/shmem_info" --check >"$out" 2>"$err" </dev/null
[ "$(grep -c '^FAIL  memory  *the heaps of 12 PEs do not fit' "$out")" -eq 12 ] ||
    fail "12 PEs: $(cat "$out" "$err")"
finish 'shmem_info: unknown words, full disks, jobs'
