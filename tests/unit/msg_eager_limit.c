/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: SHMEM_ST_EAGER is bytes, or those for this node and for others,
 * and nothing more. */
#include "unit.h"

#include "base/env.h"
#include "msg/msg.h"

#include <errno.h>

static int reads(const char *text)
{
    env.ST_EAGER = text;
    return msg_env_check();
}

#define GIVES(text, n, f)               \
    do {                                \
        T_EQ(reads(text), 0);           \
        T_EQ(msg_eager_limit.on_node, n);       \
        T_EQ(msg_eager_limit.off_node, f);        \
    } while (0)

T(one_number_or_two)
{
    GIVES("", MSG_EAGER_ON_NODE, MSG_EAGER_OFF_NODE);
    GIVES("0", 0, 0);
    GIVES("8k", 8192, 8192);
    GIVES("4k,16K", 4096, 16384);
    GIVES("0,100", 0, 100);
    GIVES("1g,1.5k", 1 << 30, 1536);
}

T(all_else_is_refused_in_a_line)
{
    static const char *const bad[] = {
        "8kfoo", "8kb", "4k,8kb", "4kb,8k", "8k ", " 8k", ",", "8k,", ",8k",
        "1,2,3", "-1", "x", "8x", "11111111111111111111111111111111111111"
    };
    const char *said;
    int rc;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit_capture();
        rc = reads(bad[i]);
        said = unit_captured();
        T_EQ(rc, -EINVAL);
        T_EQ(unit_lines(said), 1);
        T_HAS(said, bad[i]);
        T_HAS(said, "[S-E-ENV]");
    }
}

int main(void)
{
    T_RUN(one_number_or_two);
    T_RUN(all_else_is_refused_in_a_line);
    return T_DONE();
}
