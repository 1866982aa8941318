#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: files that cannot be read, or must not be written, end the job
# with one line that names file and cause; none appears and none changes.
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"

mkdir work && cd work || exit 1
"$keys" make i32 1000 mixed >in
"$keys" make i32 1000 mixed | head -c 3998 >"cut"
"$keys" make i32 1001 mixed >odd            # half a key of 8 bytes more
"$keys" make i32 500 ascending >rising
mkdir dir
mkfifo pipe
deep=$(printf 'd%.0s' $(seq 200))
deep=/$deep/$deep/$deep/$deep
keep

# --- The input ---

# unread OPTION ARGS...: of a sort and of a check alike.
unread()
{
    o=$1
    shift
    bad SIZE 'cut: 3998 bytes are not a multiple of 4: truncated' \
        "$o" cut --type i32 "$@"
    bad SIZE 'odd: 4004 bytes are not a multiple of 8: ' \
        "$o" odd --type u64 "$@"
    bad SIZE 'rising: has 500 keys, not the 499 of --count' \
        "$o" rising --type i32 --count 499 "$@"
    bad INPUT 'none: open: No such file' "$o" none --type i32 "$@"
    bad INPUT 'in/x: open: Not a directory' "$o" in/x --type i32 "$@"
    bad INPUT 'dir: is a directory' "$o" dir --type i32 "$@"
    bad INPUT 'pipe: not a regular file' "$o" pipe --type i32 "$@"
    bad INPUT "$deep: open: No such file" "$o" "$deep" --type i32 "$@"
    bad INPUT 'a?b: open: No such file' "$o" 'a
b' --type i32 "$@"
}
unread --input -o out
unread --verify-file
bad INPUT 'none: open: No such file' \
    --verify-file rising --against none --type i32
bad ORDER 'in: not sorted: key [0-9]* of 1000' --verify-file in --type i32
bad VERIFY 'rising does not hold the keys of in: number 500 and 1000' \
    --verify-file rising --against in --type i32

with pread:1:end 2 bad INPUT 'in: ends at byte 2000 of 3000: truncated' \
    --input in --type i32 -o out
with pread:1:EIO 3 bad INPUT 'in: pread: Input/output error' \
    --input in --type i32 -o out

# --- Permissions ---

chmod 755 .. && chmod 700 dir && chmod 600 cut && chmod 644 in
user='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ "$(id -u)" -ne 0 ]; then
    user=
    chmod 0 cut dir
fi
keep
# shellcheck disable=SC2086  # a command
if [ ! -r cut ] || $user test -x "$BUILD/bin/bucketsort" -a -r in 2>/dev/null
then
    under=$user
    chmod 555 .
    bad INPUT 'cut: open: Permission denied' --input cut --type i32
    bad INPUT 'dir/x: open: Permission denied' --input dir/x --type i32
    bad OUTPUT 'out: cannot be made: Permission denied' \
        --input in --type i32 -o out
    bad OUTPUT 'dir/out: stat: Permission denied' \
        --input in --type i32 -o dir/out
    bad REPORT '--json out: cannot be made: Permission denied' \
        --input in --type i32 --json out
    under=
else
    echo 'skip: no user without rights to run as'
fi
chmod 755 . dir
finish 'bad files'
