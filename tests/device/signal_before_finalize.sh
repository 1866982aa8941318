#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a signal to another node that a GPU's stream has reached comes,
# though the progress thread is late and the program finalizes at once.
# Timeout: 70
set -u
. "$(dirname "$0")/device.inc"
extra=SHMEM_FAULT=stream_progress:0.95:1
for i in 1 2 3; do
    job "${real:-cuda-discrete}" -n 2 --ppn 1 \
        "$at/st/signal_before_finalize" || break
done
finish
