#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the stand-in for libfabric's CXI provider keeps the rules of the
# real one, so what runs on it has a chance on the hardware.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"

# said FILE REGEX
said()
{
    check grep -q "^fake cxi: $2\$" "$1"
}

"$fake/cxi_setup" 2>setup.err
check [ $? -eq 0 ]
said setup.err 'rule 2: fi_mr_enable: no endpoint is bound (key 0x1)'
said setup.err 'rule 2: fi_mr_bind: the endpoint is not enabled yet .*'
FAKE_CXI_SOFT=1 "$fake/cxi_data" 2>data.err
check [ $? -eq 0 ]
said data.err \
    'rule 2: remote access to key 0x9 before its owner has enabled it'
finish setup.err data.err
