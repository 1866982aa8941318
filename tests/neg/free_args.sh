#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what is no live symmetric block is neither freed nor resized:
# foreign pointers, pointers into a block, blocks that were freed before.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
static long a[8];

int main(int argc, char **argv)
{
    const char *word = argv[1];
    char *block, *next, *moved, *ours = malloc(64);
    long stack;

    (void)argc;
    shmem_init();
    block = shmem_malloc(128);
    next = shmem_malloc(128);
    if (!strcmp(word, "good")) {
        shmem_free(block);
        shmem_free(NULL);
        moved = shmem_realloc(NULL, 100);
        if (moved != block)
            printf("the first block was not used again\n");
        if (shmem_realloc(next, 0))
            printf("realloc to 0 gave a block\n");
        shmem_free(moved);
        shmem_finalize();
        free(ours);
        return 0;
    }
    /* One PE of several is enough. */
    if (shmem_my_pe() != shmem_n_pes() - 1)
        shmem_barrier_all();
    CASE(free_stack) shmem_free(&stack);
    CASE(free_static) shmem_free(a);
    CASE(free_malloc) shmem_free(ours);
    CASE(free_inner) shmem_free(block + 16);
    CASE(free_end) shmem_free(next + 128);
    CASE(free_odd) shmem_free(block + 1);
    CASE(free_wild) shmem_free((void *)(uintptr_t)0x10);
    CASE(realloc_stack) shmem_realloc(&stack, 64);
    CASE(realloc_malloc) shmem_realloc(ours, 64);
    CASE(realloc_inner) shmem_realloc(block + 64, 64);
    CASE(realloc_inner_0) shmem_realloc(block + 64, 0);
    CASE(old_name) shfree(ours);
    printf("went on\n");
    return 0;
}
C
program twice <<'C'
int main(int argc, char **argv)
{
    const char *word = argv[1];
    char *block, *moved;

    (void)argc;
    shmem_init();
    block = shmem_malloc(128);
    moved = shmem_malloc(128);
    shmem_free(block);
    if (!strcmp(word, "free"))
        shmem_free(block);
    CASE(realloc) shmem_realloc(block, 64);
    CASE(moved) {
        block = moved;
        shmem_malloc(4096);     /* behind it, so that it must move */
        shmem_realloc(block, 1 << 20);
        shmem_free(block);
    }
    CASE(next_job) {
        shmem_finalize();
        shmem_init();
        shmem_free(moved);
    }
    printf("went on\n");
    return 0;
}
C
live='0x[0-9a-f]+ is not the start of a live block: freed twice, or a pointer into a block \[S-E-FREE\]'
foreign='0x[0-9a-f]+ is not in the symmetric heap \[S-E-FREE\]'

alone free_stack "shmem_free: $foreign"
alone free_static "shmem_free: $foreign"
alone free_malloc "shmem_free: $foreign"
alone free_inner "shmem_free: $live"
alone free_end "shmem_free: $live"
alone free_odd "shmem_free: $live"
alone free_wild "shmem_free: $foreign"
alone realloc_stack "shmem_realloc: $foreign"
alone realloc_malloc "shmem_realloc: $foreign"
alone realloc_inner "shmem_realloc: $live"
alone realloc_inner_0 "shmem_(realloc|free): $live"
alone old_name "sh(mem_)?free: $foreign"
refused free_malloc "shmem_free: $foreign"
refused realloc_inner "shmem_realloc: $live"
bad=./twice
alone free "shmem_free: $live"
alone realloc "shmem_realloc: $live"
alone moved "shmem_free: $live"
alone next_job "shmem_free: ($live|$foreign)"

# All PEs at once: one line for all.
try 3 ./twice free
ended 1 'three PEs'
said 'three PEs' "sluice: PE [0-2] \\([^ ]+\\): shmem_free: $live$others"
bad=./bad
works good
finish 'pointers that are no block'
