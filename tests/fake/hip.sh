#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the driver for AMD's GPUs works on each version of the runtime,
# on a card, on a processor that is a GPU, too, and where every option is
# absent; and says what is wrong where it cannot.
# Timeout: 120
# Light: its programs wait most of the time
set -u
. "$(dirname "$0")/fake.inc"
SHMEM_DEVICE=hip
export SHMEM_DEVICE
unset FAKE_DEVICE FAKE_DEVICE_COUNT FAKE_DEVICE_QUEUES FAKE_DEVICE_LOG \
    FAKE_DEVICE_FAIL FAKE_DEVICE_MEMORY FAKE_HIP_WAIT FAKE_HIP_PINNED \
    FAKE_HIP_IO FAKE_HIP_USED FAKE_HIP_SOURCE FAKE_HIPRTC GPU_MAX_HW_QUEUES SHMEM_LOG \
    FAKE_HIP_GRAIN GPU_STREAMOPS_CP_WAIT FAKE_DEVICE_WAITS FAKE_DEVICE_COARSE \
    SHMEM_DEVICE_GRAIN
out=hip.out
: >"$out"
new=$fake/hip:$fake/hiprtc

# on MAJOR PERSONALITY TEST...; `also` holds more of the environment.  Four at
# a time: they wait for words and streams more than they compute.
also='' turn=0
: >failed
on()
{
    major=$1 is=$2
    shift 2
    path=$new
    [ "$major" = 5 ] && path=$fake/hip5
    # shellcheck disable=SC2086  # words
    env LD_LIBRARY_PATH="$path" FAKE_HIP_MAJOR="$major" FAKE_DEVICE="$is" \
        $also timeout 60 "$fake/hip_driver" "$@" >>"$out" 2>&1 ||
        echo "HIP $major, $is, $also: $*" >>failed &
    turn=$((turn + 1))
    [ $((turn % 4)) -ne 0 ] || wait
}

# asked MAJOR PERSONALITY: what is asked of every driver.
asked()
{
    for test in gtl gtl_stream gtl_reduce gtl_peer_copy gtl_graph; do
        path=$new
        [ "$1" = 5 ] && path=$fake/hip5
        FAKE_HIP_MAJOR=$1 FAKE_DEVICE=$2 LD_LIBRARY_PATH=$path \
            "$BUILD/obj/tests/unit/$test" >>"$out" 2>&1 ||
            echo "HIP $1, $2: $test" >>failed
    done
}

most='device memory blocks atomics words device_words calls streams last_error programs_pin
    dmabuf'
for major in 5 6 7; do
    # shellcheck disable=SC2086
    for is in discrete coherent bare; do
        on $major $is $most
    done
    on $major discrete no_memops
    [ "$major" = 5 ] || on "$major" discrete programs_pool
    on $major bare no_memops coarse
    on $major discrete lending
    also=FAKE_DEVICE_QUEUES=4 on $major discrete words calls
done

# What comes before a doorbell is released by an event for the system.
also=FAKE_DEVICE_LOG=$PWD/released on 6 discrete words
wait
grep -q 'hipEventRecord releases$' released || echo 'no release' >>failed

for is in discrete coherent bare; do
    asked 6 $is &
done
asked 5 discrete &
wait

# Two devices: the PE's own, unless the program has been at the first one,
# which a runtime of version 5 cannot tell.
also=FAKE_DEVICE_COUNT=2
on 5 discrete second_device others_device
on 6 discrete second_device others_device
also='FAKE_DEVICE_COUNT=2 FAKE_HIP_USED=1'
on 5 discrete second_device
on 7 discrete first_device others_device

# A wait is a kernel but where the command processor does it, which it does
# for the runtime's own signals alone.
also=GPU_STREAMOPS_CP_WAIT=1
on 6 discrete no_memops words device_words
also='GPU_STREAMOPS_CP_WAIT=1 FAKE_DEVICE_WAITS=processor'
on 6 discrete memops words device_words

# Device memory is what kernels can poll, and other processes open.
also=
on 5 discrete fine
on 6 discrete uncached
on 7 coherent uncached
also=FAKE_HIP_GRAIN=none
on 6 discrete coarse device_words
also=FAKE_HIP_GRAIN=silent
on 6 discrete coarse device_words
also=FAKE_HIP_GRAIN=kept
on 6 discrete lending fine
also=SHMEM_DEVICE_GRAIN=fine
on 6 discrete fine device_words
also=SHMEM_DEVICE_GRAIN=coarse
on 6 discrete coarse device_words
wait
check [ "$(grep -c 'SHMEM_DEVICE_GRAIN' "$out")" -eq 0 ]
also='SHMEM_DEVICE_GRAIN=fine FAKE_HIP_GRAIN=silent'
on 6 discrete stale device_words
also='SHMEM_DEVICE_GRAIN=uncached FAKE_HIP_GRAIN=none'
on 6 discrete coarse device_words
wait
check grep -q 'SHMEM_DEVICE_GRAIN=fine: .* does not see there .*\[S-W-DEVICE\]' "$out"
check grep -q 'SHMEM_DEVICE_GRAIN=uncached: hipExtMallocWithFlags: .*\[S-W-DEVICE\]' "$out"

# A wait that does not hear the processor is found out, and replaced.
also=FAKE_HIP_WAIT=deaf
on 6 discrete no_memops words device_words
also=FAKE_HIP_PINNED=moved
on 6 discrete memory blocks atomics words device_words

# What makes streams that wait lock up is told of.
also=HIP_LAUNCH_BLOCKING=1
on 6 discrete device
also=
wait
check grep -q 'HIP_LAUNCH_BLOCKING=1: .*\[S-W-DEVICE\]' "$out"

# Without a compiler, by absence and by failure.
also=
new=$fake/hip
on 6 discrete atomics_of_processor blocks words calls streams
on 6 coherent atomics_of_processor blocks words
new=$fake/hip:$fake/hiprtc
also=FAKE_HIPRTC=fails
on 7 discrete atomics_of_processor blocks words
wait

# The kernels are what a compiler for these GPUs takes.
also=FAKE_HIP_SOURCE=hip.source
on 6 discrete device
wait
amdgpu='-x hip --cuda-device-only -nogpulib -nogpuinc -O2 -Wall -Werror'
# shellcheck disable=SC2086
if echo 'extern "C" __attribute__((global)) void k(void) {}' |
    clang $amdgpu --offload-arch=gfx90a -S -o /dev/null - 2>/dev/null; then
    for arch in gfx906 gfx908 gfx90a gfx1030; do
        check clang $amdgpu --offload-arch=$arch -S -o hip.s hip.source
        check grep -q 'sluice_peer_copy' hip.s
    done
else
    echo "no compiler for the GPU: the kernels' text is not compiled" >&2
fi

# says REGEX: the line of a device that cannot be had.
says()
{
    # shellcheck disable=SC2086
    env LD_LIBRARY_PATH="$new" FAKE_HIP_MAJOR=6 $also \
        "$fake/hip_driver" device \
        >hip.err 2>&1
    check [ $? -eq 2 ]
    check grep -q "SHMEM_DEVICE=hip: $1 \\[S-W-DEVICE\\]\$" hip.err
    check [ "$(grep -c sluice hip.err)" -eq 1 ]
    cat hip.err >>"$out"
}
also=FAKE_DEVICE_COUNT=0
says 'hipInit: no AMD GPU here'
also=FAKE_DEVICE_FAIL=hipInit:35
says 'hipInit: driver version is insufficient .*hipErrorInsufficientDriver (35)'
also=FAKE_HIP_WAIT=dead
says 'hipStreamWaitValue64: a wait that was ended goes on'
also="FAKE_DEVICE_FAIL=hipHostRegister:2 FAKE_DEVICE_LOG=$PWD/undone"
says 'hipHostRegister: out of memory, hipErrorOutOfMemory (2)'
# Each call that wants a device tries to open it: what it made is undone.
calls_of()
{
    grep -cE " $1\$" undone
}
check [ "$(calls_of hipEventCreateWithFlags)" -gt 0 ]
check [ "$(calls_of hipEventCreateWithFlags)" -eq "$(calls_of hipEventDestroy)" ]
check [ "$(calls_of hipModuleLoadData)" -gt 0 ]
check [ "$(calls_of hipModuleLoadData)" -eq "$(calls_of hipModuleUnload)" ]
if ! ldconfig -p 2>/dev/null | grep -q libamdhip64; then
    also=
    new=/nonexistent
    says 'dlopen of libamdhip64.so.7, .6 and .5: no AMD HIP runtime .* (2)'
fi
check [ ! -s failed ]
finish "$out" failed
