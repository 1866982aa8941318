/* SPDX-License-Identifier: BSD-3-Clause */
/* trig.h - what the tests of triggers share: the trigger, and what kernels get of
 * it. */
#ifndef TESTS_TRIG_TRIG_H
#define TESTS_TRIG_TRIG_H

#include "../kernel/kernel.h"
#include <shmemx_trig.h>

static shmemx_trig_t trig;
static shmemx_trig_dev_t hits;

static uint64_t done(int tag)
{
    uint64_t n = 99;

    T_EQ(shmemx_trig_test(trig, tag, &n), 0);
    return n;
}

#endif
