#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the library runs between nodes on the stand-in for CXI, where
# data may arrive after its completion, and says what to do without a network.
# Timeout: 60
set -u
FI_PROVIDER_PATH=$BUILD/obj/tests/fake/cxi
SHMEM_OFI_PROVIDER=cxi
export FI_PROVIDER_PATH SHMEM_OFI_PROVIDER
unset FI_PROVIDER FAKE_CXI_SOFT FAKE_CXI_NICS FAKE_CXI_NO_VNI FAKE_CXI_DELAY_US
failures=0

check()
{
    if ! "$@"; then
        echo "FAIL: $*" >&2
        failures=$((failures + 1))
    fi
}

run()
{
    "$BUILD/bin/oshrun" -n 2 --ppn 1 "$BUILD/obj/tests/pe/$1"
}

# The provider is chosen after it has moved a word to the PE itself and back;
# several times, for the delay is random.
for i in 1 2 3; do
    check run init
done
check run rma_typed
FAKE_CXI_NO_VNI=1 run init 2>err
check [ $? -ne 0 ]
check grep -q 'gave this job no Slingshot network .*--network=single_node_vni' err
cat err >&2
[ "$failures" -eq 0 ]
