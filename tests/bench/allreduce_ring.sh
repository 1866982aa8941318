#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the ring of a persistent kernel, of the host and of a stream sums
# every element right, near and far, with several groups and pieces and more
# PEs than elements, also on a stand-in for a GPU, and the benchmark names what
# is wrong with its arguments.
# Timeout: 60
# Needs: benches
set -u
says='allreduce_ring'
. "$(dirname "$0")/bench.inc"
ring=$BUILD/obj/bench/allreduce_ring

# rows N GROUPS PIECES WORDS...: so many figures without an error, the last one
# with that plan.
rows()
{
    want=$1 plan="$2 $3"
    shift 3
    "$BUILD/bin/oshrun" "$@" >out 2>err </dev/null &&
        [ "$(awk -F '\t' '$4 > 0 && $5 > 0 && $6 > 0 && $7 > 0 && $8 > 0 && $11 == 0' \
            out | wc -l)" -eq "$want" ] && [ "$(wc -l <out)" -eq "$want" ] &&
        [ "$(tail -n 1 out | awk '{ print $2, $3 }')" = "$plan" ] && return
    fail "$*: not $want rows, $plan at last: $(cat out err)"
}

SHMEM_DEVICE=software
export SHMEM_DEVICE
rows 5 2 8 -n 2 "$ring" --tsv -n 1 -g 2 -m 1024:262144
rows 3 3 1 -n 3 "$ring" --tsv -n 1 -g 3 -p 1 -m 8000:128000
rows 2 1 1 -n 4 "$ring" --tsv -n 1 -m 8:32
rows 2 1 1 -n 2 --ppn 1 "$ring" --tsv -n 1 -m 1024:4096
rows 1 1 3 -n 2 --ppn 1 "$ring" --tsv -n 1 -p 3 -g 1 -m 4194304:4194304
rows 1 1 1 -n 4 --ppn 2 "$ring" --tsv -n 1 -m 10008:10008
refused 'started with 1 PE: needs 2' -n 1 "$ring"
refused '-m 7: want .MIN:.MAX in bytes' -n 2 "$ring" -m 7
refused '-m .*: MIN is above MAX' -n 2 "$ring" -m 64:32
refused '-g 65: want 1 to 64 groups' -n 2 "$ring" -g 65
refused '-p 0: want 1 to 64 pieces' -n 2 "$ring" -p 0
refused 'option -q: unknown' -n 2 "$ring" -q
refused '-g GROUPS: so many do not run at once' -n 2 env \
    SHMEM_DEVICE_RESIDENT=2 "$ring" -g 3
# The kernels that nvcc has compiled.
if [ -s "$ring.ptx" ]; then
    SHMEM_DEVICE=cuda
    LD_LIBRARY_PATH=$BUILD/obj/tests/fake/cuda FAKE_DEVICE=discrete
    export LD_LIBRARY_PATH FAKE_DEVICE
    rows 2 2 2 -n 2 "$ring" --tsv -n 1 -g 2 -m 16384:65536
    rows 2 1 1 -n 3 "$ring" --tsv -n 1 -g 3 -m 8:32
    rows 1 1 1 -n 2 --ppn 1 "$ring" --tsv -n 1 -m 4096:4096
    unset LD_LIBRARY_PATH FAKE_DEVICE
else
    echo 'skip: nvcc made no PTX of the kernels'
fi
SHMEM_DEVICE=none
refused 'SHMEM_DEVICE=software' -n 2 "$ring"
[ $failures -eq 0 ]
