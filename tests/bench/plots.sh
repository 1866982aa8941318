#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the page of plots is printed whole: each result has a sentence with
# figures, a plot and its rows.
# Light: its programs run one after the other
# Timeout: 120
# Needs: benches pp-pack osu
set -u
failures=0

fail()
{
    echo "FAIL: $*" >&2
    failures=1
}

command -v gnuplot >/dev/null || { echo 'skip: no gnuplot'; exit 77; }
"$SRC/scripts/bench-plots" -q "$BUILD" plots >page 2>err || fail "status $?: $(cat err)"
[ ! -s err ] || fail "$(cat err)"
sections=$(grep -c '^## ' page)
[ "$sections" -ge 9 ] || fail "$sections sections"
for plot in $(grep -oE '\(plots/[a-z0-9-]+\.svg\)' page | tr -d '()'); do
    grep -q '<svg' "$plot" || fail "no $plot"
done
[ "$(ls plots | wc -l)" -eq "$sections" ] || fail "plots: $(ls plots)"
# Below each heading a sentence with figures, and rows of numbers.
awk '/^## / { heading = $0; getline; getline
              if ($0 !~ /[0-9] (ns|us|ms|GB\/s)/ || $0 ~ /nan|inf/) print heading ": " $0 }
     /^\$ oshrun/ { getline; getline; if ($0 !~ /[0-9]/) print heading ": " $0 }' page >odd
[ ! -s odd ] || fail "$(cat odd)"
"$SRC/scripts/bench-plots" --what >out 2>&1 && fail 'a bad option'
"$SRC/scripts/bench-plots" -q nowhere >out 2>&1 && fail 'no build'
grep -q 'bench-plots: no nowhere/obj/bench/pp_pack: make tests' out || fail "$(cat out)"
[ $failures -eq 0 ]
