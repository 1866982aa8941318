/* SPDX-License-Identifier: BSD-3-Clause */
/* core_query.h - queries to off-node PEs: their activity record, and one
 * symmetric variable of theirs.  No call here waits: a later call finds the
 * reply.  Threads: one at a time, under the lock of core_stall.c. */
#ifndef CORE_CORE_QUERY_H
#define CORE_CORE_QUERY_H

#include "core/core_ctl.h"

enum { CORE_QUERIES = 32 };

/* Written by the transport, in symmetric memory, which it need not register
 * first. */
struct core_reply {
    uint64_t value;
    struct core_activity activity;
};

struct core_query {
    bool open;
    bool busy;                  /* not sent: other operations are under way */
    int pe;
    unsigned unsent;            /* parts of it */
    uint64_t since_ns;
    const void *sym;            /* the variable, or NULL */
    struct core_reply *reply;   /* valid once the query is answered */
};

/* 0, or -ENOMEM, logged. */
int core_query_open(void);
/* Waits at most a second for replies that are still to come. */
void core_query_close(void);
void core_query_start(int pe, const void *sym, uint64_t now);
/* Sends what could not be sent before. */
void core_query_send(uint64_t now);
/* The open query to that PE, or NULL. */
struct core_query *core_query_find(int pe);
bool core_query_answered(const struct core_query *q);
/* The PE that has not replied for so long, or -1. */
int core_query_lost(uint64_t now, uint64_t most_ns);
/* This PE did not run for that long: each query gets the time in addition. */
void core_query_extend(uint64_t ns);

#endif
