#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every collective gives with buffers in device memory, or one of
# them there, or dest as source, what a model gives: of the world, of teams
# and of active sets.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
each ../coll/move
each ../coll/reduce
each ../coll/active_sets
finish
