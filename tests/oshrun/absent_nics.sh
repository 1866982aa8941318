#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: between nodes the libraries of NICs that the machine lacks, which
# libfabric of the distribution is linked with, stay out of the process; they are
# loaded where there is such a NIC, and stay if the program has them already.
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
fabric=$(ldconfig -p 2>/dev/null | sed -n 's/.*libfabric\.so\.1 .*=> //p' | head -n 1)
[ "$fabric" ] && ldd "$fabric" | grep -q 'libpsm2\.so\.2' ||
    skip 'libfabric is not linked with libpsm2'

program loaded <<'C'
#include <dlfcn.h>

int main(int argc, char **argv)
{
    char line[4096];
    FILE *f;

    if (argc > 1 && !dlopen(argv[1], RTLD_LAZY))
        return 3;
    shmem_init();
    f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        if (shmem_my_pe() == 0 && strstr(line, " r-xp ") &&
            strstr(line, "/libpsm"))
            printf("%s", strchr(line, '/'));
    shmem_finalize();
    return 0;
}
C

# finds REGEX: of what was mapped, a line each.
finds()
{
    [ $status -eq 0 ] && [ ! -s "$err" ] || fail "$how: status $status: $(cat "$err")"
    [ "$(sort "$out" | sed 's|.*/lib/|lib/|' | paste -sd' ')" = "$1" ] ||
        fail "$how: $(cat "$out")"
}
how='one node'
try 2 ./loaded
finds ''
how='two nodes'
try 2 --ppn 1 ./loaded
finds 'lib/sluice/libpsm2.so.2 lib/sluice/libpsm_infinipath.so.1'
how='loaded before'
try 2 --ppn 1 ./loaded libpsm2.so.2
grep -q '/sluice/libpsm2' "$out" && fail "$how: $(cat "$out")"
grep -q '/libpsm2\.so' "$out" || fail "$how: $(cat "$out")"

# A device of Omni-Path, in a name space where /dev is a copy.
how='with a NIC'
cat >dev.sh <<'S'
mkdir dev && mount -t tmpfs none dev || exit 77
for name in null zero full random urandom tty ptmx; do
    [ ! -e /dev/$name ] || { : >dev/$name; mount --bind /dev/$name dev/$name; } || exit 77
done
mkdir dev/shm dev/pts
mount --rbind /dev/shm dev/shm && mount --rbind /dev dev/pts || exit 77
: >dev/hfi1_0
mount --rbind dev /dev || exit 77
exec "$@"
S
timeout 60 unshare -m sh dev.sh "$bin/oshrun" -n 2 --ppn 1 ./loaded >"$out" 2>"$err"
status=$?
if [ $status -eq 77 ] || grep -q '^unshare:' "$err"; then
    echo 'skip: no name space of mounts for a device'
else
    [ $status -eq 0 ] || fail "$how: status $status: $(cat "$err")"
    grep -q '/sluice/' "$out" && fail "$how: $(cat "$out")"
    grep -q '/libpsm2\.so' "$out" || fail "$how: $(cat "$out")"
fi
finish 'libraries of absent NICs'
