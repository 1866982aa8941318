#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: each shape in which the drafts make one call compiles without a
# word and does the same in C99, C11 and C++, and plain names are functions.
set -u
: "${BUILD:?the build directory}"
cat >shapes.c <<'END'
#include <shmemg.h>
#include <stdio.h>

#ifdef __cplusplus
#define INTS (int *)
#else
#define INTS (void *)
#endif

/* What each draft may write before it. */
SHMEMG_DEVICE int plain(void);
SHMEMG_DEVICE int plain(void) { return 0; }

int main(void)
{
    void (*release)(shmem_space_t, void *) = shmem_space_free;
    void *(*take)(shmem_space_t, size_t) = shmem_space_malloc;
    int (*aware)(int *) = shmem_query_device_awareness;
    int a = -1, bad, provided;
    shmem_space_config_t config;
    shmem_space_t s = SHMEM_SPACE_INVALID;
    int *p, *q, *r;

    bad = shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT,
                            &provided);
    bad += !(provided & SHMEM_DEVICE_HOST_INIT);
    p = INTS shmem_space_alloc(SHMEM_SPACE_DEVICE, sizeof *p);
    q = INTS shmem_space_alloc(SHMEM_SPACE_DEVICE, 3, sizeof *q);
    r = INTS take(SHMEM_SPACE_GPU, 8);
    bad += !p || !q || !r || shmem_int_g(q + 2, shmem_my_pe()) != 0;
    bad += shmem_query_device_awareness() != 1;
    bad += shmem_query_device_awareness(&a) != 1 || a != 1;
    bad += aware(NULL) != 1 || plain();
    shmem_space_free(p);
    shmem_space_free(SHMEM_SPACE_DEVICE, q);
    release(SHMEM_SPACE_GPU, r);
    if (SHMEM_SPACE_GPU != SHMEM_SPACE_INVALID)     /* as drafts test it */
        p = INTS shmem_space_calloc(SHMEM_SPACE_GPU, 4, sizeof *p);
    if (shmem_space_is_available(SHMEM_SPACE_GPU) == 0)
        shmem_space_free(SHMEM_SPACE_GPU, p);
    config.device_type = SHMEM_DEVICE_GPU;
    config.size = 4096;
    config.flags = 0;
    bad += shmem_space_create(&config, &s, NULL) || shmem_space_destroy(s);
    /* The names that a profiling tool wraps. */
    bad += pshmem_space_malloc(SHMEM_SPACE_INVALID, 1) != NULL;
    bad += pshmemg_malloc(0) != NULL;
    if (bad)
        printf("%d wrong\n", bad);
    shmem_finalize();
    return bad != 0;
}
END
cp shapes.c shapes.cc
printf '#include <shmem.h>\n#ifdef SHMEM_SPACE_H\n#error not strict\n#endif\n' >strict.c
failed=0
# good COMPILER FILE OPTION...
good()
{
    cc=$1 file=$2
    shift 2
    echo "-- $cc $file $*"
    if ! "$BUILD/bin/$cc" "$@" -Wall -Wextra -pedantic -Werror -o shapes \
        "$file" || ! timeout -k 5 60 "$BUILD/bin/oshrun" -n 2 ./shapes; then
        echo "FAIL: $cc $file $*" >&2
        failed=1
    fi
}
good oshcc shapes.c -std=c99
good oshcc shapes.c -std=c11
# A sanitizer's library is one compiler's.
sanitizer=$("$BUILD/bin/oshcc" --showme:compile | grep -e -fsanitize)
for clang in clang clang-14; do
    [ -z "$sanitizer" ] && command -v $clang >/dev/null || continue
    OSH_CC=$clang
    export OSH_CC
    good oshcc shapes.c -std=c99
    good oshcc shapes.c -std=c11
    unset OSH_CC
    break
done
if command -v "${CXX:-c++}" >/dev/null; then
    good oshc++ shapes.cc -std=c++11
    good oshc++ shapes.cc -std=c++17
fi
"$BUILD/bin/oshcc" -DSHMEM_STRICT -fsyntax-only strict.c || failed=1
exit $failed
