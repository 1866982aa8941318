#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a program that unloads the plug-in through which it uses the
# library, shared or as an archive, ends with its own exit status, whether or
# not the plug-in has called shmem_finalize.
set -u
. "$(dirname "$0")/wrap.inc"
[ -z "$sanitizer" ] || skip 'a sanitizer wants a program that has its runtime'

cat >plugin.c <<'END'
#include <shmem.h>

int plugin_run(int finalize)
{
    int me;

    shmem_init();
    me = shmem_my_pe();
    shmem_barrier_all();
    if (finalize)
        shmem_finalize();
    return me;
}
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int);
    int me;

    if (argc < 4 || !plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    *(void **)&run = dlsym(plugin, "plugin_run");
    me = run(atoi(argv[2]));
    printf("PE %d: dlclose %d\n", me, dlclose(plugin));
    fflush(stdout);
    return atoi(argv[3]);
}
END

# closed WORDS KIND: under both, with and without finalize.
closed()
{
    "$bin/oshcc" $1 -fPIC -shared plugin.c -o plugin.so 2>"$err" || {
        fail "$2: no plug-in: $(cat "$err")"
        return
    }
    works "$2, finalized" "$bin/oshrun" -n 2 ./program ./plugin.so 1 0
    [ "$(grep -c 'dlclose 0' "$out")" = 2 ] || fail "$2: $(cat "$out")"
    works "$2, alone" ./program ./plugin.so 1 0
    works "$2, not finalized" "$bin/oshrun" -n 2 ./program ./plugin.so 0 0
    "$bin/oshrun" -n 2 ./program ./plugin.so 1 3 >"$out" 2>"$err"
    [ $? = 3 ] || fail "$2: not status 3: $(cat "$out" "$err")"
}

"${OSH_CC:-cc}" program.c -o program -ldl || fail 'program.c does not compile'
closed '' 'shared library'
closed -static-shmem archive
finish 'a plug-in that is closed leaves nothing to call'
