#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: streams of CUDA's green contexts: those of the PE's device are
# taken, also where such a context is the thread's own; others are refused, and
# the line says why.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
case $real in
    '') ;;
    *) echo 'skip: a stand-in makes the contexts'; exit 77 ;;
esac
green=$at/device/green_context
for runs in '-n 1' '-n 2' '-n 2 --ppn 1'; do
    # shellcheck disable=SC2086  # words
    job cuda-discrete $runs "$green"
    # shellcheck disable=SC2086
    job cuda-discrete $runs "$green" current
done

# says REGEX WORDS...: the program refuses with that line, on another node.
says()
{
    text=$1
    shift
    said=$(on cuda-discrete env "$@" 2>&1) || echo "FAIL ($?): $*" >>failed
    echo "$said" | grep -qE "$text.*\[S-W-STREAM\]" ||
        echo "FAIL: $* does not say '$text': $said" >>failed
}
run="$BUILD/bin/oshrun -n 2 --ppn 1 $green"
# shellcheck disable=SC2086
{
    says "green context is a part of a device's primary context, which is not the PE's" $run other
    says 'green context is a part of a' FAKE_DEVICE_COUNT=2 $run device
    says 'context is destroyed' $run gone
}

# A driver of CUDA 12.4, which does not tell them from other contexts.
mkdir early
sed 's/cuStreamGetCtx_v2/cuStreamgetctx_v2/g' "$at/fake/cuda/libcuda.so.1" \
    >early/libcuda.so.1
# shellcheck disable=SC2086
says 'or to a green one of it, .* CUDA 12.5' \
    LD_LIBRARY_PATH="$PWD/early:$at/fake/nvrtc" $run old
finish
