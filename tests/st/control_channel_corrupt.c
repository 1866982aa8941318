/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts over the library's words for messages between streams, run
 * by control_channel_corrupt.sh: a note that names no end, or no memory, ends
 * the job with a line, and no PE with a signal.  The argument says what is
 * wrong in the note.
 * PEs: 2
 * Args: nothing */
#include "st.h"

#include <inttypes.h>
#include <shmemx_part.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As src/msg/msg_ctrl.h has it; turn follows the note. */
struct note {
    int32_t kind, from, tag;
    uint32_t number, flags;
    int32_t error;
    uint64_t bytes, mine, yours, words;
    int32_t seg, slots;
    uint64_t at, step, start_flag, team;
    uint64_t turn;
};
enum { TAG = 0x1a17c0de, APART = 128, SEND = 0, ANSWER = 1, GONE = 2,
       HOW_SHIFT = 8, EAGER = 1, TRIGGERED = 3 };

static char buffer[64];

/* The last note of that kind which came here, or NULL. */
static struct note *find_note(char *from, const char *to, int kind)
{
    struct note *found = NULL;

    for (char *p = from; p < to; p += 64) {
        struct note *n = (struct note *)p;

        if (n->tag == TAG && n->kind == kind && n->from == next && n->turn)
            found = n;
    }
    return found;
}

/* Of the memory in which that lies. */
static char *start_of(const void *p)
{
    FILE *f = fopen("/proc/self/maps", "r");
    uintptr_t from = 0, to;
    char line[512];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 &&
            (uintptr_t)p >= from && (uintptr_t)p < to)
            break;
    if (f)
        fclose(f);
    return (char *)from;
}

static void spoil(struct note *n, const char *what)
{
    if (!strcmp(what, "yours"))
        n->yours = 0x4141414141414141;
    else if (!strcmp(what, "gone")) {
        n->kind = GONE;
        n->yours = 0xdead0000;
    } else if (!strcmp(what, "words"))
        n->words = UINT64_MAX / 2 / 8 * 8;
    else if (!strcmp(what, "segment"))
        n->seg = 1000000;
    else if (!strcmp(what, "from"))
        n->from = 1000000;
    else if (!strcmp(what, "kind"))
        n->kind = 77;
}

/* PE 1 answers the send of PE 0 itself, as no receive of its could. */
static void answer(char *block, const char *what)
{
    struct note *asks = NULL, forged;
    char *base = start_of(block);

    while (!asks) {
        usleep(100);            /* the compiler knows nothing of other PEs */
        asks = find_note(base, block, SEND);
    }
    forged = (struct note){
        .kind = ANSWER, .from = 1, .tag = TAG, .number = asks->number,
        .mine = asks->mine, .yours = asks->mine, .words = asks->words,
        .bytes = sizeof buffer, .turn = 1
    };
    if (!strcmp(what, "trigger"))
        forged.flags = TRIGGERED << HOW_SHIFT;
    else if (!strcmp(what, "whole"))
        forged.flags = EAGER << HOW_SHIFT;
    else if (!strcmp(what, "early"))
        forged.kind = GONE;
    /* Each is the first of its ring, at the same address. */
    shmem_putmem(asks, &forged, sizeof forged, 0);
    shmem_quiet();
}

/* Where no receive is made, and the answer is a forged one. */
static int one_sided(char *block, const char *what)
{
    shmemx_req_t r;

    if (me == 0) {
        T_EQ(strcmp(what, "whole")
                 ? shmemx_send_init(buffer, sizeof buffer, 1, TAG, &r)
                 : shmemx_psend_init(buffer, 4, 16, 1, TAG, &r), 0);
        T_EQ(shmemx_match(r), 0);
    } else {
        answer(block, what);
    }
    shmem_barrier_all();
    fprintf(stderr, "nothing was noticed\n");
    return 4;
}

/* So many notes were sent as were not. */
static int spoil_ring(uint64_t *tail)
{
    shmemx_req_t r;

    shmem_uint64_atomic_add(tail, 100000, 1);
    T_EQ(shmemx_send_init(buffer, 8, 1, TAG + 1, &r), 0);
    T_EQ(shmemx_match(r), 0);
    fprintf(stderr, "nothing was noticed\n");
    return 4;
}

int main(int argc, char **argv)
{
    struct note *old, forged;
    shmemx_req_t r;
    char *block, *base;

    st_begin();
    block = shmem_malloc(64);
    if (argc < 2 || n_pes != 2 || !block)
        return 2;
    if (strstr("ready trigger early whole", argv[1]))
        return one_sided(block, argv[1]);
    T_EQ(me == 0 ? shmemx_send_init(buffer, sizeof buffer, 1, TAG, &r)
                 : shmemx_recv_init(buffer, sizeof buffer, 0, TAG, &r), 0);
    T_EQ(shmemx_match(r), 0);
    shmem_barrier_all();
    if (!strcmp(argv[1], "nothing")) {
        T_EQ(shmemx_req_free(&r), 0);
        shmem_free(block);
        return st_end();
    }
    if (me == 0) {
        base = start_of(block);
        old = base ? find_note(base, block, ANSWER) : NULL;
        if (!old) {
            fprintf(stderr, "no note of the answer was found\n");
            return 3;
        }
        if (!strcmp(argv[1], "ring"))
            return spoil_ring((uint64_t *)((char *)old - APART));
        forged = *old;
        forged.turn++;
        spoil(&forged, argv[1]);
        shmem_putmem((char *)old + APART, &forged, sizeof forged, 0);
        shmem_quiet();
        /* Whatever looks for mail finds it. */
        T_EQ(shmemx_send_init(buffer, 8, 1, TAG + 1, &r), 0);
    }
    shmem_barrier_all();
    fprintf(stderr, "nothing was noticed\n");
    return 4;
}
