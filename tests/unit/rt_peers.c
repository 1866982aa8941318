/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the launcher's list of a node's PEs is read whole or refused. */
#include "unit.h"

#include "rt/rt_int.h"

#include <errno.h>

/* "n: a b c", or "refused". */
static const char *parsed(const char *list, int n_pes)
{
    static char text[256];
    int n = -1, *pes = NULL, rc;
    size_t at;

    rc = rt_peers_parse(list, n_pes, &n, &pes);
    if (rc) {
        T_EQ(rc, -EINVAL);
        T_EQ(n, -1);
        T_EQ(pes, NULL);
        return "refused";
    }
    at = (size_t)snprintf(text, sizeof text, "%d:", n);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " %d", pes[i]);
    free(pes);
    return text;
}

T(lists_are_put_in_order)
{
    T_STR(parsed("0", 1), "1: 0");
    T_STR(parsed("0,1,2", 3), "3: 0 1 2");
    T_STR(parsed("7,3,12,0", 13), "4: 0 3 7 12");
    T_STR(parsed("2147483646", 2147483647), "1: 2147483646");
    T_STR(parsed("000000000000000000000001", 2), "1: 1");
}

T(what_is_no_list_is_refused)
{
    static const char *const bad[] = {
        "", ",", "0,", ",0", "0,,1", "0 ", " 0", "0-3", "a", "0x1", "-1", "+1",
        "4", "0,4", "1,1", "3,0,3", "99999999999999999999999999", "0\n", "1.0",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T_STR(parsed(bad[i], 4), "refused");
}

int main(void)
{
    T_RUN(lists_are_put_in_order);
    T_RUN(what_is_no_list_is_refused);
    return T_DONE();
}
