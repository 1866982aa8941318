/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands in memory that the processor must not touch are brought here in
 * pieces.  Where it may, they are operands like any other. */
#include "coll/coll_int.h"

enum { PIECE = 8192 };

/* Where an operand of that many bytes can be read. */
static const void *bring(char *room, const void *from, size_t bytes)
{
    if (!core_is_foreign(from))
        return from;
    core_device_copy(room, from, bytes);
    return room;
}

void coll_apply_foreign(coll_op *op, void *out, const void *a, const void *b,
                        size_t n, size_t size)
{
    _Alignas(64) char in_a[PIECE], in_b[PIECE], done[PIECE];
    bool away = n && core_is_foreign(out);
    size_t step = PIECE / size, len, at;

    for (size_t i = 0; i < n; i += len) {
        len = n - i < step ? n - i : step;
        at = i * size;
        op(away ? done : (char *)out + at,
           bring(in_a, (const char *)a + at, len * size),
           bring(in_b, (const char *)b + at, len * size), len);
        if (away)
            core_device_copy((char *)out + at, done, len * size);
    }
}
