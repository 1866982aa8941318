#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the stand-in device, on which drivers' stand-ins are built, keeps
# its rules in each personality.
# Timeout: 30
set -u
failures=0
for FAKE_DEVICE in discrete coherent bare; do
    export FAKE_DEVICE
    "$BUILD/obj/tests/fake/dev_rules" || failures=$((failures + 1))
done
for FAKE_DEVICE_NIC in ordered late read; do
    export FAKE_DEVICE_NIC
    FAKE_DEVICE=discrete "$BUILD/obj/tests/fake/dev_rules" ||
        failures=$((failures + 1))
done
unset FAKE_DEVICE_NIC
FAKE_DEVICE_QUEUES=4 "$BUILD/obj/tests/fake/dev_rules" ||
    failures=$((failures + 1))
[ "$failures" -eq 0 ]
