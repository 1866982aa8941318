/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an end of a channel is found by its handle as long as it is
 * there, and by no other number. */
#include "unit.h"

#include "msg/msg_check.h"
#include "msg/msg_int.h"

enum { MANY = 5000 };

static struct msg_chan chans[MANY];
static uint64_t handles[MANY];

T(an_end_is_found_by_its_handle_alone)
{
    for (int i = 0; i < MANY; i++) {
        handles[i] = msg_handle_new(&chans[i]);
        T_NE(handles[i], 0);
    }
    for (int i = 0; i < MANY; i++)
        T_TRUE(msg_handle_find(handles[i]) == &chans[i]);
    T_TRUE(!msg_handle_find(0));
    T_TRUE(!msg_handle_find(UINT64_MAX));
    T_TRUE(!msg_handle_find((uintptr_t)&chans[0]));
    for (int bit = 0; bit < 64; bit++)
        T_TRUE(msg_handle_find(handles[0] ^ (uint64_t)1 << bit) != &chans[0]);
}

T(a_handle_of_an_end_that_is_gone_finds_nothing)
{
    uint64_t next;

    for (int i = 0; i < MANY; i++)
        msg_handle_release(handles[i]);
    for (int i = 0; i < MANY; i++)
        T_TRUE(!msg_handle_find(handles[i]));
    next = msg_handle_new(&chans[1]);
    T_TRUE(msg_handle_find(next) == &chans[1]);
    for (int i = 0; i < MANY; i++)
        T_TRUE(!msg_handle_find(handles[i]));
    msg_handle_release(next);
}

int main(void)
{
    T_RUN(an_end_is_found_by_its_handle_alone);
    T_RUN(a_handle_of_an_end_that_is_gone_finds_nothing);
    return T_DONE();
}
