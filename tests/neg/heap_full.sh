#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: an allocation that does not fit gives NULL on every PE, and PE 0
# says once for each place of the program what was asked, what is used, the
# largest free block and the variable; the heap goes on working.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
static int bad;

static void want_null(const void *p, int line)
{
    if (p) {
        printf("line %d: a block\n", line);
        bad = 1;
    }
}
#define NONE(call) want_null(call, __LINE__)

int main(int argc, char **argv)
{
    const char *word = argv[1];
    const size_t mib = 1 << 20;
    char *block, *kept;

    (void)argc;
    shmem_init();
    if (!strcmp(word, "once"))
        for (int i = 0; i < 5; i++)
            NONE(shmem_malloc(8 * mib));
    CASE(twice) {
        for (int i = 0; i < 3; i++)
            NONE(shmem_malloc(8 * mib));
        for (int i = 0; i < 3; i++)
            NONE(shmem_malloc(9 * mib));
    }
    CASE(kinds) {
        NONE(shmem_calloc(1024, 8192));
        NONE(shmem_align(4096, 8 * mib));
        NONE(shmem_malloc_with_hints(8 * mib, SHMEM_MALLOC_ATOMICS_REMOTE));
        NONE(shmem_realloc(shmem_malloc(64), 8 * mib));
    }
    CASE(wraps) {
        NONE(shmem_malloc(SIZE_MAX));
        NONE(shmem_malloc(SIZE_MAX - 8));
        NONE(shmem_calloc(SIZE_MAX / 2, 3));
        NONE(shmem_calloc(SIZE_MAX / 4 + 2, 4));
        NONE(shmem_align(4096, SIZE_MAX - 4000));
    }
    CASE(kept) {
        block = shmem_malloc(mib);
        memset(block, 7, mib);
        shmem_malloc(64);
        NONE(shmem_realloc(block, 8 * mib));
        for (size_t i = 0; i < mib; i++)
            if (block[i] != 7)
                bad = 1;
        shmem_free(block);
    }
    CASE(holes) {
        char *b[16];

        for (int i = 0; i < 15; i++)
            b[i] = shmem_malloc(mib / 4);
        for (int i = 0; i < 15; i += 2)
            shmem_free(b[i]);
        NONE(shmem_malloc(mib));
    }
    CASE(nothing) NONE(shmem_malloc(0)), NONE(shmem_calloc(0, 9));
    CASE(alignment) {
        NONE(shmem_align(3, 64));
        NONE(shmem_align(6, 64));
        NONE(shmem_align(0, 64));
        NONE(shmem_align(24, 64));
    }
    kept = shmem_malloc(mib / 8);
    if (!kept)
        printf("the heap gives nothing any more\n");
    else
        shmem_long_p((long *)(void *)kept, 1, 0);
    shmem_finalize();
    return bad;
}
C
SHMEM_SYMMETRIC_SIZE=4m
export SHMEM_SYMMETRIC_SIZE
size='[0-9.]+ [KMGTP]?i?B'

# full N CASE: ends well; standard error is N lines about a full heap.
full()
{
    for n in 0 3; do
        try $n ./bad "$2"
        ended 0 "$2 on $n"
        [ "$(wc -l <"$err")" -eq "$1" ] ||
            fail "$2 on $n: not $1 lines: $(cat "$err")"
        [ "$(grep -cxE "sluice: PE 0 \\([^ ]+\\): shmem_[a-z_]+: the symmetric heap is full: asked $size, used $size of 4\\.0 MiB, largest free block $size; raise SHMEM_SYMMETRIC_SIZE \\[S-W-HEAP\\]" "$err")" \
            -eq "$1" ] || fail "$2 on $n: $(cat "$err")"
    done
}
full 1 once
grep -q 'shmem_malloc: .* asked 8\.0 MiB, used 0 B of 4\.0 MiB, largest free block 4\.0 MiB;' "$err" ||
    fail "once: $(cat "$err")"
full 2 twice
full 4 kinds
for call in calloc align malloc_with_hints realloc; do
    grep -q ": shmem_$call: " "$err" || fail "kinds: no shmem_$call"
done
full 5 wraps
full 1 kept
full 1 holes
grep -q 'used 1\.8 MiB of 4\.0 MiB, largest free block 512 KiB;' "$err" ||
    fail "holes: $(cat "$err")"
full 0 nothing

try 2 ./bad alignment
ended 0 alignment
[ "$(grep -cxE 'sluice: PE 0 \([^ ]+\): shmem_align: alignment [0-9]+ is not a power of two \[S-W-ARG\]' "$err")" \
    -eq 4 ] && [ "$(wc -l <"$err")" -eq 4 ] || fail "alignment: $(cat "$err")"
finish 'full heaps'
