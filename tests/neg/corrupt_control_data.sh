#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a put over what the library has in symmetric memory for active
# sets and for new teams ends the job with a line that names the cause, with no
# signal and no wait for ever; so do PEs that disagree about the new team.
set -u
. "$(dirname "$0")/neg.inc"

program bad <<'C'
/* As src/coll/coll_active_set.c has it, in the control block of src/core/core_ctl.h. */
enum { SETS = 32 / 8, RESERVED = 262144 / 8, CONTROL = 4096 / 8 };
struct entry {
    uint64_t next;
    int32_t start, log_stride, size;
};

static long sync_array[SHMEM_SYNC_SIZE];
static int me;

/* Of the memory in which that lies: the first PE's. */
static char *start_of(const void *p)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long from = 0, to;
    char line[512];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 &&
            (unsigned long)p >= from && (unsigned long)p < to)
            break;
    if (f)
        fclose(f);
    return (char *)from;
}

/* PE 0 has two sets, and PE 2 waits for a third one, which never comes. */
static void sets(const char *word, char *block, size_t size)
{
    char *base = start_of(block), *end;
    uint64_t first, second;
    struct entry *e;

    if (me < 2)
        shmem_sync(0, 0, 2, sync_array);
    if (me == 0)
        shmem_sync(0, 0, 1, sync_array);
    if (me == 0) {
        first = ((uint64_t *)base)[SETS];
        second = ((struct entry *)(base + first))->next;
        e = (struct entry *)(base + second);
        if (!second || e->next || e->size != 2) {
            fprintf(stderr, "no chain was found\n");
            shmem_global_exit(3);
        }
        if (!strcmp(word, "circle"))
            e->next = first;
        else if (!strcmp(word, "self"))
            e->next = second;
        else if (!strcmp(word, "out"))
            e->next = 0x4141414141414140;
        else {                  /* at the end of the heap */
            end = (char *)((uintptr_t)(block + size - 64) / 64 * 64);
            *(struct entry *)end = (struct entry){ 0, 0, 1, 2 };
            e->next = (uint64_t)(end - base);
        }
    }
    shmem_barrier_all();
    if (me == 2)
        shmem_sync(0, 1, 2, sync_array);
}

/* PE 0 comes first to the split; what it publishes there is overwritten. */
static void words(char *block)
{
    static uint64_t was[RESERVED];
    volatile uint64_t *base;
    shmem_team_t t;
    int found = 0;

    base = (uint64_t *)start_of(shmem_ptr(block, 0));
    if (me == 1)
        for (int i = CONTROL; i < RESERVED; i++)
            was[i] = base[i];
    shmem_barrier_all();
    if (me == 1) {
        for (int i = CONTROL; i < RESERVED; i++)
            was[i] = base[i];
        shmem_putmem(block, "go", 3, 0);
        /* The number of the call, and below it an offset in units of 64 bytes,
         * behind these words and in the heap: other words are not both. */
        while (!found)
            for (int i = CONTROL; i < RESERVED; i++)
                if (base[i] != was[i] && base[i] >> 32 &&
                    base[i] >> 32 < 100 &&
                    (base[i] & UINT32_MAX) >= RESERVED / 8 &&
                    (base[i] & UINT32_MAX) < (8 << 20) / 64) {
                    base[i] = 0x4141414141;
                    found++;
                }
    } else {
        while (__atomic_load_n(block, __ATOMIC_ACQUIRE) != 'g')
            ;
    }
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &t);
}

int main(int argc, char **argv)
{
    const char *word = argv[1];
    size_t size = (4 << 20) - 1024;
    shmem_team_t t;
    char *block;

    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    block = shmem_malloc(size);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_array[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (!block)
        shmem_global_exit(3);
    if (!strcmp(word, "words"))
        words(block);
    else if (!strcmp(word, "differ"))
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me ? 1 : 2, NULL, 0,
                                 &t);
    else
        sets(word, block, size);
    shmem_barrier_all();
    printf("went on\n");
    return 0;
}
C
export SHMEM_SYMMETRIC_SIZE=4m SHMEM_TIMEOUT=4

overwritten="the library's words there were overwritten, as by a put past the end of its block \\[S-E-CORRUPT\\]"
# set_says WORD REGEX
set_says()
{
    try 3 ./bad "$1"
    ended 1 "$1"
    said "$1" "sluice: PE 2 \\([^ ]+\\): active set: the chain of active sets of PE 0 $2: $overwritten"
}
set_says circle 'leads back into itself'
set_says self 'leads back into itself'
set_says out 'leads out of its heap'
set_says end 'has an entry where there is no room for it'
try 2 ./bad words
ended 1 words
all_said words "sluice: PE [01] \\([^ ]+\\): shmem_team_split: what PE 0 publishes of its words for the new team is not in its heap: $overwritten"
try 2 ./bad differ
ended 1 differ
said differ 'sluice: PE 0 \([^ ]+\): shmem_team_split: PE 1 is of the new team by the arguments of this PE, but not by its own: all PEs of the parent team give the same \[S-E-ARG\]'
finish 'overwritten words for active sets and teams'
