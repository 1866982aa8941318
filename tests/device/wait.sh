#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: signals, words and locks in device memory are waited for and
# tested like those in host memory, and a PE that sees a signal sees the data
# before it, with data and signal in any two memories.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../pe/signal
each ../pe/wait
each ../pe/lock
finish
