#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: PEs on different nodes sort keys of a file as qsort() does, by
# each variant of the exchange, and ISx keys.
set -u
. "$(dirname "$0")/bucketsort.inc"

for ppn in 1 2; do
    options="--ppn $ppn"
    for pes in 2 4; do
        [ $pes -gt $ppn ] || continue
        rm -f sorted
        "$keys" make u64 30011 mixed >in && "$keys" sort u64 <in >want ||
            fail keys
        run $pes --input in --type u64 --variant all -o sorted
        cmp want sorted >cmp.log 2>&1 ||
            fail "$pes PEs, $ppn to a node: $(cat cmp.log)"
    done
    run 4 --keys 100k -i 1
done
finish 'bucketsort between nodes'
