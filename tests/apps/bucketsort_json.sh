#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: --json writes one valid object that says what the table says;
# it appears whole or not at all, also when a PE is killed meanwhile.
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"

mkdir work && cd work || exit 1
"$keys" make i64 3000 mixed >in
echo 'old words' >old
name=$(printf 'a "b" \\ \t\n\001\303\251\377\200.in')
cp in "$name"

# valid FILE
valid()
{
    "$keys" json "$1" 2>"$dir/why" || fail "$1: $(cat "$dir/why")"
    [ "$(wc -l <"$1")" -eq 1 ] || fail "$1: $(wc -l <"$1") lines"
}

# has FILE TEXT...: so it is written.
has()
{
    file=$1
    shift
    for member; do
        grep -qF -e "$member" "$file" ||
            fail "$file: no $member in $(cut -c 1-300 "$file")"
    done
}

# agrees FILE: the rows of the table of the last run are in it.
agrees()
{
    awk '
    function bad(what) { print what ": " $0; wrong = 1 }
    function value(row, name,    at) {
        at = index(row, "\"" name "\":")
        if (!at) { bad("no " name); return "" }
        row = substr(row, at + length(name) + 3)
        sub(/[,}].*/, "", row)
        gsub(/"/, "", row)
        return row
    }
    function same(cell, x, last,    d) {
        d = cell - x
        if (x == "null" || x == "" || cell == "-")
            return x == "null" && cell == "-"
        return (d < 0 ? -d : d) <= last * 0.51
    }
    NR == FNR {
        n = split($0, row, "\"variant\":")
        for (i = 2; i <= n; i++) row[i] = "\"variant\":" row[i]
        next
    }
    /^  HA_/ {
        r = row[++seen + 1]
        if ($1 != value(r, "variant") || $2 != value(r, "pes") ||
            $3 != value(r, "keys_per_pe") || $4 != value(r, "scaling"))
            bad("problem")
        if ($5 == "-" && value(r, "max_gb_s") != 0) bad("bandwidth")
        if ($5 != "-" && (!same($5, value(r, "min_gb_s"), .001) ||
            !same($6, value(r, "max_gb_s"), .001) ||
            !same($7, value(r, "mean_gb_s"), .001))) bad("bandwidth")
        if (!same($8, value(r, "min_over_max"), .01)) bad("min/max")
        if (!same($9, value(r, "total_s"), .0001) ||
            !same($10, value(r, "exchange_s"), .0001) ||
            !same($11, value(r, "sort_s"), .0001)) bad("times")
        if (!same($12, value(r, "mean_vs_ha_hi"), .01)) bad("ratio")
    }
    /^# verified / && $3 != value(row[1], "verified") { bad("verified") }
    END {
        if (seen == 0 || seen != n - 1) bad(seen " rows, not " n - 1)
        exit wrong
    }' "$1" "$out" >"$dir/why" || fail "$1: $(cat "$dir/why")"
}

# --- What it says ---

for pes in 1 3; do
    run $pes --mode strong --keys 6000 --seed 9 -i 2 --json j
    valid j
    agrees j
    has j '"program":"bucketsort"' "\"pes\":$pes," '"keys":6000,' \
        '"scaling":"strong"' '"input":null' '"output":null' '"seed":9,' \
        '"iterations":2,' '"verified":6,' '"EXCHANGE":{"min":'
done
run 4 --mode weak_iso --keys 500 -i 1 --variant HA_HI_OMP --threads 3 --json j
valid j
agrees j
has j '"threads":3,' '"mean_vs_ha_hi":null'
# Threads: as many as the PE's processors, if a launcher has divided the node;
# PEs on the same processors share them.
${CC:-cc} -std=c11 -O1 -Wall -fPIC -shared -o "$dir/affinity.so" \
    "$SRC/tests/apps/tools/affinity.c" || exit 1
for step in 0 6 1100; do
    options="-x LD_PRELOAD=$dir/affinity.so -x AFFINITY_STEP=$step"
    ASAN_OPTIONS="verify_asan_link_order=0${asan:+:$asan}" \
        run 2 --keys 500 -i 1 --variant HA_HI_OMP --json j
    has j "\"threads\":$([ $step = 0 ] && echo 3 || echo 6),"
done
options=
run 3 --input in --type i64 -o sorted --json old --chunk 100
valid old
agrees old
has old '"scaling":"file"' '"type":"i64"' '"input":"in"' '"output":"sorted"' \
    '"keys":3000,' '"chunk":100,'
run 2 --input "$name" --type i64 --json j
valid j
has j '"input":"a \"b\" \\ \u0009\u000a\u0001'"$(printf '\303\251')"'\ufffd\ufffd.in"'
run 2 --input in --type i64 --variant all --json -
cp "$out" j
valid j
has j '"variant":"HA_HI"' '"variant":"HA_HI_OMP"'
rm -f j sorted
chmod 640 old
run 2 --keys 10 -i 1 --json old
[ "$(stat -c %a old)" = 640 ] || fail "old has permissions $(stat -c %a old)"

# --- Where it cannot be written ---

keep
# After a sort the table is there.
late()
{
    text=$1
    shift
    try 3 "$@"
    [ $status -eq 1 ] || fail "$*: exit status $status, not 1"
    complained "$*" "$text.*B-E-REPORT"
    [ -s "$out" ] || fail "$*: no table"
    # shellcheck disable=SC2086  # names
    [ "$(ls -A)" = "$kept" ] || fail "$*: files there: $(ls -A)"
    valid old
}
late '/dev/full: write: No space left' --keys 10 -i 1 --json /dev/full
with write:1:ENOSPC 0 late 'new: write: No space' --keys 10 -i 1 --json new
with write:1:ENOSPC 0 late 'old: write: No space' --keys 10 -i 1 --json old
with rename:1:EIO 0 late 'old: rename: Input/output' --keys 10 -i 1 --json old
# Before one, if that can be known.
refused 1 'gone/j: cannot be made: No such file.*REPORT' 2 --json gone/j
refused 1 '--json .: is a directory.*REPORT' 2 --json .

# --- A PE that is killed ---

# dies PE CALL: killed in its first CALL, a PE takes the job with it in 2 s.
dies()
{
    begin=$(now)
    with "$2:1:kill" "$1" try 3 --input in --type i64 -o sorted --json old
    ms=$(($(now) - begin))
    in_time $ms 2000 || fail "PE $1 killed in $2: the job took $ms ms"
    ended "PE $1 killed in $2" 137 \
        "PE $1 (.*) was killed by signal 9 (Killed); ending the other 2 PEs"
}

# ended WHAT STATUS TEXT: one line, of oshrun, or none, is all that comes of it.
ended()
{
    [ $status -eq "$2" ] || fail "$1: exit status $status, not $2"
    if [ -z "$3" ]; then
        [ ! -s "$err" ]
    else
        [ "$(wc -l <"$err")" -eq 1 ] && grep -q "^oshrun: $3" "$err"
    fi ||
        fail "$1: said '$(head -n 5 "$err")'"
    [ ! -s "$out" ] || fail "$1: printed '$(head -n 5 "$out")'"
    [ "$(ls -A)" = "$kept" ] || fail "$1: files there: $(ls -A)"
    sums | cmp -s - "$dir/sums" ||
        fail "$1: a file has changed"
}
keep
dies 1 pread
dies 2 put
dies 0 pwrite
dies 2 pwrite
dies 1 fdatasync
dies 0 rename
with pwrite:1:term 1 try 3 --input in --type i64 -o sorted --json old
ended 'oshrun told to end' 143 ''
finish 'JSON'
