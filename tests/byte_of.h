/* SPDX-License-Identifier: BSD-3-Clause */
/* byte_of.h - what the buffers of tests are filled with. */
#ifndef TESTS_BYTE_OF_H
#define TESTS_BYTE_OF_H

#include <stddef.h>

/* Bytes that only this PE has in this round at this offset. */
static inline unsigned char byte_of(int pe, unsigned round, size_t at)
{
    return (unsigned char)((unsigned)pe * 89u + round * 31u +
                           (unsigned)(at * 2654435761u >> 7) + (unsigned)at);
}

#endif
