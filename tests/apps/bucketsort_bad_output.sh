#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an output that cannot be made or written ends the job with one
# line that names file and cause; what was there before stays, and no more.
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"

mkdir work && cd work || exit 1
"$keys" make i32 1000 mixed >in
"$keys" make i32 30000 mixed >big
echo 'old words' >old
ln -s old link
mkdir dir
mkfifo pipe
long=$(printf 'n%.0s' $(seq 256))
keep

# unwritten ARGS...: of a sort and of made files alike; the last is -o or so.
unwritten()
{
    bad OUTPUT 'bucketsort: PE 0: gone/out: cannot be made: No such file' "$@" gone/out
    bad OUTPUT 'in/out: stat: Not a directory' "$@" in/out
    bad OUTPUT 'dir: is a directory' "$@" dir
    bad OUTPUT 'pipe: is there and not a regular file' "$@" pipe
    bad OUTPUT '/dev/full: is there and not a regular file' "$@" /dev/full
    bad OUTPUT "$long: stat: File name too long" "$@" "$long"
    with posix_fallocate:1:ENOSPC 0 bad OUTPUT \
        'old: room for [0-9]* bytes: No space left' "$@" old
    with pwrite:1:EDQUOT 3 bad OUTPUT 'out: pwrite: Disk quota' "$@" out
    with fdatasync:1:EIO 1 bad OUTPUT 'old: fdatasync: Input/out' "$@" link
    with rename:1:EIO 0 bad OUTPUT 'old: rename: Input/output' "$@" old
}
unwritten --input in --type i32 -o
unwritten --type i64 --count 900 --generate
bad OUTPUT 'in: is the input, which is never changed' \
    --input in --type i32 -o ./in
with pwrite:1:flip 3 bad OUTPUT \
    'old: what was written at byte 3000 reads back different' \
    --input in --type i32 -o old
with pwrite:1:none 0 bad OUTPUT \
    'out: what was written at byte 0 reads back different' \
    --input in --type i32 -o out

# A disk with room for half of it, which nobody else sees.
cat >../full.sh <<'S'
mount -t tmpfs -o size=64k full dir || exit
"$@"
status=$?
ls -A dir >&2
exit $status
S
if unshare -m mount -t tmpfs full dir 2>/dev/null; then
    under="unshare -m sh ../full.sh"
    bad OUTPUT 'dir/out: room for 120000 bytes: No space left' \
        --input big --type i32 -o dir/out
    under=
else
    echo 'skip: no disk can be mounted here'
fi
finish 'bad outputs'
