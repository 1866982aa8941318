/* SPDX-License-Identifier: BSD-3-Clause */
/* The registered calls of the layer above: see stream_upper.h. */
#include "stream/stream_upper.h"

static int open_nothing(void)
{
    return 0;
}

static void close_nothing(bool opened)
{
    (void)opened;
}

static void progress_nothing(const char *call)
{
    (void)call;
}

static bool poll_nothing(void)
{
    return false;
}

static bool describe_nothing(const void *word, char *text, size_t size)
{
    (void)word, (void)text, (void)size;
    return false;
}

static const struct stream_upper_ops none = {
    .open = open_nothing, .close = close_nothing,
    .progress = progress_nothing, .poll = poll_nothing,
    .describe_counter = describe_nothing
};
static const struct stream_upper_ops *upper = &none;

void stream_register_upper(const struct stream_upper_ops *ops)
{
    upper = ops;
}

const struct stream_upper_ops *stream_upper(void)
{
    return upper;
}
