#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SHMEM_TRACE_RANGES gives calls to NVTX or ROCTx as ranges, each of
# which ends, with and without a trace; a line says that there is no such library.
# Light: short jobs
# Timeout: 60
. "$(dirname "$0")/trace.inc"
export SHMEM_TRACE_RANGES=1

program traced <<'C'
int main(void)
{
    static long word;

    shmem_init();
    shmem_long_p(&word, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
C

# A library that writes each range, indented by its depth.
library()
{
    prefix=$1
    sed "s/PREFIX/$prefix/g" >"$prefix.c" <<'C'
#include <stdio.h>
static __thread int depth;

int PREFIXRangePushA(const char *s)
{
    fprintf(stderr, "PREFIX %d %s\n", depth, s);
    return depth++;
}

int PREFIXRangePop(void)
{
    fprintf(stderr, "PREFIX %d end\n", --depth);
    return depth;
}

void PREFIXMarkA(const char *s)
{
    fprintf(stderr, "PREFIX %d %s\n", depth, s);
}
C
    ${CC:-cc} -shared -fPIC -o "$2" "$prefix.c" || exit 1
}

# ranges PREFIX FILE
ranges()
{
    rm -f lib*
    library "$1" "$2"
    LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} try 2 ./traced
    [ $status -eq 0 ] || fail "$2: status $status: $(head -n 5 "$err")"
    for call in shmem_long_p shmem_long_wait_until shmem_barrier_all; do
        [ "$(grep -cx "$1 0 $call" "$err")" -eq 2 ] ||
            fail "$2: not two ranges of $call: $(head -n 5 "$err")"
    done
    [ "$(grep -c " end$" "$err")" -ge 6 ] && ! grep -q ' -[0-9]* ' "$err" ||
        fail "$2: ranges without ends: $(head -n 20 "$err")"
}

# Where the system has such a library, ours takes its place under the first name
# alone.
names=libnvtx3interop.so
try 2 ./traced
[ $status -eq 0 ] || fail "no library: status $status: $(head -n 3 "$err")"
if grep -q SHMEM_TRACE_RANGES "$err"; then
    grep -qE '^sluice: PE 0 \([^ ]+\): SHMEM_TRACE_RANGES: there is neither NVTX .* nor ROCTx .* \[S-W-TRACE\]' \
        "$err" || fail "no library: $(head -n 3 "$err")"
    names="$names libnvToolsExt.so.1 librocprofiler-sdk-roctx.so libroctx64.so.4"
fi
for trace in "$SHMEM_TRACE" ''; do
    SHMEM_TRACE=$trace
    rm -f t.json
    for name in $names; do
        case $name in
            libnv*) ranges nvtx $name ;;
            *) ranges roctx $name ;;
        esac
    done
    [ -n "$trace" ] && well_formed || [ ! -e t.json ] || fail 'a file unasked'
done
finish 'ranges of NVTX and ROCTx'
