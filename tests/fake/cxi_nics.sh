#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE takes the NIC that is nearest to its GPU, also where the
# device is not open yet, on a node of four GPUs and four NICs whose numbers
# run the other way round; without a device, by its number.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
# HWLOC_COMPONENTS would overrule the machine of a file.
unset SHMEM_NIC_MAP SHMEM_DEVICE FAKE_DEVICE FAKE_DEVICE_COUNT \
    FAKE_DEVICE_FIRST FAKE_DEVICE_PARTS HWLOC_COMPONENTS

# device CLASS ADDRESS TYPE NAME
device()
{
    index=$((index + 2))
    cat <<END
<object type="PCIDev" gp_index="$index" pci_busid="$2"
 pci_type="$1 [15b3:1019] [15b3:0001] 00" pci_link_speed="0.000000">
<object type="OSDev" gp_index="$((index + 1))" name="$4" osdev_type="$3"/>
</object>
END
}

# beside BUS NIC: a GPU and a NIC under one switch.
beside()
{
    index=$((index + 2))
    cat <<END
<object type="Bridge" gp_index="$index" bridge_type="0-1" depth="0"
 bridge_pci="0000:[$1-$1]">
<object type="Bridge" gp_index="$((index + 1))" bridge_type="1-1" depth="1"
 bridge_pci="0000:[$1-$1]" pci_busid="0000:00:$1.0"
 pci_type="0604 [1022:1483] [0000:0000] 00" pci_link_speed="0.000000">
END
    device 0302 "0000:$1:00.0" 1 "gpu$1"
    device 0207 "0000:$1:01.0" 3 "cxi$2"
    echo '</object></object>'
}

# package NUMBER SET BUS NIC BUS NIC
package()
{
    index=$((index + 4))
    sets="cpuset=\"$2\" complete_cpuset=\"$2\" nodeset=\"$2\"
 complete_nodeset=\"$2\""
    cat <<END
<object type="Package" os_index="$1" $sets gp_index="$index">
<object type="NUMANode" os_index="$1" $sets gp_index="$((index + 1))"
 local_memory="1073741824"/>
<object type="Core" os_index="$1" $sets gp_index="$((index + 2))">
<object type="PU" os_index="$1" $sets gp_index="$((index + 3))"/>
</object>
END
    beside "$3" "$4"
    beside "$5" "$6"
    echo '</object>'
}

# machine BUS BUS BUS BUS: of the GPUs; the last NIC is beside the first.
machine()
{
    index=10
    sets='cpuset="0x3" complete_cpuset="0x3" nodeset="0x3"
 complete_nodeset="0x3"'
    cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" $sets allowed_cpuset="0x3"
 allowed_nodeset="0x3" gp_index="1">
END
    package 0 0x1 "$1" 3 "$2" 2
    package 1 0x2 "$3" 1 "$4" 0
    echo '</object></topology>'
}
machine 17 18 19 1a >cuda.xml
machine c1 c2 c3 c4 >hip.xml

# pes XML NICS NAME=VALUE...: two nodes of two PEs each.
pes()
{
    xml=$1 nics=$2
    shift 2
    "$BUILD/bin/oshrun" -n 4 --ppn 2 --bind-to none env "$@" \
        HWLOC_XMLFILE="$xml" HWLOC_THISSYSTEM=1 FAKE_CXI_NICS=4 \
        FAKE_CXI_PCI="$nics" SHMEM_OFI_PROVIDER=cxi SHMEM_LOG=info:ofi \
        FAKE_DEVICE_COUNT=4 SHMEM_SYMMETRIC_SIZE=32M \
        "$BUILD/obj/tests/pe/init" >out 2>&1
    check [ $? -eq 0 ]
}

# takes PE NIC WHY
takes()
{
    check grep -q "^\[$1 .* ofi\] provider cxi on cxi$2 (SHMEM_OFI_PROVIDER; \
$3)" out
}

near='nearest to the GPU of this PE'
pes cuda.xml 0000:1a:01.0,0000:19:01.0,0000:18:01.0,0000:17:01.0 \
    SHMEM_DEVICE=cuda LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc"
takes 0 3 "$near"
takes 1 2 "$near"
takes 2 3 "$near"
takes 3 2 "$near"
# The names alone lead to the place, where the provider says none.
pes cuda.xml '' SHMEM_DEVICE=cuda LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc"
takes 0 3 "$near"
takes 1 2 "$near"
pes hip.xml 0000:c4:01.0,0000:c3:01.0,0000:c2:01.0,0000:c1:01.0 \
    SHMEM_DEVICE=hip LD_LIBRARY_PATH="$fake/hip:$fake/hiprtc"
takes 0 3 "$near"
takes 3 2 "$near"
# The GPU's driver is left alone where the map says it.
pes cuda.xml '' SHMEM_DEVICE=cuda LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc" \
    SHMEM_NIC_MAP=cxi1,cxi0 FAKE_DEVICE_LOG="$PWD/calls"
takes 0 1 'named by SHMEM_NIC_MAP'
takes 1 0 'named by SHMEM_NIC_MAP'
check [ ! -s calls ]
# Without a device the processors decide, and they are all this PE's.
pes cuda.xml '' SHMEM_DEVICE=none
takes 0 0 'this PE is not bound, so by number: PE 0 of 2 on this node'
takes 1 1 'this PE is not bound, so by number: PE 1 of 2 on this node'
finish out
