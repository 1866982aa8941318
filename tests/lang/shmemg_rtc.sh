#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: NVIDIA's compiler at run time, which has no header of the host,
# compiles calls of shmemg.h, and the module has a state.
# Timeout: 60
set -u
: "${BUILD:?the build directory}" "${SRC:?the source directory}"

# Beside nvcc, or where the loader looks.
nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc")
for rtc in "${nvcc%/bin/nvcc}"/lib*/libnvrtc.so* libnvrtc.so.13 \
    libnvrtc.so.12 none; do
    [ ! -e "$rtc" ] || break
    ldconfig -p | grep -q "[[:space:]]$rtc " && break
done
[ "$rtc" != none ] || { echo 'skip: no libnvrtc'; exit 77; }

cat >rtc.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char text[] =
    "#include <shmemg.h>\n"
    "extern \"C\" __global__ void shift(long *dest, long value)\n"
    "{\n"
    "    int right = (shmemg_my_pe() + 1) % shmemg_n_pes();\n"
    "    shmemg_long_p(dest, value, right);\n"
    "    shmemg_putmem_tg(dest + 1, dest, 64, right);\n"
    "    shmemg_uint64_atomic_add((unsigned long *)dest, 1, right);\n"
    "    shmemg_quiet_tg();\n"
    "    shmemg_sync_all_tg();\n"
    "}\n";

static void *lib;

static void *call(const char *name)
{
    void *p = dlsym(lib, name);

    if (!p)
        exit(3);
    return p;
}

/* rtc LIBRARY OPTION...: PTX to standard output. */
int main(int argc, char **argv)
{
    int (*create)(void **, const char *, const char *, int,
                  const char *const *, const char *const *);
    int (*compile)(void *, int, char *const *);
    int (*size)(void *, size_t *), (*get)(void *, char *);
    void *program;
    char *out;
    size_t n = 0;
    int rc;

    lib = dlopen(argv[1], RTLD_NOW);
    if (!lib) {
        puts(dlerror());
        return 77;
    }
    *(void **)&create = call("nvrtcCreateProgram");
    *(void **)&compile = call("nvrtcCompileProgram");
    if (create(&program, text, "shift.cu", 0, NULL, NULL))
        return 2;
    rc = compile(program, argc - 2, argv + 2);
    *(void **)&size = call(rc ? "nvrtcGetProgramLogSize" : "nvrtcGetPTXSize");
    *(void **)&get = call(rc ? "nvrtcGetProgramLog" : "nvrtcGetPTX");
    if (size(program, &n) || !(out = calloc(1, n + 1)) || get(program, out))
        return 2;
    puts(out);
    return rc != 0;
}
C
${CC:-cc} -Wall -Wextra -Werror rtc.c -o rtc -ldl || exit 1

failed=0 ran=0
for options in '--gpu-architecture=compute_75' \
    '--gpu-architecture=compute_90 -std=c++11' \
    '--gpu-architecture=compute_90 -rdc=true'; do
    rc=0
    # shellcheck disable=SC2086
    ./rtc "$rtc" -I"$SRC/include" $options >ptx || rc=$?
    [ $rc -ne 77 ] || { echo "skip: $(head -n 1 ptx)"; exit 77; }
    if [ $rc -ne 0 ]; then
        echo "FAIL: $options: $(head -n 8 ptx)"
        failed=1
    elif ! grep -qE '^(\.visible )?\.const .* shmemi_dev_state\[' ptx; then
        echo "FAIL: $options: no state"
        failed=1
    fi
    ran=$((ran + 1))
done
[ $failed -eq 0 ] && echo "ok: $ran compilations by $rtc"
[ $failed -eq 0 ]
