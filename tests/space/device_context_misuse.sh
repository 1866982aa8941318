#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a host call on a context of kernels, a predefined device team
# destroyed, and a block freed twice end the job with a line that says so; a
# block freed in another space is told of.
set -u
: "${BUILD:?the build directory}"
cat >wrong.c <<'END'
#include <shmemg.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    shmem_ctx_t made, ctx;
    long *p, v = 1;

    shmem_init();
    p = shmemg_malloc(64);
    shmem_ctx_create(SHMEM_DEVICE_CTX, &made);
    ctx = atoi(argv[2]) ? made : SHMEM_DEVICE_CTX_DEFAULT;
    switch (argc > 2 ? argv[1][0] : 0) {
    case 'p': shmem_ctx_long_put(ctx, p, &v, 1, 0); break;
    case 'g': shmem_ctx_long_get(ctx, &v, p, 1, 0); break;
    case 'a': shmem_ctx_long_atomic_inc(ctx, p, 0); break;
    case 'q': shmem_ctx_quiet(ctx); break;
    case 'f': shmem_ctx_fence(ctx); break;
    case 't': shmem_team_destroy(SHMEM_DEVICE_TEAM_SHARED); break;
    case 'd': shmemg_free(p); shmem_space_free(SHMEM_SPACE_GPU, p); break;
    case 'w': shmem_space_free(SHMEM_SPACE_CPU, p); break;
    case 'm': shmemg_free(p + 1); break;
    }
    shmem_finalize();
    return 0;
}
END
"$BUILD/bin/oshcc" -std=c99 -o wrong wrong.c || exit 1
failed=0
# ends CODE CALL TEXT ARGUMENT...
ends()
{
    code=$1 text="$2: .*$3"
    shift 3
    if timeout -k 5 60 "$BUILD/bin/oshrun" -n 1 ./wrong "$@" 2>err ||
        ! grep -q "^sluice: PE 0 .*$text.* \[S-E-$code\]" err; then
        echo "FAIL: $*: $text" >&2
        failed=1
    fi
    cat err >&2
}
kernels='a context made with SHMEM_DEVICE_CTX is for kernels'
for made in 0 1; do
    ends CTX shmem_ctx_long_put "$kernels" p $made
    ends CTX shmem_ctx_long_get "$kernels" g $made
    ends CTX shmem_ctx_long_atomic_inc "$kernels" a $made
    ends CTX shmem_ctx_quiet "$kernels" q $made
    ends CTX shmem_ctx_fence "$kernels" f $made
done
ends TEAM shmem_team_destroy 'a predefined team' t 0
ends FREE shmem_free 'is not the start of a live block' d 0
ends FREE shmem_free 'is not the start of a live block' m 0
# The wrong space does no harm, and is told to who wants to know.
if ! SHMEM_LOG=debug:api timeout -k 5 60 "$BUILD/bin/oshrun" -n 1 ./wrong w 0 \
    2>err || ! grep -q 'shmem_space_free: 0x.* lies in another space' err; then
    echo 'FAIL: a wrong space' >&2
    cat err >&2
    failed=1
fi
exit $failed
