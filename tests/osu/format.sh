#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: titles, columns and rows are OSU's, byte for byte; the options
# that add columns add only those; --json is one object.
# Needs: osu
set -u
. "$(dirname "$0")/osu.inc"

# lines NAME ERE...: the output has exactly these lines, in this order.
lines()
{
    name=$1
    shift
    n=0
    for want in "$@"; do
        n=$((n + 1))
        got=$(sed -n "${n}p" "$out")
        printf '%s\n' "$got" | grep -qE "^$want\$" ||
            fail "$name: line $n is '$got', not /$want/"
    done
    [ "$(wc -l <"$out")" -eq $n ] || fail "$name: more than $n lines"
}

few='-i 4 -x 1'
row_bytes='^.{30}$'
for p in 'put:Put Test' 'get:Get Test' 'put_nb:Put_nbi Test' \
    'get_nb:Get Test'; do
    # shellcheck disable=SC2086
    run "osu_oshm_${p%%:*}" heap -m 4 $few
    lines "$p" "# OSU OpenSHMEM ${p#*:} v7\.4" \
        '# Size {12}Latency \(us\)' '1 +[0-9]+\.[0-9]{2}' \
        '2 +[0-9]+\.[0-9]{2}' '4 +[0-9]+\.[0-9]{2}'
    sed 1d "$out" | grep -vE "$row_bytes" && fail "$p: rows of other width"
done
for p in 'put_mr:Put' 'put_mr_nb:Put_nb' 'get_mr_nb:Get_nb'; do
    # shellcheck disable=SC2086
    run "osu_oshm_${p%%:*}" heap -m 8:16 $few
    lines "$p" "# OSU OpenSHMEM ${p#*:} Message Rate Test v7\.4" \
        '# Size {14}Messages/s' '8 +[0-9]+\.[0-9]{2}' '16 +[0-9]+\.[0-9]{2}'
    sed 1d "$out" | grep -vE "$row_bytes" && fail "$p: rows of other width"
done
for p in 'put_bw:Put' 'get_bw:Get'; do
    # shellcheck disable=SC2086
    run "osu_oshm_${p%%:*}" heap -m 64:64 $few --precision 4
    lines "$p" "# OSU OpenSHMEM ${p#*:} Bandwidth Test v7\.4" \
        '# Size {8}Bandwidth \(MB/s\)' '64 +[0-9]+\.[0-9]{4}'
    # shellcheck disable=SC2086
    run "osu_oshm_${p%%:*}" heap -m 2k:4K $few --precision 4
    lines "$p" "# OSU OpenSHMEM ${p#*:} Bandwidth Test v7\.4" \
        '# Size {8}Bandwidth \(MB/s\)' '2048 +[0-9]+\.[0-9]{4}' \
        '4096 +[0-9]+\.[0-9]{4}'
done
run osu_oshm_put heap -m 16k:16384 -i 1
sed -n '3{s/ .*//p}' "$out" | grep -qx 16384 || fail "16k: $(cat "$out")"

run osu_oshm_atomics heap
sed -n 2p "$out" | grep -qx \
    '# Operation                Million ops/s        Latency (us)' ||
    fail "atomics: header is '$(sed -n 2p "$out")'"
names=$(sed 1,2d "$out" | grep -E '^.{20} +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2}$' |
    awk 'length($0) == 60 && $1 !~ /_q$/ { sub(/^shmem_/, "", $1)
        printf "%s ", $1 }')
[ "$names" = "int_fadd int_finc int_add int_inc int_cswap int_swap int_set \
int_fetch longlong_fadd longlong_finc longlong_add longlong_inc \
longlong_cswap longlong_swap longlong_set longlong_fetch " ] ||
    fail "atomics: rows are $names"

run osu_oshm_barrier
lines barrier '# OSU OpenSHMEM Barrier Latency Test v7\.4' \
    '# Avg Latency\(us\)' '[ 0-9]{14}\.[0-9]{2}'
run osu_oshm_barrier -f
lines 'barrier -f' '# OSU OpenSHMEM Barrier Latency Test v7\.4' \
    '# Avg Latency\(us\)     Min Latency\(us\)     Max Latency\(us\)  Iterations' \
    '[ 0-9]{14}\.[0-9]{2} +[0-9.]+ +[0-9.]+ +100'

run osu_oshm_broadcast -m 4:8 -i 3 -x 1
lines broadcast '# OSU OpenSHMEM Broadcast Latency Test v7\.4' \
    '# Size         Avg Latency\(us\)' '4 +[0-9]+\.[0-9]{2}' '8 +[0-9]+\.[0-9]{2}'

# shellcheck disable=SC2086
run osu_oshm_put global -m 8:8 $few -c -f -T --precision 3
lines 'all columns' '# OSU OpenSHMEM Put Test v7\.4' \
    '# Size +Latency \(us\) +Min Latency\(us\) +Max Latency\(us\)  Iterations    P50 Tail Lat\(us\)    P99 Tail Lat\(us\)          Validation' \
    '8( +[0-9]+\.[0-9]{3}){3} +4( +[0-9]+\.[0-9]{3}){2} +Pass'

# shellcheck disable=SC2086
run osu_oshm_get heap -m 1:2 $few --json
tr -d '\n' <"$out" | grep -qE '^\{"program":"osu_oshm_get","version":.*"pes":2,"memory":"heap","rows":\[\{"size":1,"latency_us":[0-9.e+-]+\},\{"size":2,"latency_us":[0-9.e+-]+\}\]\}$' ||
    fail "json: $(cat "$out")"

# Placements: lines that begin with # say them; one changes no column, of
# several the first stands where OSU's value does.
SHMEM_DEVICE=software
export SHMEM_DEVICE
# shellcheck disable=SC2086
run osu_oshm_put heap -m 4:8 $few -d D
lines 'put -d D' '# OSU OpenSHMEM Put Test v7\.4' \
    '# Source in host memory \(H\), destination in device memory \(D\)' \
    '# Size {12}Latency \(us\)' '4 +[0-9]+\.[0-9]{2}' '8 +[0-9]+\.[0-9]{2}'
sed 1,2d "$out" | grep -vE "$row_bytes" && fail "-d D: rows of other width"
# shellcheck disable=SC2086
run osu_oshm_get_mr_nb global -m 8:8 $few -s A -d A -c
lines 'get_mr_nb -s A -d A' '# OSU OpenSHMEM Get_nb Message Rate Test v7\.4' \
    '# Source-destination .* first H-H, then D-D, H-D, D-H' \
    '# Size +Messages/s    D-D \(Messages/s\)    H-D \(Messages/s\)    D-H \(Messages/s\) +D-D/H-H +H-D/H-H +D-H/H-H +Validation' \
    '8( +[0-9]+\.[0-9]{2}){7} +Pass'
# shellcheck disable=SC2086
run osu_oshm_put heap -m 8:8 $few -s D -d A --json
tr -d '\n' <"$out" | grep -qE '"placements":\["D-D","D-H"\],"rows":\[\{"size":8,"latency_us":([0-9.e+-]+),"by_placement":\{"D-D":\1,"D-H":[0-9.e+-]+\}\}\]\}$' ||
    fail "json of placements: $(cat "$out")"
# shellcheck disable=SC2086
run osu_oshm_reduce -m 8:8 $few -d A
lines 'reduce -d A' '# OSU OpenSHMEM Reduce Latency Test v7\.4' \
    '# Source-destination .* first H-H, then D-D' \
    '# Size +Avg Latency\(us\) +D-D \(us\) +D-D/H-H' \
    '8( +[0-9]+\.[0-9]{2}){3}'
# shellcheck disable=SC2086
run osu_oshm_broadcast -m 8:8 $few -d D
sed -n 2p "$out" | grep -qx '# Buffers in device memory (D)' ||
    fail "broadcast -d D: $(sed -n 2p "$out")"
run osu_oshm_atomics heap -i 20 -d D
[ "$(grep -c '_nbi ' "$out")" -eq 10 ] && [ "$(grep -c '^shmem' "$out")" -eq 32 ] ||
    fail "atomics -d D: $(cat "$out")"

run osu_oshm_put_overlap heap -m 64:128 -i 20
lines put_overlap '# OSU OpenSHMEM Put_nbi Test v7\.4' \
    '# Overall = Coll\. Init \+ Compute \+ MPI_Test \+ MPI_Wait' '' \
    '# Size             Compute\(us\)      Coll\. Init\(us\)        MPI_Wait\(us\)      Pure Comm\.\(us\)          Overlap\(%\)' \
    '64 {8}([ 0-9]{14}\.[0-9]{2}){5}' '128 {7}([ 0-9]{14}\.[0-9]{2}){5}'

run osu_oshm_put -v
lines version '# OSU OpenSHMEM Put Test v7\.4'
for p in put atomics broadcast; do
    run osu_oshm_$p -h
    for word in --validation --destination; do
        grep -q -- "$word" "$out" || fail "$p: -h does not name $word"
    done
done
finish
