#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a put sends what the program has copied to the device heap, near
# and far, though copies of CUDA from pageable memory and fills return before
# they end.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
case ${real:-cuda} in
    cuda) ;;
    *) exit 77 ;;
esac
runs='2 2/1'
each put_after_copy cuda-discrete cuda-coherent
finish
