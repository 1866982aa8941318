#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: where the processor reaches the device memory of some PEs only,
# the device heap is pinned host memory on all of them, on one node and on
# several.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo "this machine's devices are all alike"; exit 77; }
: >failed
cat >first_differs <<'END'
#!/bin/sh
[ "$SLUICE_JOB_PE" != 0 ] || SHMEM_DEVICE=software
exec "$@"
END
chmod +x first_differs
for n in 2 '4 --ppn 2' '2 --ppn 1'; do
    # shellcheck disable=SC2086
    on cuda-discrete "$BUILD/bin/oshrun" -n $n ./first_differs \
        "$at/pe/nbi_completes" >said 2>&1 || echo "exit status $?: $n" >>failed
    grep -q 'lies in pinned host memory' said || echo "not said: $n" >>failed
    [ ! -s failed ] || head -n 20 said >>failed
done
grep -q 'reaches that of some of them only' said || cat said >>failed
finish
