#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the page of the papers' figures is printed whole: each program that
# it runs has compared its results, and no figure is missing.
# Timeout: 120
# Needs: benches pp-pack
# Background: its jobs run one after the other, and none is timed
set -u
failures=0

fail()
{
    echo "FAIL: $*" >&2
    failures=1
}

sh "$SRC/scripts/headlines" -q "$BUILD" >page 2>err || fail "status $?: $(cat err)"
[ ! -s err ] || fail "$(cat err)"
[ "$(grep -c '^## 00[0-4]: ' page)" -eq 5 ] || fail "not five papers: $(grep '^##' page)"
rows=$(grep -c '^| [^|-]*' page)
[ "$rows" -ge 25 ] || fail "$rows rows"
# Published, or by a model, and measured: each row has five cells, and the fourth
# has figures, or says that there are none.
awk -F ' [|] ' '/^[|] / && $1 != "| figure" && !/^[|]---/ &&
    (NF < 5 || ($4 !~ /[0-9]/ && $4 != "-") || $4 ~ /nan|inf| - |^ *to/) { print; bad = 1 }
    END { exit bad }' page >odd || fail "$(cat odd)"
sh "$SRC/scripts/headlines" --what >/dev/null 2>&1 && fail 'a bad option'
[ $failures -eq 0 ]
