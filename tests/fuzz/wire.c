/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between oshrun and its PEs: the bytes are a packet, and a text
 * of variables, one on a line, that describe its job to a PE. */
#include "fuzz.h"

#include "rt/rt_wire.h"

static void message(const uint8_t *data, size_t size)
{
    struct rt_wire_packet copy;
    struct rt_wire m;

    if (rt_wire_parse(data, size, &m))
        return;
    FUZZ_CHECK(m.type > 0 && m.type < RT_WIRE_TYPES && m.pe >= 0);
    FUZZ_CHECK(strlen(m.key) <= RT_WIRE_KEY);
    FUZZ_CHECK(m.value_size <= RT_WIRE_VALUE);
    FUZZ_CHECK((const uint8_t *)m.value + m.value_size == data + size);
    FUZZ_CHECK(rt_wire_format(&m, &copy) == (int)size);
    FUZZ_CHECK(!memcmp(&copy, data, size));
}

static void invitation(char *text)
{
    struct rt_invitation in;
    char *line[4] = { NULL };

    for (int i = 0; i < 4 && text; i++)
        line[i] = strsep(&text, "\n");
    if (rt_invitation_parse(line[0], line[1], line[2], line[3], &in))
        return;
    FUZZ_CHECK(in.n_pes > 0 && in.pe >= in.first && in.pe <= in.last);
    FUZZ_CHECK(in.first >= 0 && in.last < in.n_pes && in.fd > 2);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    message((const uint8_t *)text, size);
    invitation(text);
    free(text);
}
