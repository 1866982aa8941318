#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what the software device charges for a message, host-driven and
# on a stream, is what the models of the papers add up, within 5 percent, near
# and far, and the same in each run.
# Timeout: 120
# Needs: pp-pack
# Background: its jobs run one after the other, and none is timed
set -u
failures=0

fail()
{
    echo "FAIL: $*" >&2
    failures=1
}

sh "$SRC/scripts/bench-virtual" "$BUILD" >report 2>err || fail "status $?: $(cat err)"
# Each message has one kernel; host-driven one sync, on the stream one store
# that releases it; a kernel that triggers has two requests started before; the sync at the end of 500 round trips counts, too.
[ "$(grep -c '^  kernel: launch .* 1.95        1.000        1.000        1.000$' report)" -eq 2 ] &&
    [ "$(grep -c '^  sync: .* 0.60        1.002        0.002        0.002$' report)" -eq 2 ] &&
    [ "$(grep -c '^  doorbell or flag .* 0.10        0.000        1.000        [12].[0-9]*$' report)" -eq 2 ] &&
    [ "$(grep -c '^  charged (us) .* 4.551        4.051        3.[12]' report)" -eq 2 ] &&
    [ "$(grep -c '^  model: HDN, GDS, TN (us) .* 4.550        4.050        3.000$' report)" -eq 2 ] ||
    fail "$(cat report)"
# 7.03 + 3 to 7.03 + 4, and the bytes; to 7.03 + 9.66.
grep -qE '^  32 +0\.600 +0\.9[0-9]+ .* 0\.60[0-9] ' report &&
    grep -qE '^  1048576 +0\.849 +0\.9[0-9]+ ' report &&
    grep -qE '^  \(c\) is off by 0\.0[0-3][0-9] at most$' report ||
    fail "$(sed -n '/^# R1/,$p' report)"
sh "$SRC/scripts/bench-virtual" --what >/dev/null 2>&1 && fail 'a bad option'
exit $failures
