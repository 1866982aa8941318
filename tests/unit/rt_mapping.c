/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: PMI's map of PEs to nodes is read whole or refused. */
#include "unit.h"

#include "rt/rt_int.h"

#include <errno.h>

/* The PEs of pe's node, or "refused". */
static const char *local(const char *map, int n_pes, int pe)
{
    static char text[256];
    int n = -1, *pes = NULL, rc;
    size_t at = 0;

    text[0] = '\0';
    rc = rt_mapping_parse(map, n_pes, pe, &n, &pes);
    if (rc) {
        T_EQ(rc, -EINVAL);
        T_EQ(n, -1);
        T_EQ(pes, NULL);
        return "refused";
    }
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d",
                               i ? " " : "", pes[i]);
    free(pes);
    return text;
}

T(blocks_of_nodes_are_counted_through)
{
    T_STR(local("(vector,(0,1,1))", 1, 0), "0");
    T_STR(local("(vector,(0,1,4))", 4, 2), "0 1 2 3");
    T_STR(local("(vector,(0,2,2))", 4, 1), "0 1");
    T_STR(local("(vector,(0,2,2))", 4, 3), "2 3");
    T_STR(local("(vector,(0,2,3),(2,1,2))", 8, 4), "3 4 5");
    T_STR(local("(vector,(0,2,3),(2,1,2))", 8, 7), "6 7");
}

T(ranks_that_go_around_come_to_the_same_nodes)
{
    T_STR(local("(vector,(0,2,1))", 5, 0), "0 2 4");
    T_STR(local("(vector,(0,2,1))", 5, 3), "1 3");
    T_STR(local("(vector,(0,2,1),(0,2,1))", 4, 1), "1 3");
    T_STR(local("(vector,(1,1,1),(0,1,2))", 3, 2), "1 2");
}

T(what_is_no_map_is_refused)
{
    static const char *const bad[] = {
        "", "(", "(vector", "(vector)", "(vector,", "(vector,)",
        "(vector,(0,1,4)", "(vector,(0,1,4),", "(vector,(0,1,4)))",
        "(vector,(0,1))", "(vector,(0,1,4,5))", "(vector,(0,0,4))",
        "(vector,(0,1,0))", "(vector,(-1,1,4))", "(vector,(0,1,4) )",
        "(vector,(0,1,1073741824))", "vector,(0,1,4)", "(list,(0,1,4))",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T_STR(local(bad[i], 4, 0), "refused");
}

int main(void)
{
    T_RUN(blocks_of_nodes_are_counted_through);
    T_RUN(ranks_that_go_around_come_to_the_same_nodes);
    T_RUN(what_is_no_map_is_refused);
    return T_DONE();
}
