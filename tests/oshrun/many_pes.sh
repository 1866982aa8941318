#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: 512 PEs start, or a limit is named.
set -u
. "$(dirname "$0")/oshrun.inc"
compile job

(
    # shellcheck disable=SC3045  # every shell here has it
    ulimit -n 200 || exit 77
    try -n 512 true
    expect 1 'few descriptors'
    said '512 PEs need [0-9]* open files here, but the hard limit is 200 (ulimit -Hn): raise it or start fewer PEs, at most 27 \[S-E-LIMIT\]'
    # shellcheck disable=SC3045
    ulimit -n 16
    try -n 8 true
    expect 1 'hardly any descriptor'
    said '8 PEs need 104 open files here, but the hard limit is 16 (ulimit -Hn): raise it \[S-E-LIMIT\]'
    exit $failures
)
case $? in
    0) ;;
    77) echo 'ulimit -n cannot be lowered' ;;
    *) [ "$(id -u)" -eq 0 ] || fail 'few descriptors' ;;
esac
(
    # shellcheck disable=SC3045
    ulimit -S -n 100
    try -n 64 sh -c 'ulimit -n'
    expect 0 'a soft limit is raised'
    [ "$(sort -u "$out")" = 100 ] || fail "the PEs' limit is $(sort -u "$out")"
    # Each two PEs share the memory of a node of their own.
    most=170                    # half a minute of work for the processor
    try -n 120 --ppn 2 "$BUILD/obj/tests/pe/init"
    expect 0 'sixty nodes'
    exit $failures
) || fail 'soft limit'

# Too few processes for one part or another: one line.
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
# Neither for root, nor for the threads of a sanitizer.
sanitizer=$("$BUILD/bin/oshcc" --showme:compile | grep -e -fsanitize)
if [ -z "$sanitizer" ] && [ "$(id -u)" -eq 0 ] &&
    $nobody "$BUILD/bin/oshrun" -n 2 true >"$out" 2>&1
then
    for limit in 1 2 3 4 5; do
        pmix=
        [ $limit -lt 4 ] || pmix=--pmix
        $nobody prlimit --nproc=$limit "$BUILD/bin/oshrun" $pmix -n 2 true \
            >"$out" 2>"$err"
        said '^oshrun: cannot start .*: Resource temporarily unavailable; processes allowed: '$limit' for this user (ulimit -u).* \[S-E-LIMIT\]$'
    done
fi

try --pmix -n 512 "$dir/job"
if [ $status -eq 0 ]; then
    [ "$(grep -c 'of 512$' "$out")" -eq 512 ] || fail "512 PEs: $(head "$out")"
    finish "512 PEs: start, fence and end in $ms ms"
fi
grep -q 'S-E-LIMIT' "$err" || fail "512 PEs: status $status: $(head -n 3 "$err")"
finish "512 PEs: refused: $(head -n 1 "$err")"
