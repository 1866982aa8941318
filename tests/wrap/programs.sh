#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the README's programs are those of examples/; they compile as C and
# C++, by gcc and clang, shared and static, and start from anywhere.
set -u
. "$(dirname "$0")/wrap.inc"

# Each begins with its name.
mkdir home
awk '/^```c$/ { getline; file = "home/" $2; print >file; next }
    /^```/ { file = "" } file { print >file }' "$SRC/README.md"
for program in hello device; do
    sed 1d "$SRC/examples/$program.c" | cmp - "home/$program.c" ||
        fail "README.md's $program.c is not examples/$program.c"
done

# The README's own lines, in a directory of the user.
(cd home && PATH=$bin:$PATH && sed -n '/^oshcc [a-z]*\.c/p' "$SRC/README.md" \
    >lines && sh -e lines) || fail "README.md's oshcc lines fail"
greets 4 home/hello "README's program"
"$bin/oshrun" -n 4 home/device >"$out" 2>&1 || fail "device.c: $(cat "$out")"
[ "$(sort "$out")" = "$(for pe in 0 1 2 3; do
    echo "PE $pe has $(((pe + 3) % 4))"; done)" ] ||
    fail "device.c: $(cat "$out")"
here=$PWD
(cd / && "$bin/oshrun" -n 2 "$here/home/hello") >"$out" 2>&1 ||
    fail "from another directory: $(cat "$out")"
works 'without a launcher' home/hello
mkdir 'a b'
mv home/hello 'a b/moved $x'
greets 2 "$PWD/a b/moved \$x" 'moved program'

# Relative names, several sources, separate steps.
cat >part.c <<'END'
#include <shmem.h>
int part(void);
int part(void) { return shmem_my_pe(); }
END
cat >main.c <<'END'
#include <shmem.h>
int part(void);
int main(void)
{
    shmem_init();
    int bad = part() < 0;
    shmem_finalize();
    return bad;
}
END
works 'several sources' "$bin/oshcc" -Wall -Werror part.c main.c -o both &&
    works 'several sources' "$bin/oshrun" -n 2 ./both
works '-c' "$bin/oshcc" -Wall -Werror -c part.c main.c &&
    works 'objects only' "$bin/oshcc" main.o part.o -o two &&
    works 'objects only' "$bin/oshrun" -n 2 ./two
for word in -E -S -M; do
    works "$word" "$bin/oshcc" $word part.c -o "step$word"
done
grep -q shmem_init step-E && grep -q 'part:' step-S &&
    grep -q 'shmem\.h' step-M || fail 'the results of -E, -S, -M'
works 'from standard input' sh -c \
    "'$bin/oshcc' -x c - -o piped <'$hello'" && greets 2 ./piped 'piped'
ln -s "$bin/oshcc" linked
works 'a link to oshcc' ./linked -c part.c
(PATH=$PWD:$PATH && linked -c part.c) || fail 'a link to oshcc in PATH'

# A shared object that is loaded at run time.
cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *so = dlopen("./libpart.so", RTLD_NOW | RTLD_LOCAL);
    if (!so)
        puts(dlerror());
    return !so || !dlsym(so, "part");
}
END
works '-shared' "$bin/oshcc" -shared -fPIC part.c -o libpart.so &&
    if [ -z "$sanitizer" ]; then
        works 'loading' "$("$bin/oshcc" --showme:command)" load.c \
            -o load -ldl && works 'loaded' ./load
    fi

# C++.
if [ -n "$("$bin/oshc++" --showme:command)" ] &&
    have "$("$bin/oshc++" --showme:command)"; then
    cat >hello.cc <<'END'
#include <shmem.h>
#include <pshmem.h>
#include <shmemx.h>
#include <iostream>
#include <vector>
static long seen;
int main()
{
    shmem_init();
    shmem_long_atomic_inc(&seen, 0);
    shmem_barrier_all();
    std::vector<long> got(1, shmem_long_g(&seen, 0));
    std::cout << "PE " + std::to_string(shmem_my_pe()) + " of " +
        std::to_string(shmem_n_pes()) + ": PE 0 was greeted " +
        std::to_string(got[0]) + " times\n";
    shmem_finalize();
}
END
    for name in oshc++ oshcxx oshCC shmemc++ shmemcxx; do
        rm -f cxx
        works "$name" "$bin/$name" -Wall -Wextra -Werror hello.cc -o cxx
    done
    [ ! -e cxx ] || greets 3 ./cxx 'C++'
else
    echo 'skip: no C++ compiler'
fi

# The mathematical functions, as those programs expect.
cat >power.c <<'END'
#include <math.h>
#include <shmem.h>
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    shmem_finalize();
    return pow(argc + 1, 3) == 8 ? 0 : 1;
}
END
for word in '' -static-shmem --no-rpath; do
    works "libm $word" "$bin/oshcc" $word power.c -o power &&
        works "power $word" env LD_LIBRARY_PATH="$BUILD/lib" ./power
done

# The archive: nothing of ours is loaded at start.
works '-static-shmem' "$bin/oshcc" -static-shmem -x c "$hello" -o alone &&
    greets 4 ./alone '-static-shmem'
! ldd ./alone | grep -q libshmem || fail '-static-shmem is shared'

# The linker's other choices.
works '--no-rpath' "$bin/oshcc" --no-rpath "$hello" -o bare
if try ./bare && [ $status -eq 0 ]; then
    [ -n "$(ldconfig -p 2>/dev/null | grep libshmem.so.1)" ] ||
        fail '--no-rpath finds the library nevertheless'
fi
works 'LD_LIBRARY_PATH' env LD_LIBRARY_PATH="$BUILD/lib" ./bare

if have clang && [ -z "$sanitizer" ]; then
    works clang env OSH_CC='clang -Wall -Werror' "$bin/oshcc" "$hello" \
        -o clanged && greets 2 ./clanged clang
    for word in -c -E -S -M; do
        works "clang $word" env OSH_CC='clang -Werror' "$bin/oshcc" $word \
            part.c -o /dev/null
    done
fi
finish 'programs through oshcc'
