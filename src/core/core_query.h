/* SPDX-License-Identifier: BSD-3-Clause */
/* core_query.h - questions to far PEs: what they do, and a word of theirs.
 * Nothing here waits: who looks again later finds the answer.  One thread at a
 * time: under the lock of core_stall.c. */
#ifndef CORE_CORE_QUERY_H
#define CORE_CORE_QUERY_H

#include "core/core_ctl.h"

enum { CORE_QUERIES = 32 };

/* The transport stores it: in symmetric memory, which it need not register
 * first. */
struct core_reply {
    uint64_t word;
    struct core_activity doing;
};

struct core_query {
    bool open, busy;            /* busy: by what else is under way here */
    int pe;
    unsigned unsent;            /* parts of it */
    uint64_t since_ns;
    const void *word;
    struct core_reply *answer; /* once it is answered */
};

/* 0, or -ENOMEM, logged. */
int core_query_open(void);
/* Waits a second for what is still to come. */
void core_query_close(void);
/* word: a symmetric one that is wanted, too, or NULL. */
void core_query(int pe, const void *word, uint64_t now);
/* What could not be sent yet. */
void core_query_send(uint64_t now);
/* The open question to that PE, or NULL. */
struct core_query *core_query_find(int pe);
bool core_query_answered(const struct core_query *a);
/* Who has not answered for so long, or -1. */
int core_query_lost(uint64_t now, uint64_t most_ns);
/* This PE did not run for so long. */
void core_query_extend(uint64_t ns);

#endif
