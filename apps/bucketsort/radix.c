/* SPDX-License-Identifier: BSD-3-Clause */
#include "radix.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "team.h"

enum {
    LINE = 64,                  /* bytes of a cache line */
    RADIX_BITS = 8,             /* more buckets than that miss the TLB */
    RADIX = 1 << RADIX_BITS,
    LEAF_KEYS = 1 << 16,        /* with their copy they stay in the L2 cache */
    LEAF_DIGIT = 10,            /* bits of one pass over a leaf */
    LEAF_EXTRA = 3,             /* bits sorted beyond log2 of the number */
    LEAF_SMALL = 40,            /* keys that insertion alone sorts best */
    LEAF_MOVES = 8              /* moves per key that insertion may take */
};

/* A whole line past the caches: the sort reads it again much later. */
static inline void line_store(void *to, const void *line)
{
#ifdef __SSE2__
    const __m128i *from = line;
    __m128i *at = to;

    _mm_stream_si128(at + 0, from[0]);
    _mm_stream_si128(at + 1, from[1]);
    _mm_stream_si128(at + 2, from[2]);
    _mm_stream_si128(at + 3, from[3]);
#else
    memcpy(to, line, LINE);
#endif
}

/* Orders those stores before later notifications of other threads. */
static inline void line_fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#define KEY uint32_t
#define K(name) name##_32
#include "radix.inc"
#undef KEY
#undef K

#define KEY uint64_t
#define K(name) name##_64
#include "radix.inc"
#undef KEY
#undef K

int radix_sort(int width, void *keys, void *tmp, size_t n, int threads)
{
    if (width == 4)
        return sort_32(keys, tmp, n, threads);
    return sort_64(keys, tmp, n, threads);
}
