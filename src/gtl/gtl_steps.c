/* SPDX-License-Identifier: BSD-3-Clause */
/* Several steps of a stream, by the driver's calls for one. */
#include "gtl/gtl_int.h"

int gtl_steps_singly(const struct gtl_steps *t, void *s)
{
    int rc = 0;

    for (size_t i = 0; i < t->n_waits && !rc; i++)
        rc = gtl->wait64(t->waits[i].word, t->waits[i].value, s);
    for (size_t i = 0; i < t->n_puts && !rc; i++) {
        const struct gtl_put *p = &t->puts[i];

        if (p->n)
            rc = gtl->copy(p->to, p->from, p->n, s);
        if (!rc && p->tell.word)
            rc = gtl->write64(p->tell.word, p->tell.value, s);
    }
    return rc;
}
