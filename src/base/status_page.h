/* SPDX-License-Identifier: BSD-3-Clause */
/* status_page.h - what a PE does, in memory that another process of the same
 * user maps: shmem_top finds it as the descriptor of a memfd of that name.
 *
 * A reader adds one to `wanted` and wakes the PE's diag thread
 * (report_request.h), which fills the page and stores the number that it answers.
 * No other process writes, and a page without readers costs nothing. */
#ifndef BASE_STATUS_PAGE_H
#define BASE_STATUS_PAGE_H

#include "base/line.h"
#include "base/profile.h"

#define STATUS_NAME "sluice-status"
#define STATUS_MAGIC "Sluice status 1"

enum { STATUS_ROWS = 128, STATUS_AWAITED = 8, STATUS_JOB = 128 };
struct status_page {
    char magic[16];
    uint32_t size;              /* of this structure, in bytes */
    uint32_t pid, pe, n_pes;
    char job[STATUS_JOB];       /* the launcher's name of it, or "" */
    uint64_t wanted;            /* atomic: requests so far, of all readers */
    uint64_t answered;          /* atomic: requests that the rest answers */
    uint64_t writes;            /* atomic: odd while the rest is written */
    uint64_t at_ns;             /* CLOCK_MONOTONIC, of the answer */
    /* PEs that its waits are for, as far as they are known: the first ones. */
    uint32_t n_awaited;
    int32_t awaited[STATUS_AWAITED];
    char report[LINE_SIZE];      /* the hang report but for the memory */
    char memory[LINE_SIZE];
    /* Calls since some time before the first answer: readers compare two
     * answers.  One call has a row for each kind of PE; sites are empty. */
    uint64_t uncounted;
    uint32_t n_rows;
    struct profile_row rows[STATUS_ROWS];
};

#endif
