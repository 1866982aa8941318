#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the typed and sized forms of put, get, p, g and the strided and
# blocked ones place each element where a model does, between host and device
# memory, symmetric and private, in the default context and another.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../pe/rma_typed
finish
