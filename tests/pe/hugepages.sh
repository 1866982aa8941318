#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SHMEM_HUGEPAGES=off|thp|2m|1g gives these pages where the machine
# has them, and a line and small ones where it has not.  As root, the settings
# of the machine are changed for the length of the test.
# Timeout: 60
set -u
: "${BUILD:?the build directory}"
pe=$BUILD/obj/tests/pe
thp=/sys/kernel/mm/transparent_hugepage
pages=/sys/kernel/mm/hugepages
failures=0
tried=

fail()
{
    echo "FAIL: $*"
    tail -n 12 out
    failures=$((failures + 1))
}

# set_to FILE VALUE: until the end.
restore=:
set_to()
{
    was=$(sed 's/.*\[\(.*\)\].*/\1/' "$1" 2>/dev/null) || return 1
    [ "$was" != "$2" ] || return 0
    # shellcheck disable=SC2320
    echo "$2" 2>/dev/null >"$1" || return 1
    restore="echo $was >$1; $restore"
}
trap 'eval "$restore"' EXIT
trap 'exit 1' INT TERM HUP

# run HUGEPAGES SIZE PES PAGES PROGRAM...
run()
{
    how=$1 size=$2 n=$3 T_PAGES=$4
    export T_PAGES
    shift 4
    SHMEM_HUGEPAGES=$how SHMEM_SYMMETRIC_SIZE=$size SHMEM_INFO=1 \
        "$BUILD/bin/oshrun" -n "$n" "$@" >out 2>&1 ||
        fail "SHMEM_HUGEPAGES=$how $size $n $*"
    tried="$tried $how:$T_PAGES"
}

says()
{
    grep -qE "$1" out || fail "no '$1'"
}

all=$(awk '/^MemAvailable/ { print int($2 / 1024 / 2) }' /proc/meminfo)
free=$(cat $pages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)
if [ $((free * 2)) -lt "$all" ]; then
    run 2m "${all}m" 1 '' "$pe/ptr"
    says 'SHMEM_HUGEPAGES: the heaps take .* in pages of 2\.0 MiB, but only .* are free \(.*\): reserve more .*; the usual ones serve in their place \[S-W-HEAP\]'
fi

state=$(sed 's/.*\[\(.*\)\].*/\1/' $thp/shmem_enabled 2>/dev/null)
case ${state:-absent} in never) set_to $thp/shmem_enabled advise ;; esac
case $(sed 's/.*\[\(.*\)\].*/\1/' $thp/shmem_enabled 2>/dev/null) in
    advise | always | within_size)
        run thp 32m 2 thp "$pe/heap_pages"
        says '^heap pages: transparent huge pages'
        run off 32m 2 small "$pe/heap_pages"
        says '^heap pages: .* \(SHMEM_HUGEPAGES is off\)' ;;
esac

set_to $pages/hugepages-2048kB/nr_hugepages \
    $(($(cat $pages/hugepages-2048kB/nr_hugepages 2>/dev/null || echo 0) + 40))
free=$(cat $pages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)
if [ "$free" -ge 38 ]; then
    run 2m 9m 3 2048 "$pe/heap_pages"
    says '^heap pages: 2\.0 MiB pages, reserved; '
    run 2m 9m 3 2048 --pmix "$pe/heap_pages"
    run 2m 9m 3 2048 "$pe/ptr"
    run 2m 4m 4 2048 "$pe/heap"
    run 2m 9m 2 2048 "$pe/static_data"
    # Static data is in another file than the heap, and a store wakes as ever.
    run 2m 9m 2 2048 env SHMEM_STATS=1 "$pe/arrival_wakes_static_data"
    says 'PE 1 .*: waits: .*; ([0-9]|1[0-4]) updates woke no PE'
    run 2m 33m 2 2048 env SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16m \
        "$pe/align"
    # Programs that differ share no static data, and keep no file for them.
    cat >differ.c <<'C'
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char more[SIZE] = "x";

int main(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *e;
    char to[256];
    int files = 0;

    shmem_init();
    while (dir && (e = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof to - 1);

        to[n < 0 ? 0 : n] = '\0';
        files += !strncmp(to, "/memfd:sluice", 13) &&
                 !strstr(to, "sluice-status");
    }
    if (dir)
        closedir(dir);
    printf("files: %d\n", files);
    shmem_finalize();
    return 0;
}
C
    for size in 64 100000; do
        "$BUILD/bin/oshcc" -DSIZE=$size differ.c -o differ.$size || exit 1
    done
    # shellcheck disable=SC2016
    run 2m 9m 2 2048 sh -c '[ "$SLUICE_JOB_PE" = 0 ] && exec ./differ.64
        exec ./differ.100000'
    says 'programs whose static data differ'
    says '^heap pages: 2\.0 MiB pages, reserved; '
    [ "$(grep -cx 'files: 1' out)" -eq 2 ] || fail 'the files of memory'
    left=$(cat $pages/hugepages-2048kB/free_hugepages)
    [ "$left" -eq "$free" ] || fail "$left of $free huge pages are left"
    # One page too few: reported at start, not by a signal.
    run 2m $((free * 2))m 1 '' "$pe/heap_pages"
    says 'only .* are free .* serve in their place \[S-W-HEAP\]'
fi

set_to $pages/hugepages-1048576kB/nr_hugepages 1
if [ "$(cat $pages/hugepages-1048576kB/free_hugepages 2>/dev/null ||
    echo 0)" -ge 1 ]; then
    run 1g 64m 1 1048576 "$pe/heap_pages"
    says '^heap pages: 1\.0 GiB pages, reserved; '
fi
echo "tried:$tried"
[ $failures -eq 0 ]
