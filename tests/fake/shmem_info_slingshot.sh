#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_info prints each NIC of Slingshot with its link, its
# address and the job's service, as the driver's files and the launcher's
# variables tell, and says what to ask for where there is no network.
# Light: one process at a time
set -u
. "$(dirname "$0")/fake.inc"
unset SLINGSHOT_VNIS SLINGSHOT_DEVICES SLINGSHOT_SVC_IDS SLINGSHOT_TCS

# The driver's files lie on a machine that has none of it.
if [ -z "${SLUICE_TEST_CLASS:-}" ]; then
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs none /sys/class' 2>/dev/null || {
        echo 'no file system can be mounted here'
        exit 77
    }
    exec unshare -m sh -c 'mount -t tmpfs none /sys/class &&
        SLUICE_TEST_CLASS=1 exec sh "$0"' "$0"
fi

# nic NAME FILE TEXT...
nic()
{
    at=/sys/class/cxi/$1/device
    shift
    while [ $# -gt 1 ]; do
        mkdir -p "$at/${1%/*}"
        echo "$2" >"$at/$1"
        shift 2
    done
}

# said REGEX [VAR=VALUE...]
said()
{
    regex=$1
    shift
    env "$@" "$BUILD/bin/shmem_info" >out 2>&1
    grep -qE "$regex" out && return
    sed -n '/^Slingshot/,$p' out
    return 1
}

"$BUILD/bin/shmem_info" >out 2>&1
check [ -z "$(grep '^Slingshot' out)" ]
check said '^  NICs +no driver' SLINGSHOT_VNIS=7
nic cxi0 port/link up port/speed BS_200G properties/nic_addr 0x1a2
nic cxi1 port/0/link/state down port/0/link/speed ck400G
nic cxi10 properties/nic_addr 0x1a3
check said '^  cxi0 +link up, BS_200G, address 0x1a2, no service'
check said '^  cxi1 +link down, ck400G, no service.*: it carries nothing'
check said '^  cxi10 +link unknown, unknown, address 0x1a3'
check said '^  VNIs +none .*srun --network=single_node_vni'
set -- SLINGSHOT_VNIS=1310,1271 SLINGSHOT_DEVICES=cxi0,cxi1 \
    SLINGSHOT_SVC_IDS=5,6 SLINGSHOT_TCS=0x2
check said '^  cxi0 .*, service 5$' "$@"
check said '^  cxi1 .*, service 6: it carries nothing' "$@"
check said '^  cxi10 .*, no service' "$@"
check said '^  VNIs +1310,1271$' "$@"
check said '^  classes +0x2$' "$@"
finish /dev/null
