#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a transfer that a slow link carries for longer than SHMEM_TIMEOUT
# ends right, and a PE that waits for its peer meanwhile goes on waiting.
# Light: it waits for the link
# Timeout: 180
set -u
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
skip()
{
    echo "SKIP: $*"
    exit 77
}
. "$SRC/tests/hosts/links.inc"
command -v tc >/dev/null || skip 'tc is not installed'
links "$@"
trap links_down EXIT
trap 'exit 1' HUP INT TERM
PATH=$(cd "$BUILD/bin" && pwd):$PATH
out=$links_dir/out client=$links_dir/slow
unset OSHRUN_LAUNCHER SHMEM_LAUNCHER
export SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_OFI_DOMAIN=e0 SHMEM_TIMEOUT=3 \
    SHMEM_STALL=1 SHMEM_SYMMETRIC_SIZE=300m

oshcc -O1 -Wall -o "$client" "$SRC/tests/hosts/client/slow.c" \
    >"$out" 2>&1 || { cat "$out" >&2; exit 1; }
shaped 130mbit || skip 'no traffic control here (sch_tbf)'
begun=$(date +%s)
# Not bound: beside processes of other tests that yield without end a kernel has
# left a bound one without its core for 11 s.
timeout -k 5 160 oshrun -n 2 --ppn 1 --bind-to none "$links_on" "$client" 60000000 \
    >"$out" 2>&1 </dev/null
status=$?
if [ $status -ne 0 ] || grep -q wrong "$out"; then
    echo "FAIL: status $status" >&2
    cat "$out" >&2
    exit 1
fi
# 3.7 s a transfer, and seven: else the link was none of these.
[ $(($(date +%s) - begun)) -ge 18 ] || skip 'the link is not slow'
echo 'ok: transfers that take longer than SHMEM_TIMEOUT'
