/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a string of JSON is valid UTF-8 whatever bytes it is made of,
 * and keeps all that are. */
#include "unit.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

static void gives(const char *text, size_t most, const char *expect)
{
    char *got = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&got, &n);

    T_TRUE(to != NULL);
    json_string(to, text, most);
    T_EQ(fclose(to), 0);
    T_STR(got, expect);
    free(got);
}

T(text_stays_as_it_is)
{
    gives("", SIZE_MAX, "\"\"");
    gives("plain", SIZE_MAX, "\"plain\"");
    gives("plain", 3, "\"pla\"");
    gives("\"\\\n\x7f", SIZE_MAX, "\"\\\"\\\\\\u000a\\u007f\"");
    gives("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf", SIZE_MAX,
          "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\"");
    gives("\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80",
          SIZE_MAX,
          "\"\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\"");
}

T(bytes_that_are_no_text_are_replaced)
{
    gives("a\xe4z", SIZE_MAX, "\"a\\ufffdz\"");               /* latin 1 */
    gives("\x80\xff", SIZE_MAX, "\"\\ufffd\\ufffd\"");
    gives("\xc0\xaf", SIZE_MAX, "\"\\ufffd\\ufffd\"");        /* too long */
    gives("\xe0\x9f\xbf", SIZE_MAX, "\"\\ufffd\\ufffd\\ufffd\"");
    gives("\xf0\x8f\xbf\xbf", SIZE_MAX,
          "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    gives("\xed\xa0\x80", SIZE_MAX, "\"\\ufffd\\ufffd\\ufffd\"");
    gives("\xf4\x90\x80\x80", SIZE_MAX,
          "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    gives("\xe2\x82z", SIZE_MAX, "\"\\ufffd\\ufffdz\"");
    gives("\xe2\x82\xac", 2, "\"\\ufffd\\ufffd\"");           /* cut */
    gives("\xc3", SIZE_MAX, "\"\\ufffd\"");
}

int main(void)
{
    T_RUN(text_stays_as_it_is);
    T_RUN(bytes_that_are_no_text_are_replaced);
    return T_DONE();
}
