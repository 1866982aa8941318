#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: calls that end with _nb are refused as those with _nbi are, by
# what is wrong and under their names, with a handle and without it; so is an
# allocation without a barrier before init and after finalize.
set -u
. "$(dirname "$0")/neg.inc"
need_checks

cases <<'C'
    void *handle = NULL;

    if (!strcmp(word, "good")) {
        shmemx_long_put_nb(a, b, 0, 0, &handle);
        shmemx_long_put_nb(NULL, NULL, 0, 0);
        shmemx_getmem_nb(NULL, NULL, 0, 0, NULL);
        shmem_finalize();
        shmemx_register_gettid(NULL);
        return shmemx_wtime() < 0;
    }
    if (!strcmp(word, "after") || !strcmp(word, "after_malloc")) {
        shmem_finalize();
        if (me)
            return 0;
        if (!strcmp(word, "after"))
            shmemx_putmem_nb(a, b, 8, 0, NULL);
        else
            shmem_malloc_with_hints(8, SHMEMX_MALLOC_NO_BARRIER);
        return 0;
    }
    ALONE
    CASE(pe) shmemx_long_put_nb(a, b, 1, n, NULL);
    CASE(pe_get) shmemx_ctx_get64_nb(SHMEM_CTX_DEFAULT, b, a, 1, -1, &handle);
    CASE(private) shmemx_putmem_nb(b, a, 8, 0);
    CASE(null) shmemx_int_put_nb(NULL, (int *)b, 1, 0);
    CASE(size) shmemx_put128_nb(a, b, SIZE_MAX / 2, 0);
    CASE(ctx) shmemx_ctx_long_put_nb(SHMEM_CTX_INVALID, a, b, 1, 0, NULL);
    CASE(far_end) shmemx_long_get_nb(b, a + 7, 1u << 30, 0);
C
program early <<'C'
int main(int argc, char **argv)
{
    const char *word = argv[1];
    static long a[2], b[2];

    (void)argc;
    if (!strcmp(word, "put"))
        shmemx_long_put_nb(a, b, 1, 0, NULL);
    CASE(malloc) shmem_malloc_with_hints(8, SHMEMX_MALLOC_NO_BARRIER);
    printf("went on\n");
    return 0;
}
C

refused pe 'shmem_long_put_nbi: PE [12] is outside 0\.\.[01] \[S-E-PE\]'
alone pe_get 'shmem_ctx_get64_nbi: PE -1 is outside 0\.\.0 \[S-E-PE\]'
alone private 'shmem_putmem_nbi: .*\[S-E-ADDR\]'
alone null 'shmem_int_put_nbi: .*\[S-E-NULL\]'
alone size 'shmem_put128_nbi: .*\[S-E-SIZE\]'
alone ctx 'shmem_ctx_long_put_nbi: the context is SHMEM_CTX_INVALID \[S-E-CTX\]'
alone far_end 'shmem_long_get_nbi: .*\[S-E-ADDR\]'
alone after 'shmem_putmem_nbi: called after the last shmem_finalize \[S-E-STATE\]'
alone after_malloc 'shmem_malloc_with_hints: called after the last shmem_finalize \[S-E-STATE\]'
works good
for word in put:shmem_long_put_nbi malloc:shmem_malloc_with_hints; do
    try 0 ./early "${word%%:*}"
    ended 1 "$word before init"
    said "$word" "sluice: \\([^ ]+\\): ${word#*:}: called before shmem_init \\[S-E-STATE\\]"
done
finish 'calls that end with _nb'
