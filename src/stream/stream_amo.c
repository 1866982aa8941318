/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/stream_int.h"

_Static_assert((int)GTL_FETCH == (int)XPORT_FETCH &&
               (int)GTL_CSWAP == (int)XPORT_CSWAP &&
               (int)GTL_XOR == (int)XPORT_XOR, "one list of operations");

int stream_amo(const struct stream_where *w, const struct stream_amo *a,
               int pe)
{
    struct stream_op *op;
    struct gtl_amo g = {
        .op = (enum gtl_word_op)a->op, .size = (int)a->size,
        .value = a->value, .cond = a->cond, .result = a->fetch
    };
    uintptr_t to;
    int rc, at;

    rc = stream_need_aligned(w, a->sym, a->size);
    if (!rc)
        rc = stream_need_symmetric(w, a->sym, a->size, pe, &at);
    if (!rc && a->fetches)
        rc = stream_need_local(w, a->fetch, a->size);
    if (rc)
        return rc;
    to = stream_reach_amo(at, a->sym, a->size);
    if (likely(to) && (!a->fetch || stream_reaches_local(a->fetch, a->size))) {
        g.word = (void *)to;
        return stream_told(w, gtl->amo(&g, w->stream));
    }
    rc = stream_arm_begin(w, &op);
    if (rc)
        return rc;
    op->kind = STREAM_AMO;
    op->pe = at;
    op->amo = *a;
    op->waits = a->fetches;
    return stream_arm(w, op);
}
