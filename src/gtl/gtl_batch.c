/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_batch.c - enqueues a batch of waits, copies and stores one by one, for
 * drivers without a call that takes several. Drivers call it in place of
 * their batch slot, or when their own call cannot express a batch. */
#include "gtl/gtl_int.h"

int gtl_batch_one_by_one(const struct gtl_batch *t, void *s)
{
    int rc = 0;

    for (size_t i = 0; i < t->n_waits && !rc; i++)
        rc = gtl->wait64(t->waits[i].word, t->waits[i].value, s);
    /* All copies first: a peer whose flag is not set overwrites nothing that a
     * refused copy would read when it is tried again. */
    for (size_t i = 0; i < t->n_puts && !rc; i++)
        if (t->puts[i].n)
            rc = gtl->copy(t->puts[i].to, t->puts[i].from, t->puts[i].n, s);
    for (size_t i = 0; i < t->n_puts && !rc; i++)
        if (t->puts[i].flag.word)
            rc = gtl->write64(t->puts[i].flag.word, t->puts[i].flag.value, s);
    return rc;
}
