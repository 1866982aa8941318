/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_amo.h - an atomic of the driver table, on a word that the device reaches,
 * and what the processor does where it executes one. */
#ifndef GTL_GTL_AMO_H
#define GTL_GTL_AMO_H

#include "base/amo.h"

struct gtl_amo {
    enum amo_op op;
    int size;                   /* 4 or 8 */
    void *word;
    uint64_t value, cond;       /* in the low bytes */
    void *result;               /* gets the old value, in memory that the
                                 * device reaches; NULL: not wanted */
};

/* Done by the processor, on threads of the software device and where the
 * device's own atomic would not be one for the processor: the old value, in the
 * low bytes; a->result stays as it is. */
force_inline uint64_t gtl_amo_apply(const struct gtl_amo *a)
{
    return amo_apply(a->word, a->op, a->size, a->value, a->cond);
}

#endif
