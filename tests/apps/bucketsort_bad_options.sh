#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: options that are wrong, missing or contradict each other end the
# job with one line that names them, exit status 2 and no file made or changed.
# Light: short jobs, which end early
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"

mkdir work && cd work || exit 1
"$keys" make i32 100 mixed >in
keep

# wrong TEXT ARGS...: on so many PEs, 0: without oshrun.
on=2
wrong()
{
    text=$1
    shift
    refused 2 "$text.*B-E-USAGE" $on "$@"
    # shellcheck disable=SC2086  # names
    only $kept
}

# --- One option ---

for type in i16 I32 '' int i32,u32; do
    wrong "--type $type: say i32, u32, i64 or u64" --input in --type "$type" \
        -o out
done
wrong '--mode isx: say strong, weak or weak_iso' --mode isx
wrong '--dist flat: say uniform' --generate g --type i32 --count 1 --dist flat
wrong "--variant HA_HI,HD: no variant 'HD'" --variant HA_HI,HD
wrong "--variant ha_hi: no variant 'ha_hi'" --variant=ha_hi
wrong "--variant HA_HI,: no variant ''" --variant HA_HI,
wrong '--input: the name of the file is empty' --input '' --type i32
wrong '--output: the name of the file is empty' --input in --type i32 -o ''
wrong '--json: the name of the file is empty' --json=
wrong 'option --no-such: unknown' --no-such
wrong 'option --verbose=1: unknown' --verbose=1
wrong 'option -x: unknown' -x
wrong 'option -: unknown' -
wrong 'option --: unknown' --
wrong 'argument in: not expected' in --type i32
wrong 'option --type: its value is missing' --input in --type
wrong 'option -o: its value is missing' --input in --type i32 -o

# --- Numbers ---

on=0
for n in 0 -1 +5 x '' 1.5 1e3 0x10 7q 1kk 1025g 16777216g \
    99999999999999999999 18446744073709551617; do
    wrong "--keys $n: say a number from 1 to 1099511627776" --keys "$n"
done
wrong '--chunk 63: say a number from 64 to 1073741824' --chunk 63
wrong '--chunk 2g: ' --chunk 2g
wrong '--chunk 0: say a number from 64 to 1073741824, k, m, g allowed \[' --chunk 0
wrong '--threads 0: say a number from 1 to 64 \[' --threads 0
wrong '--threads 65: ' --threads 65
wrong '--iterations 0: say a number from 1 to 10000 \[' -i 0
wrong '--iterations 10k: ' -i 10k
wrong '--seed -1: ' --seed -1
wrong '--count -3: ' --input in --type i32 --count -3 -o out
wrong '--count 10 k: ' --generate g --type i32 --count '10 k'
for f in 0 -1 nan inf 1x '' 1001; do
    wrong "--table-factor $f: say a number above 0" --table-factor "$f"
done

# --- Several options ---

on=2
wrong '--input needs --type' --input in -o out
wrong '--verify-file needs --type' --verify-file in
wrong '--generate needs --type' --generate g --count 5
wrong '--generate needs --count' --generate g --type i32
wrong '--output does not go with made keys' -o out
wrong '--type does not go with made keys' --type i32
wrong '--against does not go with made keys' --against in
wrong '--dist does not go with made keys' --dist zipf
wrong '--count does not go with made keys' --count 5
wrong '--mode does not go with --input' --input in --type i32 --mode weak
wrong '--keys does not go with --input' --input in --type i32 --keys 5
wrong '--seed does not go with --input' --input in --type i32 --seed 5
wrong '--table-factor does not go with --input' \
    --input in --type i32 --table-factor 2
wrong '--generate does not go with --input' \
    --input in --generate g --type i32 --count 1
wrong '--verify-file does not go with --input' \
    --input in --verify-file in --type i32
wrong '--output does not go with --generate' \
    --generate g --type i32 --count 1 -o out
wrong '--json does not go with --generate' \
    --generate g --type i32 --count 1 --json j
wrong '--verify-file does not go with --generate' \
    --generate g --type i32 --count 1 --verify-file in
wrong '--iterations does not go with --verify-file' \
    --verify-file in --type i32 -i 2

# --- A heap that is too small: the first line tells what is enough ---

# enough ARGS...
enough()
{
    SHMEM_SYMMETRIC_SIZE=1m
    export SHMEM_SYMMETRIC_SIZE
    try 2 "$@"
    [ "$(grep -c HEAP "$err")" -eq 2 ] && [ "$(wc -l <"$err")" -eq 2 ] ||
        fail "$*: not one error and the library's warning: $(cat "$err")"
    need=$(sed -n 's/.*set SHMEM_SYMMETRIC_SIZE=\([0-9]*M\).*B-E-HEAP.*/\1/p' "$err")
    SHMEM_SYMMETRIC_SIZE=$need
    run 2 "$@"
    unset SHMEM_SYMMETRIC_SIZE
}
enough --keys 1m -i 1
enough --mode strong --keys 3m -i 1 --variant HA_HI
enough --input in --type i32

# --- Wrong only once the job has begun ---

refused 1 'PE 0: [0-9]* keys came for its table.*: raise --table-factor from 0.01 to [0-9.]* .*TABLE' \
    4 --keys 100 --table-factor 0.01 -i 1
refused 1 '--json ./in: is the input, which is never changed.*REPORT' \
    2 --input in --type i32 --json ./in
refused 1 '--json out: is the output.*REPORT' \
    2 --input in --type i32 -o out --json out
# shellcheck disable=SC2086  # names
only $kept
"$keys" make i32 100 mixed | cmp -s - in ||
    fail 'the input has changed'
finish 'bad options'
