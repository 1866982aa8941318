#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: graphs that shmemx_stream_capture_end makes do the same on every
# device, by themselves and with the progress thread; SHMEM_LOG reports one that
# is left.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
runs='1 2' extra=SHMEM_LOG=info:api
each ../st/graph software cuda-discrete cuda-coherent hip-discrete hip-coherent
# Where PEs share a device no stream of HIP waits, as nodes of a machine do.
extra=
runs='2 2/1 4/2' each ../st/graph_ops cuda-discrete cuda-coherent
runs='2 4' each ../st/graph_ops hip-discrete hip-coherent hip-bare
on software env SHMEM_LOG=info:api "$BUILD/bin/oshrun" -n 1 "$at/st/graph" >said 2>&1
check grep -q 'shmem_finalize: 1 graph was not destroyed, which is done now' said
check grep -q 'shmemx_graph_launch: .* is no graph, or one that was destroyed' said
check grep -q 'shmemx_stream_destroy: stream .* records a graph, which is lost' said
check grep -q 'shmemx_stream_capture_begin: a default stream records no graph' said
finish
