/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an end of a channel is found by its handle as long as it is
 * there, and by no other number. */
#include "unit.h"

#include "stream/stream_end.h"

enum { MANY = 5000 };

static struct chan chans[MANY];
static uint64_t handles[MANY];

T(an_end_is_found_by_its_handle_alone)
{
    for (int i = 0; i < MANY; i++) {
        handles[i] = stream_end_new(&chans[i]);
        T_NE(handles[i], 0);
    }
    for (int i = 0; i < MANY; i++)
        T_TRUE(stream_end_find(handles[i]) == &chans[i]);
    T_TRUE(!stream_end_find(0));
    T_TRUE(!stream_end_find(UINT64_MAX));
    T_TRUE(!stream_end_find((uintptr_t)&chans[0]));
    for (int bit = 0; bit < 64; bit++)
        T_TRUE(stream_end_find(handles[0] ^ (uint64_t)1 << bit) != &chans[0]);
}

T(a_handle_of_an_end_that_is_gone_finds_nothing)
{
    uint64_t next;

    for (int i = 0; i < MANY; i++)
        stream_end_drop(handles[i]);
    for (int i = 0; i < MANY; i++)
        T_TRUE(!stream_end_find(handles[i]));
    next = stream_end_new(&chans[1]);
    T_TRUE(stream_end_find(next) == &chans[1]);
    for (int i = 0; i < MANY; i++)
        T_TRUE(!stream_end_find(handles[i]));
    stream_end_drop(next);
}

int main(void)
{
    T_RUN(an_end_is_found_by_its_handle_alone);
    T_RUN(a_handle_of_an_end_that_is_gone_finds_nothing);
    return T_DONE();
}
