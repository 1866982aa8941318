#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the library runs between nodes on the stand-in for CXI, where
# data may arrive after its completion, and says what to do without a network.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
SHMEM_OFI_PROVIDER=cxi
export SHMEM_OFI_PROVIDER

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
finish err
