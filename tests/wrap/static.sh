#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: oshcc -static makes a program without shared libraries, which runs
# on one node, or names in one line each archive that is not there.
# Timeout: 120
set -u
. "$(dirname "$0")/wrap.inc"
[ -z "$sanitizer" ] || skip 'a sanitizer has no static programs'
cc=$("$bin/oshcc" --showme:command)

# --- What the line says, by compilers that find no archive of some names. ---
# picky NAME WORDS...: ./NAME fails where one of the words is in its command.
picky()
{
    name=$1
    shift
    {
        echo '#!/bin/sh'
        echo 'for word; do case $word in'
        for word; do echo "'$word') echo cannot >&2; exit 4 ;;"; done
        echo 'esac; done'
        echo 'echo compiled'
    } >"$name"
    chmod 755 "$name"
}

picky both -lhwloc -lpmix
picky library -l:libshmem.a
picky libc -static
picky source a.c
for word in -static --static; do
    refused S-E-STATIC 'not there: libpmix.a, libhwloc.a; .*-static-shmem' \
        env OSH_CC="$PWD/both" "$bin/oshcc" "$word" a.c
done
refused S-E-STATIC 'not there: libshmem.a;' \
    env OSH_CC="$PWD/library" "$bin/oshcc" -static a.c
refused S-E-STATIC 'makes no static program.*libc.a' \
    env OSH_CC="$PWD/libc" "$bin/oshcc" -static a.c
# A fault of the source is the compiler's to tell.
try env OSH_CC="$PWD/source" "$bin/oshcc" -static a.c
[ "$status $(cat "$err")" = '4 cannot' ] ||
    fail "a fault in the source: status $status, $(cat "$err")"
# Of an object nothing is linked.
prints compiled env OSH_CC="$PWD/both" "$bin/oshcc" -static -c a.c

# --- The program.  Debian has no libudev.a, and that of munge in a package that
# may not be there: what hwloc and PMIx call of them answers that there is
# nothing. ---
try "$bin/oshcc" -static "$hello" -o static
absent=$(sed -n 's/.* not there: \([^;]*\);.*\[S-E-STATIC\]$/\1/p' "$err")
case $status,$absent in
    0,) ;;
    1,libmunge.a | 1,libudev.a | 1,libmunge.a,\ libudev.a)
        mkdir standin
        cat >standin.c <<'END'
#include <stddef.h>
void *udev_new(void) { return NULL; }
void *udev_unref(void *udev) { return udev; }
void *udev_device_new_from_subsystem_sysname(void *udev, const char *subsystem,
                                             const char *name)
{ (void)udev, (void)subsystem, (void)name; return NULL; }
const char *udev_device_get_property_value(void *device, const char *key)
{ (void)device, (void)key; return NULL; }
void *udev_device_unref(void *device) { return device; }
int munge_encode(void) { return 1; }
int munge_decode(void) { return 1; }
const char *munge_strerror(int error) { (void)error; return "none"; }
END
        works stand-ins "$cc" -c standin.c -o standin.o
        for archive in $(echo "$absent" | tr -d ,); do
            ar rcs "standin/$archive" standin.o
        done
        echo "with stand-ins for $absent" ;;
    *)
        [ $failures -eq 0 ] || finish
        [ -n "$absent" ] || { fail "-static: $(tail -n 5 "$err")"; finish; }
        skip "no static program: there is no $absent" ;;
esac

# Static data keeps its values and is symmetric, and the C library, whose data
# is among it, goes on: its heap, its streams, its threads, a child.
cat >data.c <<'END'
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static long in_data = 17, in_bss, large[1 << 20], sum, part;
static void *add(void *p)
{
    void *block = malloc(100000);
    in_bss += *(int *)p;
    free(block);
    return block;
}
static int seen(int me, int before)
{
    return in_data == 100 + before && in_bss == 7 + me && sum == part * 3 &&
           large[sizeof large / sizeof *large - 1] == before + 1;
}
int main(int argc, char **argv)
{
    char *early = malloc(5000), *late;
    pthread_t thread;
    int me, next, before;
    (void)argv;
    in_data++;
    in_bss = 7;
    printf("%s", "");
    shmem_init();
    me = shmem_my_pe();
    next = (me + 1) % 3;
    before = (me + 2) % 3;
    if (shmem_n_pes() != 3 || in_data != 18)
        return 3;
    late = malloc(300000);
    free(early);
    pthread_create(&thread, NULL, add, &me);
    pthread_join(thread, NULL);
    if (argc > 1 && fork() == 0)
        _exit(0);
    if (system("exit 5") != 5 << 8)
        return 4;
    shmem_barrier_all();
    shmem_long_p(&in_data, 100 + me, next);
    shmem_long_atomic_add(&large[sizeof large / sizeof *large - 1], me + 1, next);
    part = 11;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &part, 1);
    shmem_barrier_all();
    if (!seen(me, before))
        return 5;
    free(late);
    printf("PE %d\n", me);
    shmem_finalize();
    if (!seen(me, before))
        return 6;
    pthread_create(&thread, NULL, add, &me);
    pthread_join(thread, NULL);
    if (fork() == 0)
        _exit(0);
    return wait(NULL) < 0;
}
END
# linked WORDS...: this program passes and has no dynamic linker.
linked()
{
    rm -f data
    works "oshcc $*" "$bin/oshcc" "$@" -L standin data.c -o data || return
    ! readelf -l data | grep -q INTERP || fail "$*: a dynamic linker"
    works "run of oshcc $*" "$bin/oshrun" -n 3 ./data
    [ "$(sort "$out" | tr '\n' ' ')" = 'PE 0 PE 1 PE 2 ' ] ||
        fail "$*: $(cat "$out" "$err")"
}
linked -static-pie
linked -static -O2
# A fork would let the child write the C library's data of the PE.
try "$bin/oshrun" -n 3 ./data fork
[ $status -ne 0 ] && grep -q 'fork in a program linked with -static.*FORK\]' \
    "$err" || fail "fork: status $status, $(cat "$err")"

works -static "$bin/oshcc" -static -L standin "$hello" -o static || finish
greets 4 ./static -static
works 'one PE' ./static
works 'oshrun --pmix' "$bin/oshrun" --pmix -n 2 ./static
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if have mpirun && mpirun -n 1 sh -c '[ "${PMIX_RANK-}" = 0 ]' 2>"$err"; then
    works mpirun mpirun --oversubscribe -n 3 ./static
    [ "$(grep -c 'of 3: PE 0 was greeted 3 times$' "$out")" -eq 3 ] ||
        fail "mpirun: $(cat "$out" "$err")"
else
    echo 'passed over: there is no mpirun that has PMIx'
fi
if have "$("$bin/oshc++" --showme:command)"; then
    works 'oshc++ -static' "$bin/oshc++" -static -L standin -x c++ \
        "$hello" -o plus && greets 2 ./plus 'C++'
fi
# With a name that nothing defines the archives are not to blame.
try "$bin/oshcc" -static -L standin -Dmain=start "$hello" -o none
[ $status -ne 0 ] && ! grep -q S-E- "$err" ||
    fail "no main: status $status, $(tail -n 1 "$err")"

# Networks and GPUs are reached by shared libraries, which it cannot load.
try "$bin/oshrun" -n 2 --ppn 1 ./static
[ $status -ne 0 ] && [ $status -lt 128 ] &&
    grep -q 'linked with -static cannot load it.*-static-shmem \[S-E-NET\]' \
        "$err" || fail "two nodes: status $status, $(cat "$err")"
cat >device.c <<'END'
#include <shmemx.h>
int main(void)
{
    shmem_init();
    void *block = shmem_space_malloc(SHMEM_SPACE_DEVICE, 64);
    shmem_finalize();
    return block != NULL;
}
END
works 'device.c' "$bin/oshcc" -static -L standin device.c -o device
for device in cuda hip; do
    works "$device" env SHMEM_DEVICE=$device "$bin/oshrun" -n 1 ./device
    grep -q 'linked with -static loads no driver.*\[S-W-DEVICE\]' "$err" ||
        fail "$device: $(cat "$err")"
done
finish 'static programs'
