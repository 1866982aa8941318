#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_info ends with a status and one line where it is asked
# for nothing it knows, or cannot write.
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
finish 'shmem_info: unknown words, full disks'
